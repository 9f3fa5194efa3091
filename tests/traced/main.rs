//! Functions that are traced while the program runs, as a program of its users would do it.
#![forbid(unsafe_code)]

mod callers;
mod calls;
mod changed;
mod flagged;
mod kinds;
mod metas;
mod own_time;
#[cfg(target_os = "linux")]
mod probes;
mod processes;
mod support;
mod tokens;
