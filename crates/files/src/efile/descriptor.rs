//! An open file of the driver: shared by the operations that use it, closed when the last of them has ended.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, OnceLock};

use rustix::fs::OFlags;
use rustix::io::Errno;
use tokio::sync::oneshot;

use super::close::close;
use super::command::Command;
use super::coop::answered;
use super::driver::Driver;
use super::group::Group;
use super::inline::{self, Attempt, Attempts, FileSystemPlace, Inline, Permit, Trial, inode_of};
use super::inode::Inode;
use super::process_local::ProcessLocal;
use super::request::Request;
use super::sync::Member;
use super::unwritten::{self, Unwritten};
use crate::aio_pool::Port;
use dyntrace_processes::tag::{self, Tag};

/// An open file with its driver, its port and the flags it was opened with.
///
/// The drop of the last reference, which may be on an I/O thread, closes a file that was only read, and whose close does not wait; for
/// others it submits a detached CLOSE. The CLOSE carries the user tag of the task that dropped the [`Owner`] or, if there never was one, of
/// the task that opened the file.
#[derive(Debug)]
pub(crate) struct Descriptor {
    driver: Driver,
    port: Port,
    flags: i32,
    attempts: Attempts,
    /// Of a regular file that may be written.
    written: Option<Inode>,
    /// The syncs that share the next call.
    pub(super) syncs: ProcessLocal<Group<Member>>,
    /// Taken only by `drop`.
    file: Option<File>,
    opened_for: Option<Tag>,
    /// Set by the owner.
    release: OnceLock<Release>,
}

/// How a descriptor is closed once nothing uses it any more.
#[derive(Debug)]
struct Release {
    /// Of the task that released it.
    user_tag: Option<Tag>,
    action: ReleaseAction,
}

#[derive(Debug)]
enum ReleaseAction {
    Close,
    CloseAndReport(oneshot::Sender<io::Result<()>>),
    /// Hands the file over, unclosed.
    HandOver(oneshot::Sender<File>),
}

/// The reference to a descriptor that decides how it is released.
#[derive(Debug)]
pub(crate) struct Owner(Arc<Descriptor>);

/// Returns whether these flags let a file be changed.
fn may_write(flags: i32) -> bool {
    OFlags::from_bits_retain(flags as _).intersects(OFlags::WRONLY | OFlags::RDWR)
}

impl Descriptor {
    /// With `inline`, reads are attempted on the caller's thread.
    pub(crate) fn new(driver: Driver, port: Port, flags: i32, inline: Inline, file: File) -> Descriptor {
        let attempts = Attempts::new(&file, flags, inline, None);
        Descriptor::with(driver, port, flags, attempts, file)
    }

    /// As [`new`](Descriptor::new), for a file that was opened inline, at a known place.
    pub(crate) fn opened_at(
        driver: Driver,
        port: Port,
        flags: i32,
        inline: Inline,
        opened: (File, FileSystemPlace),
    ) -> Descriptor {
        let (file, place) = opened;
        let attempts = Attempts::new(&file, flags, inline, Some(place));
        Descriptor::with(driver, port, flags, attempts, file)
    }

    fn with(driver: Driver, port: Port, flags: i32, attempts: Attempts, file: File) -> Descriptor {
        let written = if may_write(flags) { inode_of(&file) } else { None };
        let (syncs, release) = (ProcessLocal::new(Group::new()), OnceLock::new());
        Descriptor { driver, port, flags, attempts, written, syncs, file: Some(file), opened_for: None, release }
    }

    /// Finds out the kind of the file's file system, if no job did. May block.
    pub(crate) fn detected(self) -> Descriptor {
        self.attempts.detect(self.file());
        self
    }

    /// Sets the user tag of the task that opened the file.
    pub(crate) fn opened_for(mut self, user_tag: Option<Tag>) -> Descriptor {
        self.opened_for = user_tag;
        self
    }

    pub(crate) fn driver(&self) -> &Driver {
        &self.driver
    }

    pub(crate) fn port(&self) -> Port {
        self.port
    }

    pub(crate) fn file(&self) -> &File {
        self.file.as_ref().expect("only drop takes the file")
    }

    /// Returns the permit to attempt a read of `size` bytes at an offset on the caller's thread first.
    pub(crate) fn permit_read_at(&self, size: usize) -> Option<Permit> {
        self.attempts.reads(size)
    }

    /// As [`permit_read_at`](Descriptor::permit_read_at), at the cursor.
    pub(crate) fn permit_read(&self, size: usize) -> Option<Permit> {
        // The parent of a forked child has the cursor, too.
        self.syncs.get()?;
        self.attempts.reads_at_cursor(size)
    }

    /// As [`permit_read`](Descriptor::permit_read), for a move of the cursor.
    pub(crate) fn permit_seek(&self) -> Option<Permit> {
        self.syncs.get()?;
        self.attempts.seeks()
    }

    /// As [`permit_read_at`](Descriptor::permit_read_at), for a write.
    pub(crate) fn permit_write_at(&self, size: usize) -> Option<Permit> {
        self.attempts.writes(size)
    }

    /// As [`permit_read`](Descriptor::permit_read), for a write.
    pub(crate) fn permit_write(&self, size: usize) -> Option<Permit> {
        self.syncs.get()?;
        self.attempts.writes_at_cursor(size)
    }

