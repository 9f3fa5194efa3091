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
//! The functions work under any executor, and need none of tokio's drivers.
//!
//! # Errors
//!
//! Errors are those of the system, with their errno. A name that holds a NUL is EINVAL; ECANCELED, EIO and EAGAIN may also
//! come from the pool, as the [driver](crate::efile) says.
//!
//! # Dropping a future
//!
//! Nothing happens before a future's first poll. If it is dropped while its operation waits for its turn, the operation is
//! never done. If it is dropped later, the operation is done to its end and its answer is dropped: nobody learns whether the
//! file was renamed. A file that was opened for nobody is closed. Two kinds of operation are never taken back: a write that
//! was accepted, and a close.
//!
//! # Not promised
//!
//! - The order of two operations, unless the second begins after the first was awaited.
//! - That anything is on the disk before [`File::sync_all`] or [`File::sync_data`] said so.
//! - That a read, write or open which the system does not end (a FIFO without a writer, a terminal) ends: it holds an I/O
//!   thread meanwhile.
//! - That functions doing many steps in one operation ([`copy`], [`create_dir_all`], [`remove_dir_all`], [`read_dir`],
//!   [`write()`]) do all of them or none.
//! - That what a program leaves undropped or unfinished when it exits is done: close files whose data matter.

mod alt_name;
mod canonicalize;
mod chown;
mod copy;
mod create_dir;
mod create_dir_all;
mod current_dir;
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
mod try_exists;
mod write;

pub use alt_name::alt_name;
pub use canonicalize::canonicalize;
pub use chown::chown;
pub use copy::copy;
pub use create_dir::create_dir;
pub use create_dir_all::create_dir_all;
pub use current_dir::current_dir;
pub use file::{Advice, File, FileOption};
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
