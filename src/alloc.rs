//! An allocator that counts the allocations of each thread, for the action `memory` of [trace patterns](crate::trace::Pattern).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated. A constant without a destructor: counting takes no memory, at any time of the thread.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Wraps an allocator, and counts the bytes that each thread allocates. Each allocation costs one addition to a thread-local word, traced
/// or not.
///
/// If it is the program's global allocator, the action `memory` of [patterns](crate::trace::Pattern) counts the memory that traced
/// functions allocate, as Erlang's `call_memory` does:
///
/// - A block counts with its whole size, a block that grows with the difference. Freed memory is not subtracted.
/// - All allocations of the calling thread through this allocator count. Those of other threads do not, nor does memory from C code or
///   the kernel.
/// - Allocations of tracing itself, such as in the `Debug` of printed arguments, do not count.
///
/// [Modules](crate::code) allocate from the program, so the allocations of their functions count, too. Counts on Linux, macOS, FreeBSD,
/// NetBSD, illumos and Solaris; elsewhere it is always 0.
///
/// ```
/// use dyntrace::alloc::Counting;
/// use dyntrace::trace::{Limits, Session};
///
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting::system();
///
/// #[dyntrace::traced]
/// fn invoice(lines: usize) -> Vec<u64> {
///     let mut numbers = Vec::with_capacity(lines);
///     numbers.extend(prices(lines));
///     numbers
/// }
///
/// #[dyntrace::traced]
/// fn prices(lines: usize) -> Vec<u64> {
///     vec![7; lines]
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let session = Session::start(Limits::default(), |_| ())?;
/// for function in ["invoice", "prices"] {
///     session.set(&format!("**::{function} do silent, memory")).await?;
/// }
/// invoice(100);
/// let counts = session.counts();
/// let memory = counts[0].memory.expect("the pattern asks for it");
/// assert_eq!((memory.bytes, memory.own_bytes), (1600, 800));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Counting<A = System>(A);

impl Counting {
    /// Wraps the system's allocator, the default of programs.
    pub const fn system() -> Counting {
        Counting(System)
    }
}

impl<A> Counting<A> {
    /// Wraps another allocator.
    pub const fn new(allocator: A) -> Counting<A> {
        Counting(allocator)
    }
}

/// Adds to the thread's count.
#[inline(always)]
fn count(bytes: usize) {
    // On other systems the first access may allocate.
    if cfg!(any(
        target_os = "linux",
        target_os = "macos",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "illumos",
        target_os = "solaris"
    )) {
        ALLOCATED.with(|allocated| allocated.set(allocated.get().wrapping_add(bytes as u64)));
    }
}

// SAFETY: each function forwards to the wrapped allocator. Counting takes no memory and does not panic: the word has no destructor.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: as the caller promises.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { self.0.dealloc(at, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size.saturating_sub(layout.size()));
        // SAFETY: as the caller promises.
        unsafe { self.0.realloc(at, layout, size) }
    }
}

/// Returns how many bytes this thread has allocated.
#[inline]
pub(crate) fn allocated() -> u64 {
    ALLOCATED.get()
}

/// Removes this thread's allocations since `allocated` was read from its count.
#[inline]
pub(crate) fn forget_since(allocated: u64) {
    ALLOCATED.set(allocated);
}

/// Returns whether the program's allocator counts.
pub(crate) fn counts() -> bool {
    let before = allocated();
    drop(std::hint::black_box(Box::new(0_u64)));
    let counts = allocated() != before;
    forget_since(before);
    counts
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::trace::{Error, Limits, Session};

    #[test]
    fn requested_bytes_are_counted() {
        let (allocator, layout) = (Counting::new(Counting::system()), Layout::new::<[u64; 10]>());
        let before = allocated();
        // SAFETY: the sizes are not zero, and each block is used with its last layout.
        unsafe {
            let at = allocator.alloc(layout);
            assert_eq!(allocated() - before, 160, "twice, since it wraps another one");
            let at = allocator.realloc(at, layout, 100);
            assert_eq!(allocated() - before, 200);
            let at = allocator.realloc(at, Layout::new::<[u8; 100]>().align_to(8).unwrap(), 8);
            allocator.dealloc(at, Layout::new::<u64>());
            assert_eq!(allocated() - before, 200, "nothing is subtracted");
            let at = allocator.alloc_zeroed(layout);
            allocator.dealloc(at, layout);
        }
        assert_eq!(allocated() - before, 360);
        forget_since(before);
        assert_eq!(allocated(), before);
    }

    /// The allocator of this program does not count.
    #[tokio::test]
    async fn memory_of_other_allocators_is_refused() {
        let session = Session::start(Limits::default(), |_| ()).unwrap();
        let error = session.set_default("nothing::yet do memory").await.unwrap_err();
        assert!(matches!(error, Error::NotCounting), "{error}");
        assert!(error.to_string().contains("make `dyntrace::alloc::Counting` its global allocator"), "{error}");
        let other = session.set_default("nothing::yet do silent, time").await.unwrap();
        assert!(matches!(session.update(other.id, "nothing::yet do memory").await, Err(Error::NotCounting)));
        assert_eq!(session.info().patterns[0].pattern, "nothing::yet do silent, time");
    }
}
