//! Conversions between [`File`] and std's files and descriptors.
//!
//! They are no operations: they fire no probes, and make their few system calls on the calling thread. The port of such a file has a
//! CLOSE without an OPEN, or an OPEN without a CLOSE.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::task::{Context, Waker};

use tokio::task::coop::unconstrained;

use super::open_file::File;
use crate::aio_pool::Port;
use crate::efile::{Descriptor, Driver, Inline};
use crate::fs::open_options::flags_of;

impl File {
    /// Takes over a file of std, on the global driver, with a port of its own.
    ///
    /// Probes show the flags that fcntl(2) returns.
    pub fn from_std(std: std::fs::File) -> File {
        let driver = Driver::global().clone();
        let inline = driver.mode();
        File::on_driver(driver, inline, std)
    }

    fn on_driver(driver: Driver, inline: Inline, std: std::fs::File) -> File {
        let descriptor = Descriptor::new(driver, Port::new(), flags_of(&std), inline, std);
        // As far as dyntrace knows.
        descriptor.share_cursor();
        File::new(descriptor)
    }

    /// Duplicates the descriptor, after the operation in flight has ended. Both files share the cursor.
    ///
    /// If the file can seek, bytes that were read ahead are read again by the file that reads first; otherwise they stay with this one.
    /// A pending write error and unwritten bytes stay with this one, too. The other file has this one's buffer sizes and
    /// [inline mode](File::set_inline). Dropping the future loses nothing.
    pub async fn try_clone(&self) -> io::Result<File> {
        let mut cursor = self.idle().await;
        cursor.return_unread();
        let std = self.descriptor.file().try_clone()?;
        self.descriptor.share_cursor();
        let mut clone = File::on_driver(self.descriptor.driver().clone(), self.descriptor.inline(), std);
        clone.max_buf_size = self.max_buf_size;
        clone.cursor.get_mut().read_ahead = cursor.read_ahead;
        Ok(clone)
    }

    /// Converts into a file of std, after all operations on the file have ended.
    ///
    /// A write error is lost: flush the file before. If the file can seek, bytes that were read ahead can be read again. Dropping the
    /// future closes the file.
    pub async fn into_std(self) -> std::fs::File {
        // The `return` of the WRITE shows the error.
        let _ = self.written().await;
        unconstrained(self.hand_over()).await.expect("a released descriptor is handed over")
    }

    /// As [`into_std`](File::into_std), at once. Returns this file if an operation on it is in flight, if a write error is pending, or if
    /// bytes are unwritten.
    #[allow(clippy::result_large_err, reason = "as in tokio")]
    pub fn try_into_std(mut self) -> Result<std::fs::File, File> {
        let cursor = self.cursor.get_mut();
        let is_idle = cursor.poll_idle(&mut Context::from_waker(Waker::noop())).is_ready();
        // The file's own reference and its cursor's: only these two make more.
        if !is_idle || cursor.owes_a_write() || Arc::strong_count(&self.descriptor) > 2 {
            return Err(self);
        }
        Ok(self.hand_over().try_recv().expect("no other reference is left"))
    }

    pub(super) fn hand_over(self) -> tokio::sync::oneshot::Receiver<std::fs::File> {
        let File { cursor, descriptor, .. } = self;
        // The cursor's own reference must be dropped first.
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
        // SAFETY: as the caller promises.
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

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use super::*;
    use crate::efile::tests::{finish, stepped};
    use crate::fs::OpenOptions;

    #[test]
    fn a_clone_has_the_modes_of_its_file() {
        let (pool, driver, _) = stepped();
        let file = finish(&pool, OpenOptions::new().read(true).open_with(&driver, "/dev/null")).unwrap();
        for mode in [Inline::Always, Inline::Off, Inline::Adaptive] {
            file.set_inline(mode);
            let clone = finish(&pool, file.try_clone()).unwrap();
            assert_eq!(clone.descriptor.inline(), file.descriptor.inline());
            assert_eq!(clone.descriptor.inline() == Inline::Off, mode == Inline::Off || !cfg!(target_os = "linux"));
        }
    }
}
