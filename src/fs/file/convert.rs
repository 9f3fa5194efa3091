//! Between [`File`] and what std has: descriptors that others opened, or go on to use.
//!
//! No operation stands for these: they fire nothing, and what little they ask of the system they ask on the calling thread.
//! The port of such a file has a CLOSE without an OPEN, or an OPEN without a CLOSE.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::task::{Context, Waker};

use tokio::task::coop::unconstrained;

use super::File;
use crate::aio_pool::Port;
use crate::efile::{Descriptor, Driver};
use crate::fs::open_options::flags_of;

impl File {
    /// Takes over a file of std's, on the global driver, with a port of its own.
    ///
    /// Its flags, as probes show them, are those that fcntl(2) tells.
    pub fn from_std(std: std::fs::File) -> File {
        File::on_driver(Driver::global().clone(), std)
    }

    fn on_driver(driver: Driver, std: std::fs::File) -> File {
        let inline = driver.is_inline();
        File::new(Descriptor::new(driver, Port::new(), flags_of(&std), inline, std))
    }

    /// Makes another file of the same open one, after the operation in flight has ended: both share the cursor.
    ///
    /// Bytes that were read and not taken are read again by who comes first, where the file can be sought in; else they stay
    /// with this one. So do a kept write error and what could not be written. Cancellation: nothing is lost.
    pub async fn try_clone(&self) -> io::Result<File> {
        let mut cursor = self.idle().await;
        cursor.return_unread();
        let std = self.descriptor.file().try_clone()?;
        let mut clone = File::on_driver(self.descriptor.driver().clone(), std);
        clone.max_buf_size = self.max_buf_size;
        clone.cursor.get_mut().read_ahead = cursor.read_ahead;
        Ok(clone)
    }

    /// Gives the file to std, after all that was begun on it has ended.
    ///
    /// It cannot tell a write's error: flush the file before. Bytes that were read and not taken are there to be read again,
    /// where the file can be sought in. Dropping the future closes the file.
    pub async fn into_std(self) -> std::fs::File {
        // Who did not flush does not ask for the error: the return of the WRITE has it.
        let _ = self.written().await;
        unconstrained(self.hand_over()).await.expect("a descriptor goes to its heir")
    }

    /// As [`into_std`](File::into_std), at once. Gives this file back if an operation on it is in flight, or if something
    /// was not written and nobody was told, or could not be written.
    #[allow(clippy::result_large_err, reason = "as in tokio")]
    pub fn try_into_std(mut self) -> Result<std::fs::File, File> {
        let cursor = self.cursor.get_mut();
        let is_idle = cursor.poll_idle(&mut Context::from_waker(Waker::noop())).is_ready();
        // The file's own reference and its cursor's: more come of these two only.
        if !is_idle || cursor.owes_a_write() || Arc::strong_count(&self.descriptor) > 2 {
            return Err(self);
        }
        Ok(self.hand_over().try_recv().expect("no other reference is left"))
    }

    pub(super) fn hand_over(self) -> tokio::sync::oneshot::Receiver<std::fs::File> {
        let File { cursor, descriptor, .. } = self;
        // The cursor has a reference of its own, which must be gone first.
        cursor.into_inner().return_unread();
        descriptor.hand_over()
    }
}

impl From<std::fs::File> for File {
    fn from(std: std::fs::File) -> File {
        File::from_std(std)
    }
}

impl From<OwnedFd> for File {
    fn from(descriptor: OwnedFd) -> File {
        File::from_std(descriptor.into())
    }
}

impl FromRawFd for File {
    unsafe fn from_raw_fd(descriptor: RawFd) -> File {
        // SAFETY: our caller's promise is the one that is asked for.
        File::from_std(unsafe { FromRawFd::from_raw_fd(descriptor) })
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
