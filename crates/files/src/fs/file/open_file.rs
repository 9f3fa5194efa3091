//! An open file.

use std::fmt;
use std::fs::{Metadata, Permissions};
use std::future::poll_fn;
use std::io;
use std::path::Path;
use std::sync::Arc;

use tokio::sync::{Mutex, MutexGuard};
use tokio::task::coop::unconstrained;

use super::advise::{Advice, advise};
use super::cursor::{Cursor, MAX_SIZE};
use crate::aio_pool::{self, Port};
use crate::efile::inline::Trial;
use crate::efile::{Command, Descriptor, Inline, Owner, Request};
use crate::fs::open_options::OpenOptions;
use crate::fs::set_permissions::permission_bits;

/// An open file, with a port of its own.
///
/// Reading, writing and seeking go through tokio's [`AsyncRead`](tokio::io::AsyncRead),
/// [`AsyncWrite`](tokio::io::AsyncWrite) and [`AsyncSeek`](tokio::io::AsyncSeek) at the file's cursor; one such operation
/// is in flight at a time. [`read_at`](File::read_at) and [`write_at`](File::write_at) do not use the cursor and may run concurrently.
///
/// # Writing
///
/// A write is accepted when its bytes were copied: it goes on in the background, even if the file is dropped. If it fails, the next write,
/// flush, shutdown, read, seek, sync or close returns its error, with the errno, and the file keeps the unwritten bytes. Each further
/// write, flush, shutdown, read, sync or close retries them first, and returns the error if that fails. So a flush that returns Ok has
/// written everything, as with std's [`BufWriter`](std::io::BufWriter): make room on a full disk, flush again, and nothing is lost. A
/// seek discards the unwritten bytes; after it the cursor is at the kernel's position.
///
/// A file that cannot seek (a pipe, a socket, a terminal) cannot discard bytes by a seek, so it keeps them only on EAGAIN. After any other
/// error it drops them, returns the error once, and goes on. Its reads do not retry its unwritten bytes; like all operations at the cursor
/// they wait for a WRITE in flight. Bytes that were read ahead stay readable after a write.
///
/// Operations by name, such as [`read`](crate::fs::read), [`metadata`](crate::fs::metadata) and opening, wait for the accepted writes of a
/// file that was dropped. Flush the file before anything else must see its writes: [`read_at`](File::read_at),
/// [`metadata`](File::metadata), another descriptor, std, another program.
///
/// # Closing
///
/// [`close`](File::close) returns the errors of the writes and of close(2). Dropping the file does not wait for the CLOSE; unwritten
/// bytes and errors are lost then: only `efile_drv-return` of the WRITE and of the CLOSE show them. In both cases the descriptor is closed
/// when the last operation that uses it has ended: by an I/O thread, or by the thread that uses it last if the file was opened for reading
/// only and the close does not wait.
///
/// The [module](crate::fs#differences-from-tokiofs) lists the differences from `tokio::fs::File`.
pub struct File {
    pub(super) cursor: Mutex<Cursor>,
    pub(super) descriptor: Owner,
    pub(super) max_buf_size: usize,
}

impl File {
    pub(crate) fn new(descriptor: Descriptor) -> File {
        // The pool may not have seen the runtime yet, whose end must wait for the CLOSE.
        aio_pool::notice_runtime();
        let descriptor = Owner::new(descriptor);
        File { cursor: Mutex::new(Cursor::new(Arc::clone(&descriptor))), descriptor, max_buf_size: MAX_SIZE }
    }

    /// Opens a file for reading.
    pub async fn open(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().read(true).open(path).await
    }

    /// Opens a file for writing and truncates it; creates it if it does not exist.
    pub async fn create(path: impl AsRef<Path>) -> io::Result<File> {
        OpenOptions::new().write(true).create(true).truncate(true).open(path).await
    }

    /// Creates a file for reading and writing; EEXIST if it exists.
    pub async fn create_new<P: AsRef<Path>>(path: P) -> io::Result<File> {
        OpenOptions::new().read(true).write(true).create_new(true).open(path).await
    }

    /// Returns options to open a file with: the same as [`OpenOptions::new`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// Syncs data and metadata to the disk, earlier writes included. Returns a pending write error first.
    pub async fn sync_all(&self) -> io::Result<()> {
        self.written().await?;
        self.descriptor.sync(Command::Fsync).await
    }

    /// Syncs the data to the disk, earlier writes included. Returns a pending write error first.
    pub async fn sync_data(&self) -> io::Result<()> {
        self.written().await?;
        self.descriptor.sync(Command::Fdatasync).await
    }

    /// Truncates the file, or extends it with zeros, after the operation in flight has ended. Does not move the cursor.
    pub async fn set_len(&self, length: u64) -> io::Result<()> {
        let mut cursor = self.idle().await;
        cursor.forget_unread();
        let request = self.descriptor.request_with_flags(Command::Truncate).i3(length as i64);
        self.run(request, move |file| file.set_len(length)).await
    }

