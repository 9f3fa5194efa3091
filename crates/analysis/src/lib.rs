//! Recorded traces as the commands of [dyntrace](https://docs.rs/dyntrace) show them: lines, tables, pages, and comparisons.
#![deny(clippy::print_stdout, clippy::print_stderr)]
#![allow(missing_docs, reason = "a part of the command, where names tell what items are")]

pub mod diff;
pub mod figures;
pub mod losses;
pub mod operation;
pub mod recorded_tasks;
pub mod recording;
pub mod render;
pub mod report;
pub mod token;
pub mod view;
