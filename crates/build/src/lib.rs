//! Compiles D provider definitions into Rust probe functions.
//!
//! A package with a provider file of its own has a build script of one line:
//!
//! ```no_run
//! dyntrace_build::compile("my.d");
//! ```
//!
//! and includes the functions by `dyntrace_probes::include_provider!("my")`. A package that only uses probes of others
//! calls [`link_for_tracers`] instead.
//!
//! [`parse`] turns D text into the [`model`], [`generate`] turns the model into Rust, [`page`](page()) into documentation. The parser does
//! not depend on Rust code, nor the generator on D text.
//!
//! # The language
//!
//! ```d
//! provider shop {
//!     /**
//!      * A customer paid.
//!      *
//!      * @param name the customer's name
//!      * @param cents the paid amount
//!      */
//!     probe order__paid(char *name, uint32_t cents);
//! };
//! ```
//!
//! A file has one provider with its probes, `#pragma D` lines and comments. Lines `#pragma D attributes` say how stable names and
//! arguments are; DTrace shows that on systems where programs describe their own probes. Arguments are integers (`int`, `unsigned long`,
//! `uint32_t` and the like) and strings (`char *`), at most twelve, with or without a name. `/** ... */` before a probe is its
//! documentation. In Rust the part of the name before the first `__` is a module and the rest the function, here
//! `order::paid`.

mod definition;
mod doc;
mod error;
mod generate;
mod lexer;
mod linker;
mod markdown;
pub mod model;
mod names;
mod page;
mod types;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process;

pub use definition::parse;
pub use error::{Error, Problem};
pub use generate::generate;
pub use page::page;

/// Compiles the provider definition at `path` into `$OUT_DIR`, for `dyntrace_probes::include_provider!`.
///
/// For build scripts only, as it writes instructions for Cargo to standard output. Relative paths start at the package's
/// folder. It includes the work of [`link_for_tracers`].
///
/// An error in the definition ends the build script with status 1: the build fails and prints file, line, column and the
/// expected token. [`try_compile`] returns the error instead.
///
/// # Panics
///
/// Outside of a build script, where `OUT_DIR` is not set.
pub fn compile(path: impl AsRef<Path>) {
    let path = path.as_ref();
    println!("cargo::rerun-if-changed={}", path.display());
    link_for_tracers();
    let out_dir = env::var_os("OUT_DIR").expect("OUT_DIR is not set: dyntrace_build::compile is for build scripts");
    if let Err(error) = try_compile(path, out_dir) {
        println!("cargo::error={error}");
        process::exit(1);
    }
}

/// Compiles the provider definition at `path` into the file of the same stem, with `.rs`, in `out_dir`. Returns that
/// file's path.
///
/// # Errors
///
/// If the definition cannot be read or has an error, or the result cannot be written.
pub fn try_compile(path: impl AsRef<Path>, out_dir: impl AsRef<Path>) -> Result<PathBuf, Error> {
    let path = path.as_ref();
    let bytes = fs::read(path).map_err(|error| Error::Read { path: path.to_owned(), error })?;
    let file_name = path.display().to_string();
    let text = str::from_utf8(&bytes).map_err(|error| Error::not_utf8(&bytes, error.valid_up_to(), &file_name))?;
    let provider = parse(text, &file_name)?;

    let out = out_dir.as_ref().join(path.file_name().unwrap_or_default()).with_extension("rs");
    fs::write(&out, generate(&provider)).map_err(|error| Error::Write { path: out.clone(), error })?;
    Ok(out)
}

/// Makes Cargo link this package's programs so that every tracer finds their probes. For build scripts only.
///
/// perf and SystemTap use the file offset of a site as its address. rust-lld, the default linker of x86_64 Linux, lays out
/// text so that the two differ: then perf records nothing and SystemTap refuses. With `-z separate-code` they are equal. Each
/// package whose programs contain probes needs this, as Cargo does not pass link arguments on to dependent packages. gold does not know
/// the option and lays out text so without it. For gold, and outside Linux, this does nothing.
pub fn link_for_tracers() {
    if env::var_os("CARGO_CFG_TARGET_OS").is_some_and(|os| os == "linux") && linker::takes_separate_code() {
        println!("cargo::rustc-link-arg=-Wl,-z,separate-code");
    }
}
