//! Between [`File`] and `tokio::fs::File`, for libraries whose functions take tokio's type.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::Duration;

use tokio::fs::File as OfTokio;
use tokio::io::AsyncWrite;
use tokio::runtime::Handle;
use tokio::task::coop::unconstrained;

use super::File;
use crate::unpark;

impl From<File> for OfTokio {
    /// Gives the open file to tokio, with its cursor and its [`max_buf_size`](File::max_buf_size). Needs the feature
    /// `tokio-fs`, which is on by default.
    ///
    /// Blocks the thread until the operations in flight on the file have ended. None is in flight after a flush, or if no
    /// future of the file was dropped early. `tokio::fs::File::from_std(file.into_std().await)` waits without blocking.
    ///
    /// Bytes that a failed write left become the first write of tokio's file, so that its next flush tells how that ended;
    /// outside a tokio runtime they are written at once, and an error is lost. An error that left no bytes is lost.
    /// Bytes that were read ahead are read again, if the file can seek; else they are lost.
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
    fn from(mut file: File) -> OfTokio {
        let max_buf_size = file.max_buf_size;
        block_on(poll_fn(|cx| file.cursor.get_mut().poll_idle(cx)));
        let left = file.cursor.get_mut().take_unwritten();
        let std = block_on(file.hand_over()).expect("a descriptor goes to its heir");
        let mut of_tokio = OfTokio::from_std(std);
        if !left.is_empty() {
            write_first(&mut of_tokio, &left);
        }
        of_tokio.set_max_buf_size(max_buf_size);
        of_tokio
    }
}

impl From<OfTokio> for File {
    /// Takes over the open file of tokio's, on the global driver, with its cursor and its maximal buffer size. Needs the
    /// feature `tokio-fs`, which is on by default.
    ///
    /// An operation in flight goes on, and the first operation at the cursor waits for it. An error of an earlier write is
    /// given by the next write, flush, sync or close. Bytes that tokio has read for a dropped future and not given to another
    /// are skipped, as by tokio's own `into_std`: seek before, to have them.
    ///
    /// Does not block, unless an operation is in flight and the process has no file descriptor left: then it waits for that
    /// operation.
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
    fn from(mut of_tokio: OfTokio) -> File {
        let max_buf_size = of_tokio.max_buf_size();
        let flushed = Pin::new(&mut of_tokio).poll_flush(&mut Context::from_waker(Waker::noop()));
        let mut file = of_tokio.try_into_std().map_or_else(take_over_in_flight, File::from_std);
        if let Poll::Ready(Err(error)) = flushed {
            file.cursor.get_mut().keep_write_error(error);
        }
        file.max_buf_size = max_buf_size;
        file
    }
}

/// Has tokio's file write these bytes before all others.
fn write_first(of_tokio: &mut OfTokio, bytes: &[u8]) {
    if Handle::try_current().is_ok() {
        of_tokio.set_max_buf_size(bytes.len());
        // A file that does nothing yet copies the bytes at once, unless its runtime has ended; then they are lost with it.
        let _ = Pin::new(of_tokio).poll_write(&mut Context::from_waker(Waker::noop()), bytes);
    } else if let Ok(descriptor) = of_tokio.as_fd().try_clone_to_owned() {
        // Nobody learns of an error: the documentation says so.
        let _ = io::Write::write_all(&mut std::fs::File::from(descriptor), bytes);
    }
}

/// Takes over a file that an operation of tokio's uses.
fn take_over_in_flight(mut of_tokio: OfTokio) -> File {
    if let Ok(descriptor) = of_tokio.as_fd().try_clone_to_owned() {
        let mut file = File::from(descriptor);
        file.cursor.get_mut().wait_for(async move { flush(&mut of_tokio).await });
        return file;
    }
    let flushed = block_on(flush(&mut of_tokio));
    let std = loop {
        match of_tokio.try_into_std() {
            Ok(std) => break std,
            // An abandoned sync or the like, which tells nobody when it ends.
            Err(in_use) => of_tokio = in_use,
        }
        thread::sleep(Duration::from_millis(1));
    };
    let mut file = File::from_std(std);
    if let Err(error) = flushed {
        file.cursor.get_mut().keep_write_error(error);
    }
    file
}

async fn flush(of_tokio: &mut OfTokio) -> io::Result<()> {
    poll_fn(|cx| Pin::new(&mut *of_tokio).poll_flush(cx)).await
}

/// Blocks the thread until the future is ready.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    // A task without budget would be woken by its runtime only after it has given way.
    let mut future = pin!(unconstrained(future));
    let waker = unpark::waker();
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return answer;
        }
        thread::park();
    }
}
