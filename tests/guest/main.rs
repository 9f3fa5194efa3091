//! Modules use the program's dyntrace.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

/// The allocator of the program and its modules.
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
