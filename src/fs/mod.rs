//! Files, in the shape of `tokio::fs`: each operation runs on an I/O thread, and
//! fires the probes of the [file driver](crate::efile) on its way.
//!
//! ```
//! # #[tokio::main] async fn main() -> std::io::Result<()> {
//! use dyntrace::fs;
//! use tokio::io::{AsyncReadExt, AsyncWriteExt};
//!
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("greeting");
//! let mut file = fs::File::create(&path).await?;
//! file.write_all(b"hello").await?;
//! file.close().await?;
//!
//! fs::rename(&path, path.with_extension("txt")).await?;
//! let mut file = fs::File::open(path.with_extension("txt")).await?;
//! let mut text = String::new();
//! file.read_to_string(&mut text).await?;
//! assert_eq!(text, "hello");
//! # file.close().await }
//! ```
//!
//! The functions work under any executor, and need none of tokio's drivers: also under another executor's `block_on` inside a tokio
//! task, or in a destructor, where it blocks the only worker of the runtime.
//!
//! # Ends
//!
//! A write that was accepted, and the close of a dropped file, are waited for when the tokio runtime they were submitted in is
//! dropped, and when the process exits in the normal way (the return of `main`, [`std::process::exit`]). The wait takes 10 seconds at
//! most, unless [`Builder::exit_timeout`](crate::aio_pool::Builder::exit_timeout) says otherwise; standard error tells how many
//! operations were left. A signal, an abort and `_exit` do not wait. A forked child does not wait for its parent's operations.
//!
//! # What differs from `tokio::fs`
//!
//! Everything that `tokio::fs` has on Unix is here, by the same names and with the same signatures: a program that says
//! `use dyntrace::fs` in place of `use tokio::fs` compiles, and does what it did, but for this:
//!
//! - What a failed write has left is kept and [tried again](File#writing): a flush, sync or close says Ok only when
//!   everything is written. In tokio it is dropped, the error is given once and without its errno, and not by
//!   [`File::sync_all`], [`File::sync_data`] or a seek.
//! - In a file that cannot seek, bytes that were read ahead stay readable, and a write after them succeeds; in tokio they are
//!   lost, and the write fails with ESPIPE, as do those after it.
//! - [`File::into_std`] and [`File::try_clone`] move the cursor back over bytes that were read and not taken, so that nobody
//!   misses them. `into_std` waits for operations that were abandoned, where tokio panics; [`File::try_into_std`] gives the
//!   file back also for a write that failed and was not told of.
//! - An operation whose future is dropped while it is queued is never done (see below); in tokio it is.
//! - Dropping a file closes it on an I/O thread, not on the one that drops it.
//! - [`read_dir`] reads 256 entries in one trip, where tokio reads 32.
//! - The work is done by a bounded pool of its own and not by tokio's blocking threads: when the pool's queues are full, operations
//!   wait for room. A runtime that ends waits for accepted writes and closes ([above](#ends)), as tokio's does, but no longer than
//!   `exit_timeout`; for other operations that run it does not wait. `shutdown_timeout` of a `current_thread` runtime waits for
//!   none. The exit of the process waits also after [`std::process::exit`] and `shutdown_background`, where tokio's writes are lost.
//!
//! Beyond tokio there are [`File::close`], [`File::read_at`] and [`File::write_at`] with owned buffers, and the same
//! [vectored](File::read_vectored_at), [`File::read_line`], [`File::ipread`], [`File::advise`], [`File::set_option`],
//! [`chown`], [`alt_name`], [`current_dir`] and [`set_current_dir`].
//!
//! Where a library takes tokio's types: [`File`] converts into `tokio::fs::File` and back by `From` (feature `tokio-fs`), and
//! [`ReadDir`] is a `Stream` (feature `stream`). Both features are on by default; the first compiles tokio's `fs`, which
//! brings no further crate, the second brings `futures-core`.
//!
//! An argument given by value lives as long as the call, as in every `async fn`: `File::open(NamedTempFile::new()?)` opens
//! the file before it is removed. A future that is dropped early drops its arguments, though its operation may still run.
//!
//! # Errors
//!
//! Errors are those of the system, with their errno. A name that holds a NUL is EINVAL; ECANCELED, EIO and EAGAIN may also
//! come from the pool, as the [driver](crate::efile) says.
//!
//! # Cancellation
//!
//! Nothing happens before a future's first poll. If it is dropped while its operation waits for its turn, the operation is
//! never done. If it is dropped later, the operation is done to its end and its answer is dropped: nobody learns whether the
//! file was renamed. What that means for each kind:
//!
//! - Opening: a file that was opened for nobody is closed.
//! - Reading at the cursor, [`File::read_line`]: nothing is lost. What the abandoned read brings is there for the next one,
//!   and writes and seeks go to where the caller is.
//! - Writing at the cursor: what was accepted is written, whatever becomes of the future and the file. As with every
//!   `AsyncWrite`, who drops a `write_all` does not know how much was accepted.
//! - Flush, shutdown, sync: nothing that was accepted is lost. A sync may or may not be made.
//! - Seeking: it may or may not have moved the cursor.
//! - [`File::read_at`], [`File::write_at`] and the vectored ones: the buffer is lost. A write may be made or not.
//! - [`File::close`], once it was polled: the file is closed.
//! - [`ReadDir::next_entry`]: nothing is lost.
//! - Functions that do many steps in one operation, once they run: they do them all.
//!
//! # Not promised
//!
//! - The order of two operations, unless the second begins after the first was awaited.
//! - That anything is on the disk before [`File::sync_all`] or [`File::sync_data`] said so.
//! - That a read, write or open which the system does not end (a FIFO without a writer, a terminal) ends: it holds an I/O
//!   thread meanwhile.
//! - That functions doing many steps in one operation ([`copy`], [`create_dir_all`], [`remove_dir_all`], [`write()`]) do all
//!   of them or none.
//! - That a listing which takes several READDIRs shows the directory as it was at one time.
//! - That a process which exits does what it has left unfinished, but for accepted writes and closes of dropped files: a
//!   [`write()`] whose future was dropped may end half done.

mod alt_name;
mod canonicalize;
mod chown;
mod copy;
mod create_dir;
mod create_dir_all;
mod current_dir;
mod dir_builder;
mod file;
mod hard_link;
mod metadata;
mod open_options;
mod read;
mod read_dir;
mod read_link;
mod read_to_string;
mod remove_dir;
mod remove_dir_all;
mod remove_file;
mod rename;
mod set_current_dir;
mod set_permissions;
mod symlink;
mod symlink_metadata;
#[cfg(test)]
mod tests;
mod try_exists;
mod write;

pub use alt_name::alt_name;
pub use canonicalize::canonicalize;
pub use chown::chown;
pub use copy::copy;
pub use create_dir::create_dir;
pub use create_dir_all::create_dir_all;
pub use current_dir::current_dir;
pub use dir_builder::DirBuilder;
pub use file::{Advice, File, FileOption, FileTimes};
pub use hard_link::hard_link;
pub use metadata::metadata;
pub use open_options::OpenOptions;
pub use read::read;
pub use read_dir::{DirEntry, ReadDir, read_dir};
pub use read_link::read_link;
pub use read_to_string::read_to_string;
pub use remove_dir::remove_dir;
pub use remove_dir_all::remove_dir_all;
pub use remove_file::remove_file;
pub use rename::rename;
pub use set_current_dir::set_current_dir;
pub use set_permissions::set_permissions;
pub use symlink::symlink;
pub use symlink_metadata::symlink_metadata;
pub use try_exists::try_exists;
pub use write::write;
