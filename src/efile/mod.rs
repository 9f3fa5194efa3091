//! The file driver: every file operation of the program goes through here, and tells about itself on the way.
//!
//! An operation is a [`Command`] with up to two strings and four integers. The driver numbers it, fires
//! `efile_drv-entry` with all of them, has the pool do the work between `efile_drv-int_entry` and `efile_drv-int_return`,
//! and fires `efile_drv-return` with its errno:
//!
//! - on the awaiting task, when it takes the answer;
//! - on the I/O thread for what nobody needs to await: WRITE and CLOSE of a [`File`](crate::fs::File), and operations
//!   whose future went while they ran;
//! - where the future is dropped, if that happens before the work begins (ECANCELED, and no int_ pair).
//!
//! It carries the user tag of whoever asked for it. A CLOSE is asked for by whoever closes or drops the file, also where an
//! I/O thread sends it, as the last that used the file; that of a file opened for nobody, by whoever wanted it opened.
//!
//! # Without the pool
//!
//! A driver that is [`inline`](Driver::inline) first tries whether the system has the answer in its caches. There the int_
//! pair stands around the attempt, on the caller's thread. If it was in vain, the operation goes its usual way, and a
//! second pair stands around the pool's work: the last pair is the one that tells. An answer from the caches needs no
//! pool, so there is one also after the pool was shut down.
//!
//! # One call for many
//!
//! FSYNC and FDATASYNC of one open file that wait at the same time share one job of the pool and one system call, which
//! begins after each of them was asked for. Each is an operation with an int_ pair of its own, around that call; an error
//! reaches all. If one of them is an FSYNC, the call is fsync(2), which does what fdatasync(2) does.
//!
//! # Numbers and errors
//!
//! Numbers {thread, tag} name an operation; its `entry` has exactly one `return`. The errno is the system's, unchanged,
//! but for ECANCELED (cancelled in the queue, or the pool was shut down), EIO (the work panicked, or failed without an
//! errno; EINVAL where std itself refused what was asked) and EAGAIN (no thread could be had).
//!
//! # Forks
//!
//! A forked child has none of its parent's I/O threads. What it submits goes to a pool of its own, which it gets with the
//! first operation, whichever [`Driver`] or open file that comes by; an operation that was in flight at the fork is ECANCELED
//! in the child, whose probes say nothing of it, and goes its way in the parent.
//!
//! # The table of commands
//!
//! What the arguments of `efile_drv-entry` hold. *Italic* ones are dyntrace's additions to Erlang's table, and so are all
//! commands from 64 up. A string that a command does not use is a null pointer, an integer 0. Where a command takes a
//! path or a descriptor (FSTAT, WRITE_INFO), the other is null or -1. Flags are those given to open(2); modes, origins and
//! user and group numbers are the system's, -1 for what stays as it is. A name that holds a NUL is shown up to it and
//! fails with EINVAL. Options of SETOPT are numbered as in Erlang: 1 is the read-ahead, in bytes.
//!
#![doc = include_str!("commands.md")]

mod close;
mod command;
mod descriptor;
mod detached;
mod driver;
mod fair;
mod group;
pub(crate) mod inline;
mod of_process;
mod operation;
mod request;
mod sync;
#[cfg(test)]
pub(crate) mod tests;
#[cfg_attr(not(recorded), path = "untimed.rs")]
mod timed;

pub use command::{Argument, Command, Position};
pub(crate) use descriptor::{Descriptor, Owner};
pub use driver::Driver;
pub(crate) use fair::answered;
pub(crate) use of_process::OfProcess;
#[cfg(test)]
pub(crate) use operation::observe;
pub(crate) use request::Request;
