//! Conversions between [`File`] and `tokio::fs::File`, for libraries whose functions take tokio's type.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tokio::fs::File as TokioFile;
use tokio::io::AsyncWrite;
use tokio::runtime::Handle;

use super::open_file::File;
use dyntrace_processes::unpark;

impl From<File> for TokioFile {
    /// Hands the open file over to tokio, with its cursor and its [`max_buf_size`](File::max_buf_size). Needs the feature `tokio-fs`,
    /// which is on by default.
    ///
    /// Blocks the thread until the operations in flight on the file have ended. None is in flight after a flush, or if no future of the
    /// file was dropped early. `tokio::fs::File::from_std(file.into_std().await)` waits without blocking.
    ///
    /// Unwritten bytes of a failed write become the first write of tokio's file, so that its next flush returns their result. Outside a
    /// tokio runtime they are written at once, and an error is lost. A write error without unwritten bytes is lost. If the file can
    /// seek, bytes that were read ahead are read again; otherwise they are lost.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> std::io::Result<()> {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("page");
    /// # std::fs::write(&path, "text")?;
    /// async fn serve(page: tokio::fs::File) -> std::io::Result<u64> {
    ///     Ok(page.metadata().await?.len())
    /// }
    ///
    /// let page = dyntrace::fs::File::open(&path).await?;
    /// assert_eq!(serve(page.into()).await?, 4);
    /// # Ok(()) }
    /// ```
    fn from(mut file: File) -> TokioFile {
        let max_buf_size = file.max_buf_size;
        unpark::block_on(poll_fn(|cx| file.cursor.get_mut().poll_idle(cx)));
        let left = file.cursor.get_mut().take_unwritten();
        let std = unpark::block_on(file.hand_over()).expect("a released descriptor is handed over");
        let mut tokio_file = TokioFile::from_std(std);
        if !left.is_empty() {
            write_first(&mut tokio_file, &left);
        }
        tokio_file.set_max_buf_size(max_buf_size);
        tokio_file
    }
}

impl From<TokioFile> for File {
    /// Takes over tokio's open file, on the global driver, with its cursor and its maximal buffer size. Needs the feature `tokio-fs`, which
    /// is on by default.
    ///
    /// An operation in flight goes on, and the first operation at the cursor waits for it. The next write, flush, sync or close returns
    /// the error of an earlier write. Bytes that tokio has read for a dropped future are skipped, as by tokio's own `into_std`: seek before
    /// the conversion to get them.
    ///
    /// Does not block, unless an operation is in flight and the process has no file descriptor left: then it waits for that operation.
    ///
    /// ```
    /// # #[tokio::main] async fn main() -> std::io::Result<()> {
    /// # let directory = tempfile::tempdir()?;
    /// # let path = directory.path().join("log");
    /// use tokio::io::AsyncWriteExt;
    ///
    /// let mut log = tokio::fs::File::create(&path).await?;
    /// log.write_all(b"theirs, ").await?;
    /// let mut log = dyntrace::fs::File::from(log);
    /// log.write_all(b"ours").await?;
    /// log.close().await?;
    /// assert_eq!(std::fs::read_to_string(&path)?, "theirs, ours");
    /// # Ok(()) }
    /// ```
    fn from(mut tokio_file: TokioFile) -> File {
        let max_buf_size = tokio_file.max_buf_size();
        let flushed = Pin::new(&mut tokio_file).poll_flush(&mut Context::from_waker(Waker::noop()));
        let mut file = tokio_file.try_into_std().map_or_else(take_over_in_flight, File::from_std);
        if let Poll::Ready(Err(error)) = flushed {
            file.cursor.get_mut().keep_write_error(error);
        }
        file.max_buf_size = max_buf_size;
        file
    }
}

/// Has tokio's file write `bytes` before all others.
fn write_first(tokio_file: &mut TokioFile, bytes: &[u8]) {
    if Handle::try_current().is_ok() {
        tokio_file.set_max_buf_size(bytes.len());
        // An idle file copies the bytes at once, unless its runtime has ended; then they are lost with it.
        let _ = Pin::new(tokio_file).poll_write(&mut Context::from_waker(Waker::noop()), bytes);
    } else if let Ok(descriptor) = tokio_file.as_fd().try_clone_to_owned() {
        // An error is lost, as documented.
        let _ = io::Write::write_all(&mut std::fs::File::from(descriptor), bytes);
    }
}

/// Takes over a file that an operation of tokio uses.
fn take_over_in_flight(mut tokio_file: TokioFile) -> File {
    if let Ok(descriptor) = tokio_file.as_fd().try_clone_to_owned() {
        let mut file = File::from(descriptor);
        file.cursor.get_mut().wait_for(async move { flush(&mut tokio_file).await });
        return file;
    }
    let flushed = unpark::block_on(flush(&mut tokio_file));
    let std = loop {
        match tokio_file.try_into_std() {
            Ok(std) => break std,
            // An abandoned sync or the like, whose end cannot be awaited.
            Err(in_use) => tokio_file = in_use,
        }
        thread::sleep(Duration::from_millis(1));
    };
    let mut file = File::from_std(std);
    if let Err(error) = flushed {
        file.cursor.get_mut().keep_write_error(error);
    }
    file
}

async fn flush(tokio_file: &mut TokioFile) -> io::Result<()> {
    poll_fn(|cx| Pin::new(&mut *tokio_file).poll_flush(cx)).await
}
