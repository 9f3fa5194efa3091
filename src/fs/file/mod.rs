//! An open file.

mod advise;
mod cursor;
mod ipread;
mod option;
mod positional;
mod read_line;
mod streams;
mod tape;

use std::fmt;
use std::fs::{Metadata, Permissions};
use std::future::poll_fn;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

use tokio::sync::Mutex;

use self::advise::advise;
use self::cursor::Cursor;
use super::OpenOptions;
use super::set_permissions::permission_bits;
use crate::aio_pool::Port;
use crate::efile::{Command, Descriptor, Request};

pub use self::advise::Advice;
pub use self::option::FileOption;

/// An open file, with a port of its own.
///
/// Reading, writing and seeking go through tokio's [`AsyncRead`](tokio::io::AsyncRead),
/// [`AsyncWrite`](tokio::io::AsyncWrite) and [`AsyncSeek`](tokio::io::AsyncSeek) at the file's cursor; one such operation
/// is in flight at a time. [`read_at`](File::read_at) and [`write_at`](File::write_at) leave the cursor alone and may run
/// side by side.
///
/// # Writing
///
/// A write is accepted when its bytes were copied: it goes on in the background, also when the file is dropped. Its error
/// is kept and given by the next write, flush, shutdown, seek, sync or close. Flush the file before you read what you wrote
/// by [`read_at`](File::read_at), [`metadata`](File::metadata) or another descriptor.
///
/// # Closing
///
/// [`close`](File::close) says whether the writes and close(2) went well. Dropping the file submits a CLOSE and does not
/// wait for it. Either way the descriptor is closed when the last operation that uses it has ended.
///
/// # What differs from `tokio::fs::File`
///
/// - `close`, `read_at`, `write_at`, `read_line`, `ipread`, `advise` and `set_option` are here, `try_clone`, `from_std` and
///   `into_std` are not.
/// - A kept write error keeps its errno, and seeks and syncs give it, too.
/// - After a read that was abandoned or brought more than was asked for, a write or seek goes to where the caller is, as in
///   tokio; the step back is made inside that operation and is no LSEEK of its own.
/// - Interrupted reads are tried again.
pub struct File {
    cursor: Mutex<Cursor>,
    descriptor: Arc<Descriptor>,
}

impl File {
    pub(super) fn new(descriptor: Descriptor) -> File {
        let descriptor = Arc::new(descriptor);
        File { cursor: Mutex::new(Cursor::new(Arc::clone(&descriptor))), descriptor }
    }

    /// Opens a file for reading.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing, empty; makes it if there is none.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// Makes a file for reading and writing; EEXIST if there is one.
    pub async fn create_new(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// Options to open a file with: the same as [`OpenOptions::new`].
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Brings data and metadata to the disk, what was written before included. Gives a kept write error instead.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.written().await?;
        self.run(self.descriptor.request(Command::Fsync), std::fs::File::sync_all).await
    }

    /// Brings the data to the disk, what was written before included. Gives a kept write error instead.
    pub async fn sync_data(&self) -> io::Result<()> {
        self.written().await?;
        self.run(self.descriptor.request(Command::Fdatasync), std::fs::File::sync_data).await
    }

    /// Cuts the file, or extends it with zeros, after a write in flight has ended. The cursor stays where it is.
    pub async fn set_len(&self, length: u64) -> io::Result<()> {
        let mut cursor = self.cursor.lock().await;
        poll_fn(|cx| cursor.poll_idle(cx)).await;
        cursor.forget_unread();
        let request = self.descriptor.request_with_flags(Command::Truncate).i3(length as i64);
        self.run(request, move |file| file.set_len(length)).await
    }

    /// Gets the file's metadata. Does not wait for a write in flight.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        self.run(self.descriptor.request(Command::Fstat), std::fs::File::metadata).await
    }

    /// Sets the file's permissions.
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        let request = Request::new(Command::WriteInfo);
        let request = request.i1(permission_bits(&permissions)).i2(-1).i3(-1).i4(self.descriptor.fd().into());
        self.run(request, move |file| file.set_permissions(permissions)).await
    }

    /// Tells the system how a part of the file will be used; a length of 0 means up to its end.
    ///
    /// ENOTSUP where there is no posix_fadvise(2), ESPIPE for a pipe.
    pub async fn advise(&self, offset: u64, length: u64, advice: Advice) -> io::Result<()> {
        let request = self.descriptor.request(Command::Fadvise);
        let request = request.i2(offset as i64).i3(length as i64).i4(advice as i64);
        self.run(request, move |file| advise(file, offset, length, advice)).await
    }

    /// The file's port, as probes show it.
    pub fn port(&self) -> Port {
        self.descriptor.port()
    }

    /// Closes the file, after all that was begun on it has ended.
    ///
    /// Gives a kept write error, else that of close(2). The file is closed whatever the answer, also if the future is
    /// dropped once it was polled.
    pub async fn close(self) -> io::Result<()> {
        let File { cursor, descriptor } = self;
        let written = {
            let mut cursor = cursor.into_inner();
            poll_fn(|cx| cursor.poll_written(cx)).await
        };
        let closed = Descriptor::close(descriptor).await;
        written.and(closed)
    }

    /// Waits for a write in flight and takes the error that is kept, if there is one.
    async fn written(&self) -> io::Result<()> {
        let mut cursor = self.cursor.lock().await;
        poll_fn(|cx| cursor.poll_written(cx)).await
    }

    /// Runs an operation that leaves the cursor alone.
    async fn run<T, F>(&self, request: Request, work: F) -> io::Result<T>
    where
        F: FnOnce(&std::fs::File) -> io::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.run_with(request, (), |file, ()| work(file)).await.0
    }

    async fn run_with<T, B, F>(&self, request: Request, buffer: B, work: F) -> (io::Result<T>, Option<B>)
    where
        F: FnOnce(&std::fs::File, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let (driver, port) = (self.descriptor.driver(), self.descriptor.port());
        let descriptor = Arc::clone(&self.descriptor);
        driver.run_with(port, request, buffer, move |_, buffer| work(descriptor.file(), buffer)).await
    }
}

impl AsFd for File {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.file().as_fd()
    }
}

impl AsRawFd for File {
    fn as_raw_fd(&self) -> RawFd {
        self.descriptor.fd()
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("file", self.descriptor.file()).field("port", &self.descriptor.port()).finish()
    }
}
