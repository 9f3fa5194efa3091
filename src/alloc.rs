//! An allocator that counts what each thread allocates, for the action `memory` of [trace patterns](crate::trace::Pattern).

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    /// Bytes that this thread has allocated. Without a destructor and made by the compiler: to count needs no memory, at any time of
    /// the thread.
    static ALLOCATED: Cell<u64> = const { Cell::new(0) };
}

/// Wraps a program's allocator, and counts the bytes that each thread asks it for. It costs one addition to a word of the thread for
/// each allocation, whether anybody traces or not.
///
/// A program that makes it its global allocator can be asked how much memory its traced functions allocate, by the action `memory` of
/// [patterns](crate::trace::Pattern), as Erlang's `call_memory` does:
///
/// - A block counts with its whole size, a block that grows by what it grows. Nothing is subtracted for memory that is freed.
/// - What the thread allocates through this allocator is counted, by whichever code: not what other threads allocate meanwhile, nor
///   memory that C code or the kernel gives.
/// - What tracing itself allocates, such as in the `Debug` of arguments that it prints, is not counted.
///
/// [Modules](crate::code) take their memory from the program, so that what their functions allocate is counted, too. It counts on Linux,
/// macOS, FreeBSD, NetBSD, illumos and Solaris.
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
    /// Wraps the system's allocator, which is that of programs that name none.
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

/// Adds to what the thread has allocated.
#[inline(always)]
fn count(bytes: usize) {
    // Elsewhere it may take memory to use such a word.
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

// SAFETY: each function is that of the wrapped allocator. Counting takes no memory, and does not panic: the word has no destructor.
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

/// What this thread has allocated, in bytes.
#[inline]
pub(crate) fn allocated() -> u64 {
    ALLOCATED.get()
}

/// Has this thread's allocations not counted from the time when `allocated` was read.
#[inline]
pub(crate) fn forget_since(allocated: u64) {
    ALLOCATED.set(allocated);
}

/// Whether the program's allocator counts.
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
    fn what_is_asked_for_counts() {
        let (allocator, layout) = (Counting::new(Counting::system()), Layout::new::<[u64; 10]>());
        let before = allocated();
        // SAFETY: the sizes are not zero, and each block is used as it was had last.
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
