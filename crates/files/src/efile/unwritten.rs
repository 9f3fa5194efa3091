//! Writes that were accepted and have not ended, by file: an operation by name waits for those of its file.
//!
//! A program may write to a file, drop it without a flush, and read it by its name at once. The read must not overtake the write, although
//! another thread runs it.
//!
//! 1. When a WRITE of a regular file is accepted, it enters the table.
//! 2. When the program drops the file, its writes in the table are marked.
//! 3. An operation by name that depends on writes first looks up which file that is, if the table has any writes. The caches of the
//!    system tell; if they cannot, and only if a write is marked, a job does: so a program that flushes its files has no such jobs. Then
//!    the operation waits until the writes of that file have ended that are in the table now, and only then is entered. It does not wait
//!    for later ones.
//! 4. The thread that settles the WRITE takes it out of the table, and wakes the tasks that wait for it. Each looks for the next one.

use std::collections::BTreeMap;
use std::mem;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use dyntrace_probes::forks::{self, hold_across_forks};
use dyntrace_probes::sdt::Decision;

use super::command::Command;
use super::inode::Inode;
use crate::aio_pool::{Fault, Job, contain};

type Writes = BTreeMap<Key, Write>;

static WRITES: Mutex<Writes> = Mutex::new(Writes::new());
// Relaxed, all three: a task that must wait for a write has accepted it, or was told of it by a thread that did.
/// The size of the table.
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// How many of them are marked.
static MARKED: AtomicUsize = AtomicUsize::new(0);
/// The number of the last write.
static LAST: AtomicU64 = AtomicU64::new(0);

/// A write in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    /// A forked child finds the writes of its parent in the table, for which it must not wait.
    forks: u64,
    inode: Inode,
    number: u64,
}

impl Key {
    fn of(inode: Inode, number: u64) -> Key {
        Key { forks: forks::so_far(), inode, number }
    }
}

#[derive(Default)]
struct Write {
    waiting: Waiting,
    is_marked: bool,
}

/// The tasks that wait for a write, in places that are used again.
#[derive(Default)]
struct Waiting {
    wakers: Vec<Option<Waker>>,
    free: Vec<usize>,
}

impl Waiting {
    fn enter(&mut self, waker: Waker) -> usize {
        let place = self.free.pop().unwrap_or(self.wakers.len());
        if place == self.wakers.len() {
            self.wakers.push(None);
        }
        self.wakers[place] = Some(waker);
        place
    }

    fn leave(&mut self, place: usize) -> Option<Waker> {
        self.free.push(place);
        self.wakers[place].take()
    }
}

/// A write that was accepted. It has ended when this is dropped.
#[derive(Debug)]
pub(crate) struct Unwritten(Key);

impl Unwritten {
    /// Step 1.
    pub(super) fn accept(inode: Inode) -> Unwritten {
        hold_across_forks!(Writes, lock());
        let mut writes = lock();
        // Under the lock: no write enters the table before one that has waits.
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let key = Key::of(inode, number);
        writes.insert(key, Write::default());
        COUNT.fetch_add(1, Ordering::Relaxed);
        Unwritten(key)
    }
}

/// Step 2.
pub(super) fn mark(inode: Inode) {
    if COUNT.load(Ordering::Relaxed) == 0 {
        return;
    }
    for (_, write) in lock().range_mut(Key::of(inode, 0)..=Key::of(inode, u64::MAX)) {
        let was_marked = mem::replace(&mut write.is_marked, true);
        MARKED.fetch_add((!was_marked).into(), Ordering::Relaxed);
    }
}

/// Returns whether a job may look up a name for step 3.
pub(super) fn is_any_marked() -> bool {
    MARKED.load(Ordering::Relaxed) > 0
}

/// Step 4.
impl Drop for Unwritten {
    fn drop(&mut self) {
        let ended = lock().remove(&self.0).unwrap_or_default();
        COUNT.fetch_sub(1, Ordering::Relaxed);
        MARKED.fetch_sub(ended.is_marked.into(), Ordering::Relaxed);
        for waker in ended.waiting.wakers.into_iter().flatten() {
            contain(|| waker.wake());
        }
    }
}

/// Returns the number of the last write that an operation waits for, which begins now. `None` if it waits for none.
pub(super) fn last_before(command: Command) -> Option<u64> {
    (COUNT.load(Ordering::Relaxed) > 0 && depends_on_writes(command)).then(|| LAST.load(Ordering::Relaxed))
}

/// Waits for the writes of a file up to this number.
pub(super) fn written(inode: Inode, last: u64) -> Written {
    Written { inode, last, number: 0, place: 0 }
}

/// The future of [`written`].
pub(super) struct Written {
    inode: Inode,
    last: u64,
    /// The number of the write that it waits for; 0 before it waits.
    number: u64,
    /// Its place there.
    place: usize,
}

impl Future for Written {
    type Output = ();

