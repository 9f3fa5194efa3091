//! How the commands of [dyntrace](https://docs.rs/dyntrace) run tracing scripts: the scripts, the tracers, and the programs that they trace.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(missing_docs, reason = "a part of the command, where names tell what items are")]

#[cfg(target_os = "linux")]
mod calls;
pub mod command;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../tasks/src/filtered.rs"]
mod filtered;
pub mod run;
pub mod script;
pub mod system;
pub mod tracer;
