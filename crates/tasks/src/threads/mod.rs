//! The threads of a program, and the activity of each, by the kernel and by its stack.
//!
//! 1. The kernel tells the name, the state and the CPU time of each thread.
//! 2. One thread at a time is held: its registers and the top of its stack are copied, then it runs on.
//! 3. The copy is unwound, and functions are named by symbols and debug information.
//! 4. A thread that polls a task has the task's poll function on its stack, and the address of the task's cell.
//!
//! The states of step 1 are some microseconds older than the stacks of step 2.
//!
//! A thread that is held leaves its system call. The kernel restarts most calls; some, such as `epoll_wait`, return `EINTR`
//! to the program, as they do under each debugger. tokio and the standard library call them again.

// Other architectures cannot be unwound: their threads have no frames.
#![cfg_attr(not(any(target_arch = "x86_64", target_arch = "aarch64")), allow(dead_code))]

mod answer;
mod functions;
mod hold;
mod modules;
mod polled;
mod reading;
mod registers;
mod roles;
mod stack;
mod unwind;
mod watch;

pub use answer::{Activity, Ending, Frame, Role, SystemCall, Thread, Threads};
pub(crate) use stack::{Words, words};
pub use watch::{Glance, Stay, Watch};
