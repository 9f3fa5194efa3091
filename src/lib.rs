//! Live tracing for async Rust.
#![cfg_attr(not(unix), allow(unused))]

#[cfg(not(unix))]
compile_error!("dyntrace serves Unix systems: Linux, macOS, illumos, FreeBSD and their kin");

// The generated probe functions name this crate by its name, inside and outside of it.
extern crate self as dyntrace;

pub mod aio_pool;
pub mod efile;
pub mod fs;
pub mod probes;
pub mod process;
mod scope;
#[cfg(feature = "scripts")]
pub mod scripts;
pub mod sdt;
mod sync;
pub mod tag;
pub mod user_trace;

#[doc(no_inline)]
pub use probe::probe;
#[doc(no_inline)]
pub use process::{spawn, spawn_local};
#[doc(no_inline)]
pub use tag::{Tag, TagError, get_tag, get_tag_data, put_tag, restore_tag, spread_tag, take_tag, with_tag};

/// Includes the probe functions that `dyntrace_build::compile` made of a provider file, by the file's name without `.d`.
#[macro_export]
macro_rules! include_provider {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