    /// Ready once none of the writes is in the table.
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        // A waker is foreign code, which may come back here: nothing is locked while it is cloned or dropped.
        let waker = cx.waker().clone();
        let mut writes = lock();
        let (first, last) = (Key::of(self.inode, 0), Key::of(self.inode, self.last));
        let Some((&key, Write { waiting, .. })) = writes.range_mut(first..=last).next() else {
            return Poll::Ready(());
        };
        let old = if self.number == key.number {
            waiting.wakers[self.place].replace(waker)
        } else {
            // An earlier write has ended.
            (self.number, self.place) = (key.number, waiting.enter(waker));
            None
        };
        drop(writes);
        drop(old);
        Poll::Pending
    }
}

impl Drop for Written {
    fn drop(&mut self) {
        if self.number != 0 {
            // A forked child finds none.
            let key = Key::of(self.inode, self.number);
            let old = lock().get_mut(&key).and_then(|write| write.waiting.leave(self.place));
            drop(old);
        }
    }
}

/// A job that finds the inode of a name.
pub(super) struct FindInode(pub(super) PathBuf);

impl Job for FindInode {
    type Output = Option<Inode>;

    /// It has no entry.
    fn taken(&self) -> Decision {
        Decision::UNSEEN
    }

    fn run(&mut self) -> Option<Inode> {
        Inode::of(&std::fs::metadata(&self.0).ok()?)
    }

    fn settle(&mut self, _: Result<&Option<Inode>, &Fault>) {}
}

/// Whether a write to the file changes what the operation finds, or undoes what it does: it clears a set-user-ID bit, for example.
fn depends_on_writes(command: Command) -> bool {
    use Command::{Copy, Fstat, Lstat, Open, ReadFile, WriteFile, WriteInfo};
    matches!(command, Open | Fstat | Lstat | ReadFile | WriteFile | WriteInfo | Copy)
}

fn lock() -> MutexGuard<'static, Writes> {
    // A panic leaves the table whole: nothing in between two changes panics.
    WRITES.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::panic;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::Wake;

    use super::*;

    /// No file has these: the tests of other rooms run meanwhile.
    fn inode(number: u64) -> Inode {
        Inode::new(u64::MAX, number)
    }

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    struct Panics;

    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker that panics");
        }
    }

    fn is_written<F: Future<Output = ()>>(future: std::pin::Pin<&mut F>, waker: &Waker) -> bool {
        future.poll(&mut Context::from_waker(waker)).is_ready()
    }

    #[test]
    fn a_file_is_written_when_all_earlier_writes_have_ended() {
        let (file, other) = (inode(1), inode(2));
        let (first, second, of_other) = (Unwritten::accept(file), Unwritten::accept(file), Unwritten::accept(other));
        let last = last_before(Command::Open).expect("three writes");
        let later = Unwritten::accept(file);
        let woken = Arc::new(Count(AtomicUsize::new(0)));
        let waker = Waker::from(Arc::clone(&woken));
        let mut waits = pin!(written(file, last));
        assert!(!is_written(waits.as_mut(), &waker));
        // It waits for the first of them, and then for the second.
        drop(first);
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        assert!(!is_written(waits.as_mut(), &waker));
        assert!(!is_written(waits.as_mut(), &waker), "one waker for both polls");
        drop((later, of_other));
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
        drop(second);
        assert_eq!(woken.0.load(Ordering::Relaxed), 2);
        assert!(is_written(waits, &waker));
        assert!(is_written(pin!(written(inode(3), last)), &waker));
    }

    #[test]
    fn a_wait_that_is_given_up_leaves_nothing() {
        let _write = Unwritten::accept(inode(6));
        let last = last_before(Command::Open).expect("a write");
        let wakers: Vec<_> = (0..100).map(|_| Arc::new(Count(AtomicUsize::new(0)))).collect();
        let mut stays = pin!(written(inode(6), last));
        assert!(!is_written(stays.as_mut(), &Waker::from(Arc::clone(&wakers[0]))));
        for woken in &wakers[1..] {
            assert!(!is_written(pin!(written(inode(6), last)), &Waker::from(Arc::clone(woken))));
            assert_eq!(Arc::strong_count(woken), 1);
        }
        assert_eq!(Arc::strong_count(&wakers[0]), 2);
    }

    #[test]
    fn only_operations_that_depend_on_writes_wait() {
        let _write = Unwritten::accept(inode(4));
        assert!(last_before(Command::ReadFile).is_some() && last_before(Command::Fstat).is_some());
        assert!(last_before(Command::Rename).is_none() && last_before(Command::Delete).is_none());
    }

    #[test]
    fn a_waker_that_panics_keeps_nobody_else_from_waking() {
        let write = Unwritten::accept(inode(5));
        let last = last_before(Command::Open).expect("a write");
        let woken = Arc::new(Count(AtomicUsize::new(0)));
        let mut waits = [written(inode(5), last), written(inode(5), last)];
        let wakers = [Waker::from(Arc::new(Panics)), Waker::from(Arc::clone(&woken))];
        for (wait, waker) in waits.iter_mut().zip(&wakers) {
            assert!(!is_written(Pin::new(wait), waker));
        }
        assert!(panic::catch_unwind(|| drop(write)).is_ok());
        assert_eq!(woken.0.load(Ordering::Relaxed), 1);
    }
}
