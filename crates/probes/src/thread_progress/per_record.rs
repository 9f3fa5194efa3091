//! Values that stay with the records: of each kind, every thread has one.
//!
//! A thread finds the value as it finds its [record](super::record), without heap or lock: a thread's first firing may be in a signal handler.
//! The thread that has the record next goes on with it, so no destructor has to give a value back. Values are never freed, and any thread
//! may look at all of them.

use std::mem;
use std::ptr;
// Always `std`'s: models have none.
use std::sync::atomic::{AtomicPtr, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::pin::own_record;
use super::prepare::note_forks;

/// Types for which all zeros are a valid value, and whose values change by atomic operations only.
///
/// # Safety
///
/// Both must hold, and a value of zeros must own nothing.
pub unsafe trait Zeros: Sync {}

// SAFETY: an atomic; zero is the null pointer.
unsafe impl<T> Zeros for AtomicPtr<T> {}
// SAFETY: rows of such values.
unsafe impl<T: Zeros, const N: usize> Zeros for [T; N] {}

/// The values of one kind, in pages that double: the first has [`FIRST`].
pub struct PerRecord<T>([AtomicPtr<Apart<T>>; PAGES]);

/// A value with cache lines of its own: its thread may write it at each operation. Processors fetch lines in pairs.
#[repr(align(128))]
struct Apart<T>(T);

// SAFETY: as the value.
unsafe impl<T: Zeros> Zeros for Apart<T> {}

const FIRST: usize = 64;
/// Enough for all records that a process can have.
const PAGES: usize = 26;

// SAFETY: null pointers, and atomics.
unsafe impl<T: Zeros> Zeros for PerRecord<T> {}

impl<T: Zeros> PerRecord<T> {
    pub const fn new() -> PerRecord<T> {
        PerRecord([const { AtomicPtr::new(ptr::null_mut()) }; PAGES])
    }

    /// The value of the current thread: zeros, or as the record's last thread has left it. It is the thread's until the thread has ended.
    /// `None` without memory, and in models.
    #[cold]
    pub fn own(&'static self) -> Option<&'static T> {
        if cfg!(loom) {
            return None;
        }
        // A forked child has to free the records of its parent's threads.
        note_forks().ok()?;
        let place = own_record()?.number() + FIRST;
        let page = (place / FIRST).ilog2() as usize;
        self.page(page).or_else(|| self.grow(page))?.get(place - (FIRST << page)).map(|apart| &apart.0)
    }

    /// All values, of threads that have ended too.
    #[inline]
    pub fn all(&'static self) -> impl Iterator<Item = &'static T> {
        (0..PAGES).filter_map(|page| self.page(page)).flatten().map(|apart| &apart.0)
    }

    #[inline]
    fn page(&'static self, page: usize) -> Option<&'static [Apart<T>]> {
        // Acquire: with the Release of `grow`.
        let first = self.0[page].load(Ordering::Acquire);
        // SAFETY: null, or a mapping of so many zeroed values, which is never unmapped.
        (!first.is_null()).then(|| unsafe { std::slice::from_raw_parts(first, FIRST << page) })
    }

    fn grow(&'static self, page: usize) -> Option<&'static [Apart<T>]> {
        let values = map::<Apart<T>>(FIRST << page)?;
        if self.0[page].compare_exchange(ptr::null_mut(), values, Ordering::Release, Ordering::Relaxed).is_err() {
            unmap(values, FIRST << page);
        }
        self.page(page)
    }
}

/// Makes a value of zeros and stores it at `place`, unless there is one, without heap or lock. Returns the one there; `None` without memory.
pub fn map_at<T: Zeros>(place: &AtomicPtr<T>) -> Option<&'static T> {
    let new = map::<T>(1)?;
    let value = match place.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        Ok(_) => new,
        Err(there) => {
            unmap(new, 1);
            there
        }
    };
    // SAFETY: a mapping of a zeroed value, which is never unmapped.
    Some(unsafe { &*value })
}

fn map<T: Zeros>(number: usize) -> Option<*mut T> {
    const { assert!(mem::align_of::<T>() <= 4096) };
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE);
    // SAFETY: a new mapping, anywhere: it replaces none.
    let memory = unsafe { mmap_anonymous(ptr::null_mut(), number * size_of::<T>(), protection, flags) };
    memory.ok().map(<*mut _>::cast)
}

fn unmap<T: Zeros>(values: *mut T, number: usize) {
    // SAFETY: a mapping of `map`, which nobody has seen.
    let _ = unsafe { munmap(values.cast(), number * size_of::<T>()) };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::HashSet;
    use std::sync::Barrier;
    use std::thread;

    use super::*;

    static VALUES: PerRecord<AtomicPtr<u8>> = PerRecord::new();

    #[test]
    fn threads_that_live_together_have_values_of_their_own() {
        const THREADS: usize = if cfg!(miri) { 5 } else { 150 };
        let barrier = Barrier::new(THREADS);
        let own = || {
            let value = VALUES.own().unwrap();
            assert!(ptr::eq(value, VALUES.own().unwrap()));
            value.store(ptr::dangling_mut(), Ordering::Relaxed);
            barrier.wait();
            ptr::from_ref(value).addr()
        };
        let values: HashSet<_> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(own)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(values.len(), THREADS);
        let used = VALUES.all().filter(|value| !value.load(Ordering::Relaxed).is_null());
        assert!(used.count() >= THREADS);
    }

    #[test]
    #[cfg(not(miri))]
    fn threads_go_on_with_the_values_of_ended_ones() {
        for _ in 0..1000 {
            thread::spawn(|| VALUES.own().unwrap().store(ptr::dangling_mut(), Ordering::Relaxed)).join().unwrap();
        }
        // Other tests have threads at the same time.
        let used = VALUES.all().filter(|value| !value.load(Ordering::Relaxed).is_null());
        assert!(used.count() < 1000);
    }
}
