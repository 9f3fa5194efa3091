//! Files, with the API of `tokio::fs`. Each operation fires the probes of the [file driver](crate::efile). It runs on an I/O thread; on
//! Linux, reads, seeks, look-ups and opens for reading that the kernel's caches answer run on the caller's thread ([`Driver::inline`]).
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
//! The functions work under any executor and need none of tokio's drivers. They also work under another executor's `block_on` inside a
//! tokio task, or in a destructor, where it blocks the only worker of the runtime.
//!
//! # Ends
//!
//! The drop of a tokio runtime waits for accepted writes, and for the closes of dropped files, that were submitted in it. So does the
//! normal exit of the process (the return of `main`, [`std::process::exit`]). The wait takes 10 seconds at most, or as set by
//! [`Builder::exit_timeout`](crate::aio_pool::Builder::exit_timeout); standard error says how many operations are left. A signal, an
//! abort and `_exit` do not wait. A forked child does not wait for its parent's operations.
//!
//! # Differences from `tokio::fs`
//!
//! Everything that `tokio::fs` has on Unix is here, with the same names and signatures. A program that says `use dyntrace::fs` instead of
//! `use tokio::fs` compiles and behaves the same, except for this:
//!
//! - The unwritten bytes of a failed write are kept and [retried](File#writing): a flush, sync or close returns Ok only when everything
//!   is written. tokio drops them, and returns the error once, without its errno; [`File::sync_all`], [`File::sync_data`] and a seek do
//!   not return it.
//! - An operation by name that depends on the contents of a file waits for [writes](File#writing) that were accepted before the file was
//!   dropped, if it was not flushed. In tokio it may overtake them.
//! - In a file that cannot seek, bytes that were read ahead stay readable, and a write after them succeeds. In tokio they are lost, and
//!   that write and all later ones fail with ESPIPE.
//! - [`File::into_std`] and [`File::try_clone`] move the cursor back over bytes that were read ahead, so that none is skipped.
//!   `into_std` waits for abandoned operations, where tokio panics. [`File::try_into_std`] also returns the file if an error of a failed
//!   write is pending.
//! - An operation whose future is dropped while it is queued never runs (see below); in tokio it runs.
//! - Dropping a file that may be written closes it on an I/O thread, not on the dropping one.
//! - [`read_dir`] reads 256 entries at a time, where tokio reads 32.
//! - A bounded pool of dyntrace runs the operations, not tokio's blocking threads. While the pool's queues are full, operations wait for
//!   room. A runtime that ends waits for accepted writes and closes ([above](#ends)), as tokio's does, but no longer than
//!   `exit_timeout`, and not for other running operations. `shutdown_timeout` of a `current_thread` runtime waits for none. The exit of
//!   the process also waits after [`std::process::exit`] and `shutdown_background`, where tokio loses writes.
//!
//! Beyond tokio there are [`File::close`], [`File::read_at`] and [`File::write_at`] with owned buffers, their
//! [vectored](File::read_vectored_at) forms, [`File::read_line`], [`File::ipread`], [`File::advise`], [`File::set_option`], [`chown`],
//! [`alt_name`], [`current_dir`] and [`set_current_dir`].
//!
//! For libraries that take tokio's types, [`File`] converts into `tokio::fs::File` and back by `From` (feature `tokio-fs`), and
//! [`ReadDir`] is a `Stream` (feature `stream`). Both features are on by default. The first compiles tokio's `fs`, which adds no
//! dependency; the second adds `futures-core`.
//!
//! [`Driver::inline`]: crate::efile::Driver::inline
//!
//! An argument passed by value lives as long as the call, as in every `async fn`: `File::open(NamedTempFile::new()?)` opens the file
//! before it is removed. A future that is dropped early drops its arguments, although its operation may still run.
//!
//! # Errors
//!
//! Errors are those of the system, with their errno. A name that holds a NUL is EINVAL. ECANCELED, EIO and EAGAIN may also come from the
//! pool, see the [driver](crate::efile).
//!
//! # Cancellation
//!
//! Nothing happens before a future's first poll. If it is dropped while its operation is queued, the operation never runs. If it is dropped
//! later, the operation runs to its end and its result is dropped: the caller does not learn whether the file was renamed. For each kind:
//!
//! - Opening: the opened file is closed.
//! - Reading at the cursor, [`File::read_line`]: nothing is lost. The next read gets the bytes of the abandoned one, and writes and seeks
//!   go to the caller's position.
//! - Writing at the cursor: accepted bytes are written, even if the future and the file are dropped. As with every `AsyncWrite`, a
//!   dropped `write_all` does not tell how many bytes were accepted.
//! - Flush, shutdown, sync: no accepted byte is lost. A sync may or may not happen.
//! - Seeking: the cursor may or may not have moved.
//! - [`File::read_at`], [`File::write_at`] and the vectored ones: the buffer is lost. A write may or may not happen.
//! - [`File::close`], once polled: the file is closed.
//! - [`ReadDir::next_entry`]: nothing is lost.
//! - Functions with many steps in one operation, once they run: all steps are done.
//!
//! # Not promised
//!
//! - The order of two operations, unless the second begins after the first was awaited.
//! - That data is on the disk before [`File::sync_all`] or [`File::sync_data`] returned Ok.
//! - That a read, write or open that blocks in the system for ever (a FIFO without a writer, a terminal) ends: it occupies an I/O thread.
//! - That functions with many steps in one operation ([`copy`], [`create_dir_all`], [`remove_dir_all`], [`write()`]) do all of them or
//!   none.
//! - That a listing of several READDIRs shows the directory as it was at one time.
//! - That an exiting process finishes operations other than accepted writes and closes of dropped files: a [`write()`] whose future was
//!   dropped may end half done.

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