    /// As [`permit_read_at`](Descriptor::permit_read_at), for the metadata.
    pub(crate) fn permit_fstat(&self) -> Option<Permit> {
        self.attempts.fstats()
    }

    /// Whether operations are attempted on the caller's thread.
    pub(crate) fn inline(&self) -> Inline {
        self.attempts.mode()
    }

    pub(crate) fn set_inline(&self, inline: Inline) {
        self.attempts.switch(self.file(), inline);
    }

    /// Notes that another descriptor has the file's cursor, too.
    pub(crate) fn share_cursor(&self) {
        self.attempts.share_cursor();
    }

    /// Attempts to read at an offset, all bytes up to the end of the file.
    pub(crate) fn try_read_at(&self, bytes: &mut [u8], offset: u64, trial: &Trial) -> Attempt<usize> {
        self.attempts.read_at(self.file(), bytes, offset, trial)
    }

    /// Attempts to read at the cursor, as many bytes as are cached.
    pub(crate) fn try_read(&self, bytes: &mut [u8], trial: &Trial) -> Attempt<usize> {
        self.attempts.read(self.file(), bytes, trial)
    }

    /// Attempts to write at an offset, or at the cursor, as many bytes as the cache has room for.
    pub(crate) fn try_write(&self, bytes: &[u8], offset: Option<u64>) -> Attempt<usize> {
        inline::write(self.file(), bytes, offset)
    }

    /// Attempts to get the metadata.
    pub(crate) fn try_fstat(&self) -> Attempt<Metadata> {
        self.attempts.fstat(self.file())
    }

    /// Notes that a write was accepted. Operations by name wait until the result is dropped.
    pub(crate) fn accept_write(&self) -> Option<Unwritten> {
        self.written.map(Unwritten::accept)
    }

    /// Makes a request with this descriptor in its first integer.
    pub(crate) fn request(&self, command: Command) -> Request {
        Request::new(command).i1(self.fd().into())
    }

    /// As [`request`](Descriptor::request), with the flags in the second integer.
    pub(crate) fn request_with_flags(&self, command: Command) -> Request {
        self.request(command).i2(self.flags.into())
    }

    pub(crate) fn fd(&self) -> RawFd {
        self.file().as_raw_fd()
    }
}

impl Owner {
    pub(crate) fn new(descriptor: Descriptor) -> Owner {
        Owner(Arc::new(descriptor))
    }

    /// Closes the file, as soon as no abandoned operation uses it any more, and returns the result.
    ///
    /// ECANCELED in a forked child if an operation of the parent uses the file: in the child that operation never ends, and the file stays
    /// open. Dropping the future does not stop the CLOSE.
    pub(crate) async fn close(self) -> io::Result<()> {
        if self.is_held_by_parent() {
            return Err(Errno::CANCELED.into());
        }
        let (sender, receiver) = oneshot::channel();
        self.release(ReleaseAction::CloseAndReport(sender));
        drop(self);
        match answered(receiver).await {
            Some(answer) => answer.expect("every operation sends its result"),
            None => Err(Errno::CANCELED.into()),
        }
    }

    /// Sends the file instead of closing it, as soon as no abandoned operation uses it any more: at once, if none does.
    ///
    /// In a forked child where an operation of the parent uses the file, sends a duplicate.
    pub(crate) fn hand_over(self) -> oneshot::Receiver<File> {
        let (sender, receiver) = oneshot::channel();
        if self.is_held_by_parent()
            && let Ok(duplicate) = self.file().try_clone()
        {
            // Cannot fail: the receiver is here.
            let _ = sender.send(duplicate);
            return receiver;
        }
        self.release(ReleaseAction::HandOver(sender));
        receiver
    }

    /// Returns whether this is a forked child, and another reference may belong to an operation of the parent, which never drops it here.
    fn is_held_by_parent(&self) -> bool {
        self.0.syncs.get().is_none() && Arc::strong_count(&self.0) > 1
    }

    /// The first call counts.
    fn release(&self, action: ReleaseAction) {
        if let Some(inode) = self.0.written {
            unwritten::mark(inode);
        }
        self.0.release.get_or_init(|| Release { user_tag: tag::get_tag_data(), action });
    }
}

impl Deref for Owner {
    type Target = Arc<Descriptor>;

    fn deref(&self) -> &Arc<Descriptor> {
        &self.0
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.release(ReleaseAction::Close);
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let request = self.request_with_flags(Command::Close);
        let file = self.file.take().expect("only drop takes the file");
        let unowned = || Release { user_tag: self.opened_for.take(), action: ReleaseAction::Close };
        let Release { user_tag, action } = self.release.take().unwrap_or_else(unowned);
        let (file, report) = match action {
            ReleaseAction::HandOver(receiver) => match receiver.send(file) {
                Ok(()) => return,
                Err(file) => (file, None),
            },
            ReleaseAction::CloseAndReport(report) => (file, Some(report)),
            ReleaseAction::Close => (file, None),
        };
        let closed = |result| {
            if let Some(report) = report {
                // The receiver may be gone.
                let _ = report.send(result);
            }
        };
        let (driver, port) = (&self.driver, self.port);
        let permit = if may_write(self.flags) { None } else { self.attempts.closes(&file) };
        match permit {
            Some(permit) => closed(driver.run_here(permit, port, user_tag, &request, || close(file))),
            None => driver.detach(port, user_tag, request, (), move |_, ()| close(file), |result, _| closed(result)),
        }
    }
}
