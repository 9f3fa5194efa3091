//! Reads the tasks of a tokio program from outside: a program that knows nothing of it, optimised, running and not stopped.
//!
//! ```no_run
//! use dyntrace_tasks::program::{Options, Program};
//! use dyntrace_tasks::reading::{DebugInformation, Described};
//!
//! # fn main() -> Result<(), dyntrace_tasks::error::Error> {
//! let program = Program::attach(4711, Options::default())?;
//! let information = DebugInformation::of(&program);
//! let described = Described::of(&program, &information);
//! for task in program.listing(&described)?.tasks {
//!     println!("{} {}", task.id, task.state);
//! }
//! # Ok(())
//! # }
//! ```
#![cfg(target_os = "linux")]

pub mod aside;
pub mod calls;
pub mod cell;
pub mod census;
pub mod core_images;
mod cores;
pub mod coverage;
mod cycles;
pub mod debug_file;
pub mod dwarf;
pub mod elf;
pub mod error;
#[cfg(test)]
mod filtered;
pub mod future;
#[doc(hidden)]
pub mod hostile;
pub mod image;
mod kernel;
pub mod layout;
mod leaf;
pub mod leaks;
pub mod listing;
pub mod locks;
mod mapped;
pub mod memory;
pub mod names;
pub mod owned;
pub mod permission;
pub mod polls;
pub mod preview;
pub mod program;
pub mod reading;
pub mod scan;
#[cfg(test)]
mod silent;
pub mod stuck;
pub mod symbols;
pub mod threads;
pub mod vtables;
pub mod why;
