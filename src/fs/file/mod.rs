//! An open file.

mod advise;
mod convert;
mod cursor;
mod ipread;
#[cfg(all(feature = "tokio-fs", not(loom)))]
mod of_tokio;
mod option;
mod positional;
mod read_line;
mod streams;
mod tape;
mod times;
mod vectored;

use std::fmt;
use std::fs::{Metadata, Permissions};
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};
use tokio::task::coop::unconstrained;

use self::advise::advise;
use self::cursor::{Cursor, MAX_SIZE};
use super::OpenOptions;
use super::set_permissions::permission_bits;
use crate::aio_pool::Port;
use crate::efile::{Command, Descriptor, Owner, Request};

pub use self::advise::Advice;
pub use self::option::FileOption;
pub use self::times::FileTimes;

/// An open file, with a port of its own.
///
/// Reading, writing and seeking go through tokio's [`AsyncRead`](tokio::io::AsyncRead),
/// [`AsyncWrite`](tokio::io::AsyncWrite) and [`AsyncSeek`](tokio::io::AsyncSeek) at the file's cursor; one such operation
/// is in flight at a time. [`read_at`](File::read_at) and [`write_at`](File::write_at) leave the cursor alone and may run
/// side by side.
///
/// # Writing
///
/// A write is accepted when its bytes were copied: it goes on in the background, also when the file is dropped. If it
/// fails, its error is given, with its errno, by the next write, flush, shutdown, read, seek, sync or close, and the bytes
/// that the file did not take are kept: each further write, flush, shutdown, read, sync or close tries them again first,
/// and gives the error if they fail again. So a flush that says Ok has written everything, as that of std's
/// [`BufWriter`](std::io::BufWriter) has; who makes room on a full disk and flushes again loses nothing. A seek gives
/// them up, so that a program may begin anew: after it the cursor is where the file's is.
///
/// A file that cannot seek (a pipe, a socket, a terminal) has no way to begin anew, so it keeps bytes only where the kernel
/// says to try again (EAGAIN). After any other error it drops them, gives the error once, and goes on. Its reads do not wait
/// for its writes, and bytes that were read ahead stay readable when a write comes between.
///
/// Flush the file before you read what you wrote by [`read_at`](File::read_at), [`metadata`](File::metadata) or another
/// descriptor.
///
/// # Closing
///
/// [`close`](File::close) says whether the writes and close(2) went well. Dropping the file submits a CLOSE and does not
/// wait for it; what could not be written is lost then, and so are the errors: they show as `efile_drv-return` of the WRITE
/// and of the CLOSE only. Either way the descriptor is closed when the last operation that uses it has ended.
///
/// What differs from `tokio::fs::File` is listed [with the module](crate::fs#what-differs-from-tokiofs).
pub struct File {
    cursor: Mutex<Cursor>,
    descriptor: Owner,
    max_buf_size: usize,
}

impl File {
    pub(super) fn new(descriptor: Descriptor) -> File {
        let descriptor = Owner::new(descriptor);
        File { cursor: Mutex::new(Cursor::new(Arc::clone(&descriptor))), descriptor, max_buf_size: MAX_SIZE }
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
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// Options to open a file with: the same as [`OpenOptions::new`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Brings data and metadata to the disk, what was written before included. Gives a kept write error instead.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.written().await?;
        self.descriptor.sync(Command::Fsync).await
    }

    /// Brings the data to the disk, what was written before included. Gives a kept write error instead.
    pub async fn sync_data(&self) -> io::Result<()> {
        self.written().await?;
        self.descriptor.sync(Command::Fdatasync).await
    }

    /// Cuts the file, or extends it with zeros, after a write in flight has ended. The cursor stays where it is.
    pub async fn set_len(&self, length: u64) -> io::Result<()> {
        let mut cursor = self.idle().await;
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

    /// How many bytes one READ or WRITE at the cursor moves at most: 2 MiB unless set.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }

    /// Sets how many bytes one READ or WRITE at the cursor moves at most. A larger number spares trips and takes memory: the
    /// file's buffer grows to what is asked for.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "a file that may move 0 bytes at a time moves none: give a larger size");
        self.max_buf_size = max_buf_size;
    }

    /// Whether reads are first tried on the caller's thread; see [`Driver::inline`](crate::efile::Driver::inline). Heeded
    /// by reads that begin later.
    ///
    /// Has no effect for a file opened with `O_DIRECT`, on a file system that cannot tell what it has in its cache, and
    /// elsewhere than on Linux. Where two files share a cursor ([`try_clone`](File::try_clone)), reading at it on the caller's
    /// thread waits for the other's read in flight: better switch it off there.
    pub fn set_inline(&self, inline: bool) {
        self.descriptor.set_inline(inline);
    }

    /// The file's port, as probes show it.
    pub fn port(&self) -> Port {
        self.descriptor.port()
    }

    /// Closes the file, after all that was begun on it has ended.
    ///
    /// Gives a kept write error, else that of close(2). The file is closed whatever the answer, also if the future is
    /// dropped once it was polled.
    ///
    /// ECANCELED in a forked child, if an operation of the parent's uses the file: the child's descriptor stays open then.
    pub async fn close(self) -> io::Result<()> {
        let File { cursor, descriptor, .. } = self;
        let written = {
            let mut cursor = cursor.into_inner();
            poll_fn(|cx| cursor.poll_written(cx)).await
        };
        let closed = descriptor.close().await;
        written.and(closed)
    }

    /// Outside of the task's budget, which another executor inside the task would not renew.
    async fn lock(&self) -> MutexGuard<'_, Cursor> {
        unconstrained(self.cursor.lock()).await
    }

    /// The cursor, once no operation is in flight.
    async fn idle(&self) -> MutexGuard<'_, Cursor> {
        let mut cursor = self.lock().await;
        poll_fn(|cx| cursor.poll_idle(cx)).await;
        cursor
    }

    /// Waits until everything that was accepted is written, or gives the error.
    async fn written(&self) -> io::Result<()> {
        let mut cursor = self.lock().await;
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

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("file", self.descriptor.file()).field("port", &self.descriptor.port()).finish()
    }
}
