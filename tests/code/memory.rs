//! The test program's allocator, which aborts when it is passed memory of another allocator.

use std::alloc::{GlobalAlloc, Layout, System};

/// The mark behind each block of this allocator.
const MARK: [u8; 8] = *b"dyntest\n";

struct Marking;

#[global_allocator]
static ALLOCATOR: Marking = Marking;

fn with_mark(of: Layout) -> Layout {
    Layout::from_size_align(of.size() + MARK.len(), of.align()).expect("tests need no more memory than there is")
}

/// Whether a block of this size belongs to this allocator.
pub fn is_own(at: *const u8, size: usize) -> bool {
    // SAFETY: each block of this allocator has a mark there. Behind another's block memory is readable in practice, and the test
    // fails.
    unsafe { at.add(size).cast::<[u8; 8]>().read_unaligned() == MARK }
}

// SAFETY: blocks are the system's, with extra bytes for the mark.
unsafe impl GlobalAlloc for Marking {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises; the mark lies behind the caller's bytes.
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
        // SAFETY: it was allocated with this layout; its mark is erased, so that a second release fails.
        unsafe {
            at.add(layout.size()).cast::<[u8; 8]>().write_unaligned([0; 8]);
            System.dealloc(at, with_mark(layout));
        }
    }
}
