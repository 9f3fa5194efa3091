//! Modules as guests of the program: what they do is done by the program's dyntrace.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

/// Modules take their memory from it.
#[global_allocator]
static ALLOCATOR: dyntrace::alloc::Counting = dyntrace::alloc::Counting::system();

#[path = "../common/command.rs"]
mod command;
#[path = "../common/missing.rs"]
mod missing;
mod recorded;
mod rooms;
mod support;
mod traced;
mod viewed;
