//! The face that the commands of [dyntrace](https://docs.rs/dyntrace) share: text that cannot control a terminal, exit
//! statuses, signals, the frame of pages, and files that no other user can read or replace.
#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod columns;
pub mod escape;
pub mod exit;
#[cfg(all(test, target_os = "linux"))]
#[path = "../../tasks/src/filtered.rs"]
mod filtered;
pub mod near;
pub mod own;
pub mod page;
pub mod private;
pub mod signals;
pub mod stdout;
pub mod temporary;
