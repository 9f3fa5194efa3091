//! The cost of `p!` and `s1` for their program. Tests with tracers check their output.
//!
//! The probes' words are accessible by name, so a test can act as a tracer.
#![cfg(all(
    not(dyntrace_without_probes),
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "x86", target_arch = "aarch64")
))]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU16, Ordering};

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: passes all calls on to the system's allocator, and keeps its contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller keeps the contract of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the memory comes from `alloc`, and so from `System`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(of: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.get();
    of();
    ALLOCATIONS.get() - before
}

unsafe extern "C" {
    #[link_name = "__dyntrace_word_dyntrace.user_trace__i4s4"]
    static I4S4: [AtomicU16; 2];
    #[link_name = "__dyntrace_word_dyntrace.user_trace__s1"]
    static S1: [AtomicU16; 2];
}

/// Increments the semaphore like a tracer, and decrements it when dropped.
struct Look(&'static AtomicU16);

impl Look {
    fn at(word: &'static [AtomicU16; 2]) -> Look {
        word[0].fetch_add(1, Ordering::Relaxed);
        Look(&word[0])
    }
}

impl Drop for Look {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn arguments_are_evaluated_only_while_a_tracer_looks_and_firing_allocates_nothing() {
    let mut evaluated = 0;
    let mut next = || {
        evaluated += 1;
        evaluated
    };
    dyntrace::p!(next(), "text");
    assert_eq!(next(), 1, "evaluated though nobody looks");

    // SAFETY: each word is two aligned u16, lives as long as the program, and is only changed atomically.
    let _looks = unsafe { [Look::at(&I4S4), Look::at(&S1)] };
    dyntrace::put_tag("some-user-tag").unwrap();
    let text = String::from("text");
    let count = allocations(|| {
        dyntrace::p!(next(), next(), next(), next(), &text, "b", c"c", text.as_bytes());
        dyntrace::user_trace::s1(&text);
    });
    assert_eq!(evaluated, 5);
    assert_eq!(count, 0);
    assert_eq!(allocations(|| drop(text.clone())), 1, "the counter counts");
}
