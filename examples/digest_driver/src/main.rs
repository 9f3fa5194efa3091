//! Hashes the files of directories with its own driver, `driver.rs`; `digest.d` declares the probes.
//!
//! Trace it with one of the scripts beside it:
//!
//! ```text
//! dyntrace run examples/digest_driver/scripts/digests.bt -- target/release/digest_driver ci
//! ```

mod command;
mod driver;
#[cfg(all(test, target_os = "linux"))]
mod tests;

use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{iter, thread};

use anyhow::Context;
use clap::Parser;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dyntrace::aio_pool::Pool;
use dyntrace::{fs, with_tag};

use command::{COMMANDS, Command, Hashed};
use driver::Driver;

const HELP: &str = "\
Examples:
  digest_driver /etc
  digest_driver --command sha512 ci src > SUMS && sha512sum -c SUMS

Exit status: 0 if every file was hashed, 1 if one was not, 2 for wrong arguments.";

/// Print the digests of the files in directories, as sha256sum does
///
/// Each directory is a request; its path is the user tag of all operations on its files. Only regular files directly in the directory are
/// hashed.
#[derive(Parser)]
#[command(after_help = HELP)]
struct Arguments {
    /// The kind of digest
    #[arg(long, default_value = "SHA256", ignore_case = true, value_parser = commands())]
    command: Command,
    /// Number of files to hash at once [default: one for each processor]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Directories
    #[arg(required = true, value_name = "DIRECTORY")]
    directories: Vec<PathBuf>,
}

fn commands() -> impl TypedValueParser<Value = Command> {
    PossibleValuesParser::new(COMMANDS.map(|command| command.name)).try_map(|given| {
        COMMANDS.into_iter().find(|command| command.name.eq_ignore_ascii_case(&given)).ok_or("no such command")
    })
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    // More threads than processors hash nothing faster.
    let processors = || thread::available_parallelism().map_or(1, usize::from);
    let threads = arguments.threads.map_or_else(processors, usize::from);
    let driver = Driver::new(Pool::builder().threads(threads).build());

    let mut status = ExitCode::SUCCESS;
    for directory in &arguments.directories {
        let request = hash_all(&driver, arguments.command, directory);
        for (path, answer) in with_tag(directory.display().to_string(), request).await {
            match answer {
                Ok((digest, _)) => io::stdout().write_all(&line(&digest, &path)).context("cannot write the digests")?,
                Err(error) => {
                    eprintln!("digest_driver: hashing {path:?}: {error}");
                    status = ExitCode::FAILURE;
                }
            }
        }
    }
    Ok(status)
}

/// Returns the digest of each file of a directory, by name; or the error of listing the directory.
async fn hash_all(driver: &Driver, command: Command, directory: &Path) -> Vec<(PathBuf, io::Result<Hashed>)> {
    let mut paths = match files(directory).await {
        Ok(paths) => paths,
        Err(error) => return vec![(directory.to_owned(), Err(error))],
    };
    paths.sort();
    // Submits all before it awaits the first.
    let operations: Vec<_> = paths.iter().map(|path| driver.hash(command, path.clone())).collect();
    let mut answers = Vec::new();
    for (path, operation) in iter::zip(paths, operations) {
        answers.push((path, operation.await));
    }
    answers
}

/// The regular files of a directory.
async fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut entries = fs::read_dir(directory).await?;
    let mut paths = Vec::new();
    while let Some(entry) = entries.next_entry().await? {
        if entry.file_type().await?.is_file() {
            paths.push(entry.path());
        }
    }
    Ok(paths)
}

/// A line as sha256sum prints and checks it: a name that would break the line is escaped, and the line begins with `\`.
fn line(digest: &[u8], path: &Path) -> Vec<u8> {
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let name = path.as_os_str().as_bytes();
    let escaped: Vec<u8> = name
        .iter()
        .flat_map(|byte| {
            match byte {
                b'\\' => br"\\".as_slice(),
                b'\n' => br"\n",
                b'\r' => br"\r",
                byte => std::slice::from_ref(byte),
            }
            .iter()
            .copied()
        })
        .collect();
    let mark: &[u8] = if escaped.len() == name.len() { b"" } else { b"\\" };
    [mark, hex.as_bytes(), b"  ", &escaped, b"\n"].concat()
}
