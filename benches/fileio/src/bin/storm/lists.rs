//! An allocator without locks on its way: each thread keeps freed memory in lists of its own, for itself.
//!
//! The locks of the system's allocator have threads wait for others that lost their processor. Such waits are not those of file operations,
//! with whose times they would be mixed up.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr;

/// Sizes up to 2^17, with 2^4 as the first.
const LISTS: usize = 14;
const FIRST: u32 = 4;

pub struct Lists;

struct Free {
    next: *mut Free,
}

thread_local! {
    static FREE: [Cell<*mut Free>; LISTS] = const { [const { Cell::new(ptr::null_mut()) }; LISTS] };
}

/// The list for a layout, if there is one.
fn list(layout: Layout) -> Option<usize> {
    let bits = layout.size().max(1 << FIRST).next_power_of_two().ilog2();
    let list = (bits - FIRST) as usize;
    (list < LISTS && layout.align() <= 16).then_some(list)
}

fn whole(list: usize) -> Layout {
    Layout::from_size_align(1 << (list as u32 + FIRST), 16).expect("the sizes are small")
}

// SAFETY: memory comes from the system, whole for its list, and is in one list or in use. A thread's lists are its own.
unsafe impl GlobalAlloc for Lists {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let Some(list) = list(layout) else {
            // SAFETY: as the caller promises.
            return unsafe { System.alloc(layout) };
        };
        let taken = FREE.try_with(|free| {
            let first = free[list].get();
            if !first.is_null() {
                // SAFETY: `dealloc` has put it there.
                free[list].set(unsafe { (*first).next });
            }
            first
        });
        match taken {
            Ok(first) if !first.is_null() => first.cast(),
            // SAFETY: the size is not 0.
            _ => unsafe { System.alloc(whole(list)) },
        }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        let Some(list) = list(layout) else {
            // SAFETY: `alloc` got it so.
            return unsafe { System.dealloc(memory, layout) };
        };
        let kept = FREE.try_with(|free| {
            let first = memory.cast::<Free>();
            // SAFETY: nothing uses the memory, which has room for a pointer and is aligned for it.
            unsafe { first.write(Free { next: free[list].get() }) };
            free[list].set(first);
        });
        if kept.is_err() {
            // SAFETY: `alloc` got it so.
            unsafe { System.dealloc(memory, whole(list)) };
        }
    }
}
