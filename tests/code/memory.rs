//! An allocator of the test program's own, which ends the program when it is given back memory of another one.

use std::alloc::{GlobalAlloc, Layout, System};

/// Stands behind each block that is this allocator's.
const MARK: [u8; 8] = *b"dyntest\n";

struct Marking;

#[global_allocator]
static ALLOCATOR: Marking = Marking;

fn with_mark(of: Layout) -> Layout {
    Layout::from_size_align(of.size() + MARK.len(), of.align()).expect("tests need no more memory than there is")
}

/// Whether a block with this size is this allocator's.
pub fn is_own(at: *const u8, size: usize) -> bool {
    // SAFETY: each block of this allocator has a mark there. Of another one's block what is behind it may be read in practice, and
    // the program ends.
    unsafe { at.add(size).cast::<[u8; 8]>().read_unaligned() == MARK }
}

// SAFETY: blocks are the system's, with some bytes more.
unsafe impl GlobalAlloc for Marking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises; the mark lies behind what the caller has.
        unsafe {
            let at = System.alloc(with_mark(layout));
            if !at.is_null() {
                at.add(layout.size()).cast::<[u8; 8]>().write_unaligned(MARK);
            }
            at
        }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if !is_own(at, layout.size()) {
            eprintln!("memory of another allocator is given back: {} bytes", layout.size());
            std::process::abort();
        }
        // SAFETY: it was allocated with this layout; its mark goes, so that nobody gives it back twice.
        unsafe {
            at.add(layout.size()).cast::<[u8; 8]>().write_unaligned([0; 8]);
            System.dealloc(at, with_mark(layout));
        }
    }
}
