//! A counting allocator, which measures the memory that a peer makes this process hold.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Bytes that this thread has allocated and not freed.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
}

fn count(bytes: isize) {
    // An ending thread has no counter any more, and no reader of it.
    let _ = HELD.try_with(|held| {
        held.set(held.get() + bytes);
        let _ = MOST.try_with(|most| most.set(most.get().max(held.get())));
    });
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

// SAFETY: every call goes to the system's allocator with the caller's arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller keeps the same contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as above; `pointer` came from `System`.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both blocks exist while the bytes are copied.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// Returns the bytes that this thread holds. On a `current_thread` runtime, these include the node's.
pub fn now() -> isize {
    HELD.with(Cell::get)
}

/// Resets the peak to the current value.
pub fn reset_most() {
    MOST.with(|most| most.set(now()));
}

/// Returns the peak of this thread's bytes since [`reset_most`].
pub fn most() -> isize {
    MOST.with(Cell::get)
}
