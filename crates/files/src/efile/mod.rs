//! The file driver: runs every file operation of the program and fires its probes.
//!
//! An operation is a [`Command`] with up to two strings and four integers. The driver numbers it and fires `efile_drv-entry` with all of them.
//! The pool, or the caller's thread ([below](#without-the-pool)), runs it between `efile_drv-int_entry` and `efile_drv-int_return`.
//! `efile_drv-return` carries its errno and the number of bytes that it moved. It fires
//!
//! - on the awaiting task, when the task takes the result;
//! - on the thread that runs them for WRITE and CLOSE of a [`File`](crate::fs::File), and for operations whose future was dropped while
//!   they ran;
//! - where the future is dropped, if that is before the operation starts (ECANCELED, without an int_ pair).
//!
//! An operation carries the user tag of the task that asked for it. A CLOSE carries the tag of the task that closed or dropped the file,
//! even if an I/O thread submits it after the last operation on the file. If the future of an OPEN was dropped, the CLOSE carries the
//! tag of the OPEN.
//!
//! # Without the pool
//!
//! A driver that is [`inline`](Driver::inline) first tries whether the system's caches have the answer; in [adaptive](Inline::Adaptive) mode
//! only where the last attempts were neither slow nor misses. `int_entry` fires before the attempt, on the caller's thread, and `int_return`
//! after a hit. After a miss the operation goes to the pool, whose job fires `int_entry` again: the last one counts. A hit needs no pool,
//! so it succeeds even after the pool was shut down. A file that was only read is closed by the thread that uses it last.
//!
//! # One system call for several syncs
//!
//! FSYNC and FDATASYNC of one open file that wait at the same time share one job of the pool and one system call, which begins after all
//! of them were submitted. Each is an operation with an int_ pair of its own, around that call. An error reaches all of them. If one of
//! them is an FSYNC, the call is fsync(2), which includes fdatasync(2).
//!
//! # Numbers and errors
//!
//! The numbers {thread, tag} name an operation; each `entry` has exactly one `return`. The errno is the system's, unchanged, except
//!
//! - ECANCELED: the operation was cancelled in the queue, or the pool was shut down;
//! - EIO: the operation panicked, or failed without an errno;
//! - EINVAL: std refused the arguments;
//! - EAGAIN: the system gave the pool no thread.
//!
//! # Bytes
//!
//! `efile_drv-return` shows how many bytes of files the operation read, wrote or copied: those moved, not those asked for. Commands that
//! move none ([`Command::moves_bytes`]) show 0. A WRITE that fails shows what it wrote before its error; other failures show 0.
//!
//! # Forks
//!
//! A forked child has none of its parent's I/O threads. It gets a pool of its own with its first operation, and all its operations go
//! there, through any [`Driver`] and any open file. An operation in flight at the fork is ECANCELED in the child, where it fires no
//! probes, and goes on in the parent.
//!
//! # The table of commands
//!
//! The arguments of `efile_drv-entry`, by command. *Italic* ones are dyntrace's additions to Erlang's table, and so are all commands from
//! 64 up. A string that a command does not use is a null pointer, an integer is 0. If a command takes a path or a descriptor (FSTAT,
//! WRITE_INFO), the other is null or -1. Flags are those passed to open(2); modes, origins, and user and group numbers are the system's,
//! and -1 for those that stay as they are. A name that holds a NUL is shown up to the NUL, and the command fails with EINVAL. Options of
//! SETOPT are numbered as in Erlang: 1 is the read-ahead, in bytes.
//!
#![doc = include_str!("commands.md")]

mod close;
mod command;
mod coop;
mod descriptor;
mod detached;
mod driver;
mod group;
pub(crate) mod inline;
mod inode;
#[cfg_attr(not(test), path = "unobserved.rs")]
pub(crate) mod observe;
mod operation;
mod process_local;
mod request;
mod sync;
#[cfg(test)]
pub(crate) mod tests;
#[cfg_attr(not(recorded), path = "untimed.rs")]
mod timed;
mod unwritten;
mod waits;

pub use command::{Argument, Command, Position};
pub(crate) use coop::{answered, poll_budget};
pub(crate) use descriptor::{Descriptor, Owner};
pub use driver::Driver;
pub(crate) use driver::Unanswered;
pub use inline::Inline;
pub(crate) use request::Request;
