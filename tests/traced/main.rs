//! Traces functions of the running program, as users' programs do.
#![forbid(unsafe_code)]

use dyntrace::alloc::Counting;

/// For the action `memory`; nothing else depends on it.
#[global_allocator]
static ALLOCATOR: Counting = Counting::system();

mod callers;
mod calls;
mod changed;
mod deep;
mod flagged;
mod kinds;
mod memory;
mod metas;
mod own_time;
mod owned;
#[cfg(target_os = "linux")]
mod probes;
mod processes;
mod support;
mod tokens;
