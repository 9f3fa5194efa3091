//! An open file as the driver holds it: shared by the operations that use it, closed when the last of them is done.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::os::fd::{AsRawFd, RawFd};
use std::sync::{Arc, OnceLock};

use rustix::io::Errno;
use tokio::sync::oneshot;

use super::close::close;
use super::group::Group;
use super::inline::{self, Attempt, Reads};
use super::sync::Member;
use super::{Command, Driver, OfProcess, Request, answered};
use crate::aio_pool::Port;
use crate::tag::{self, Tag};

/// An open file with its driver, its port and the flags it was opened with.
///
/// Whoever drops the last reference submits a CLOSE that nobody awaits. That may be an I/O thread; it is done on behalf of
/// whoever dropped the [`Owner`], or has opened the file if it never had one.
#[derive(Debug)]
pub(crate) struct Descriptor {
    driver: Driver,
    port: Port,
    flags: i32,
    reads: Reads,
    /// The syncs that share the next call.
    pub(super) syncs: OfProcess<Group<Member>>,
    /// Gone only when `drop` has given it on.
    file: Option<File>,
    opened_for: Option<Tag>,
    /// What its owner has left.
    will: OnceLock<Will>,
}

/// What becomes of a descriptor once nothing uses it any more.
#[derive(Debug)]
struct Will {
    /// Of the one who asks for it.
    user_tag: Option<Tag>,
    heir: Heir,
}

#[derive(Debug)]
enum Heir {
    /// Nobody waits for the CLOSE.
    Nobody,
    /// Wants to know how the CLOSE ended.
    Closer(oneshot::Sender<io::Result<()>>),
    /// Wants the file, unclosed.
    Taker(oneshot::Sender<File>),
}

/// The reference to a descriptor that decides on its end.
#[derive(Debug)]
pub(crate) struct Owner(Arc<Descriptor>);

impl Descriptor {
    /// Reads are attempted on the caller's thread if `inline` says so.
    pub(crate) fn new(driver: Driver, port: Port, flags: i32, inline: bool, file: File) -> Descriptor {
        let reads = Reads::of(&file, flags, inline);
        let syncs = OfProcess::new(Group::new());
        Descriptor { driver, port, flags, reads, syncs, file: Some(file), opened_for: None, will: OnceLock::new() }
    }

    /// Says on whose behalf the file was opened.
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
        self.file.as_ref().expect("the file is there until the descriptor goes")
    }

    /// Whether a read of `size` bytes is to be attempted on the caller's thread first.
    pub(crate) fn is_inline(&self, size: usize) -> bool {
        size <= inline::MAX_SIZE && self.reads.are_on()
    }

    pub(crate) fn set_inline(&self, inline: bool) {
        self.reads.switch(self.file(), inline);
    }

    /// Attempts to read at an offset, as much as there is.
    pub(crate) fn try_read_at(&self, bytes: &mut [u8], offset: u64) -> Attempt<usize> {
        self.reads.read_at(self.file(), bytes, offset)
    }

    /// Attempts to read at the cursor, as much as is in the cache.
    pub(crate) fn try_read(&self, bytes: &mut [u8]) -> Attempt<usize> {
        self.reads.read(self.file(), bytes)
    }

    /// A request with this descriptor in its first integer.
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

    /// Closes the file and says how that ended, as soon as no abandoned operation uses it any more.
    ///
    /// Dropping the future does not stop the CLOSE. ECANCELED in a forked child where an operation of the parent's uses the
    /// file: in the child that operation never ends, and the file stays open.
    pub(crate) async fn close(self) -> io::Result<()> {
        if self.is_held_by_parent() {
            return Err(Errno::CANCELED.into());
        }
        let (sender, receiver) = oneshot::channel();
        self.leave(Heir::Closer(sender));
        drop(self);
        match answered(receiver).await {
            Some(answer) => answer.expect("every operation is answered"),
            None => Err(Errno::CANCELED.into()),
        }
    }

    /// Gives the file instead of closing it, as soon as no abandoned operation uses it any more: at once, if none does.
    ///
    /// In a forked child where an operation of the parent's uses the file, gives a duplicate.
    pub(crate) fn hand_over(self) -> oneshot::Receiver<File> {
        let (sender, receiver) = oneshot::channel();
        if self.is_held_by_parent()
            && let Ok(duplicate) = self.file().try_clone()
        {
            // The receiver is still here.
            let _ = sender.send(duplicate);
            return receiver;
        }
        self.leave(Heir::Taker(sender));
        receiver
    }

    /// Whether this is a forked child, and a reference other than this one may belong to an operation of the parent's, which
    /// never drops it here.
    fn is_held_by_parent(&self) -> bool {
        self.0.syncs.get().is_none() && Arc::strong_count(&self.0) > 1
    }

    /// The first will counts.
    fn leave(&self, heir: Heir) {
        self.0.will.get_or_init(|| Will { user_tag: tag::get_tag_data(), heir });
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
        self.leave(Heir::Nobody);
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        let request = self.request_with_flags(Command::Close);
        let file = self.file.take().expect("only this takes the file");
        let unowned = || Will { user_tag: self.opened_for.take(), heir: Heir::Nobody };
        let Will { user_tag, heir } = self.will.take().unwrap_or_else(unowned);
        let (file, closer) = match heir {
            Heir::Taker(taker) => match taker.send(file) {
                Ok(()) => return,
                Err(file) => (file, None),
            },
            Heir::Closer(closer) => (file, Some(closer)),
            Heir::Nobody => (file, None),
        };
        let answer = |result, _| {
            if let Some(closer) = closer {
                // The one who asked may be gone.
                let _ = closer.send(result);
            }
        };
        self.driver.detach(self.port, user_tag, request, (), move |_, ()| close(file), answer);
    }
}