    /// Returns the file's metadata. Does not wait for a write in flight.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let descriptor = &self.descriptor;
        let (permit, request) = (descriptor.permit_fstat(), descriptor.request(Command::Fstat));
        let attempt = |_: &Request, _: &mut (), _: &mut Trial| descriptor.try_fstat();
        let work = || {
            let user = Arc::clone(descriptor);
            move |_: &Request, _: &mut ()| user.file().metadata()
        };
        descriptor.driver().run_inline(permit, descriptor.port(), request, (), attempt, work).await.0
    }

    /// Sets the file's permissions.
    pub async fn set_permissions(&self, permissions: Permissions) -> io::Result<()> {
        let request = Request::new(Command::WriteInfo);
        let request = request.i1(permission_bits(&permissions)).i2(-1).i3(-1).i4(self.descriptor.fd().into());
        self.run(request, move |file| file.set_permissions(permissions)).await
    }

    /// Tells the system how a part of the file will be used. A length of 0 means up to the end of the file.
    ///
    /// ENOTSUP on systems without posix_fadvise(2), ESPIPE for a pipe.
    pub async fn advise(&self, offset: u64, length: u64, advice: Advice) -> io::Result<()> {
        let request = self.descriptor.request(Command::Fadvise);
        let request = request.i2(offset as i64).i3(length as i64).i4(advice as i64);
        self.run(request, move |file| advise(file, offset, length, advice)).await
    }

    /// Returns the most bytes that one READ or WRITE at the cursor moves. The default is 2 MiB.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }

    /// Sets the most bytes that one READ or WRITE at the cursor moves. A larger number saves trips to the pool and costs memory: the file's
    /// buffer grows to the size of its requests.
    ///
    /// # Panics
    ///
    /// If it is 0.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "max_buf_size must be larger than 0");
        self.max_buf_size = max_buf_size;
    }

    /// Sets whether later operations are first tried on the caller's thread; see [`Driver::inline`](crate::efile::Driver::inline).
    ///
    /// Has no effect for a file opened with `O_DIRECT`, on a file system that cannot tell whether data is cached, and on systems other than
    /// Linux. If two files share a cursor ([`try_clone`](File::try_clone)), an operation at it on the caller's thread blocks while one of
    /// the other file is in flight: switch [`Always`](crate::efile::Inline::Always) off for such files.
    /// [`Adaptive`](crate::efile::Inline::Adaptive) does not try these operations.
    pub fn set_inline(&self, inline: impl Into<Inline>) {
        self.descriptor.set_inline(inline.into());
    }

    /// Returns the file's port, as probes show it.
    pub fn port(&self) -> Port {
        self.descriptor.port()
    }

    /// Closes the file, after all operations on it have ended.
    ///
    /// Returns a pending write error, else the error of close(2). The file is closed even if there is an error, and even if the future is
    /// dropped after its first poll.
    ///
    /// ECANCELED in a forked child, if an operation of the parent uses the file: the child's descriptor stays open then.
    pub async fn close(self) -> io::Result<()> {
        let File { cursor, descriptor, .. } = self;
        let written = {
            let mut cursor = cursor.into_inner();
            poll_fn(|cx| cursor.poll_written(cx)).await
        };
        let closed = descriptor.close().await;
        written.and(closed)
    }

    /// Locks the cursor without the task's budget, which another executor inside the task would not renew.
    async fn lock(&self) -> MutexGuard<'_, Cursor> {
        unconstrained(self.cursor.lock()).await
    }

    /// Locks the cursor, and waits until no operation is in flight.
    pub(super) async fn idle(&self) -> MutexGuard<'_, Cursor> {
        let mut cursor = self.lock().await;
        poll_fn(|cx| cursor.poll_idle(cx)).await;
        cursor
    }

    /// Waits until all accepted bytes are written, or returns the error.
    pub(super) async fn written(&self) -> io::Result<()> {
        let mut cursor = self.lock().await;
        poll_fn(|cx| cursor.poll_written(cx)).await
    }

    /// Runs an operation that does not use the cursor.
    pub(super) async fn run<T, F>(&self, request: Request, work: F) -> io::Result<T>
    where
        F: FnOnce(&std::fs::File) -> io::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.run_with(request, (), |file, _, ()| work(file)).await.0
    }

    pub(super) async fn run_with<T, B, F>(&self, request: Request, buffer: B, work: F) -> (io::Result<T>, Option<B>)
    where
        F: FnOnce(&std::fs::File, &Request, &mut B) -> io::Result<T> + Send + 'static,
        B: Send + 'static,
        T: Send + 'static,
    {
        let (driver, port) = (self.descriptor.driver(), self.descriptor.port());
        let descriptor = Arc::clone(&self.descriptor);
        driver.run_with(port, request, buffer, move |request, buffer| work(descriptor.file(), request, buffer)).await
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("File").field("file", self.descriptor.file()).field("port", &self.descriptor.port()).finish()
    }
}
