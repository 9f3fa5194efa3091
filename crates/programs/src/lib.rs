//! Programs and processes as the commands of [dyntrace](https://docs.rs/dyntrace) read them: notes of probes and their definitions, the
//! files that a process has loaded, functions and lines at addresses.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(missing_docs, reason = "a part of the command, where names tell what items are")]

pub mod caller;
pub mod elf;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../tasks/src/filtered.rs"]
mod filtered;
pub mod named;
pub mod probe_names;
pub mod process;
pub mod provider;
pub mod regular;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../tasks/src/silent.rs"]
mod silent;
