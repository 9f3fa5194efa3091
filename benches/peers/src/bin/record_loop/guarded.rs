//! The floor of an event that a signal handler may interrupt to record its own, and that a reader finds whole or not at all.
//!
//! As the [floor](super::floor), and besides: an event reserves its bytes by one instruction that a handler cannot interrupt, a compare and
//! exchange without a lock; at its end it stores the size up to which readers read, and takes back its mark by one more such instruction.
//! There is nothing for the end of a packet, for filters, for several sessions, or for events within events: nothing interrupts this loop.

use std::arch::asm;
use std::cell::Cell;
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, Release};

use crate::floor::{Bytes, cycles};
use crate::payload::{Entry, Fire};

const RING: u64 = 1 << 20;
/// Room for the longest event after the end.
const SLACK: u64 = 4096;
/// The mark of an event that is not complete.
const MARK: u64 = 1 << 56;

pub struct Guarded;

struct Ring {
    /// The position, and the mark.
    word: AtomicU64,
    /// The bytes that readers read.
    size: AtomicU64,
    bytes: *mut u8,
}

thread_local! {
    static RING_OF_THREAD: Cell<*const Ring> = const { Cell::new(ptr::null()) };
}

impl Ring {
    #[inline(always)]
    fn of_this_thread() -> &'static Ring {
        // SAFETY: null, or a leaked ring.
        match unsafe { RING_OF_THREAD.get().as_ref() } {
            Some(ring) => ring,
            None => Ring::first(),
        }
    }

    #[cold]
    fn first() -> &'static Ring {
        let bytes = Box::leak(vec![0; (RING + SLACK) as usize].into_boxed_slice()).as_mut_ptr();
        let ring = Box::leak(Box::new(Ring { word: AtomicU64::new(0), size: AtomicU64::new(0), bytes }));
        RING_OF_THREAD.set(ring);
        ring
    }

    /// Reserves `length` bytes, fewer than [`SLACK`], after the number and the time of the event, and has `put` write them.
    #[inline(always)]
    fn record(&self, id: u16, length: usize, put: impl FnOnce(Reserved)) {
        let length = 10 + length as u64;
        assert!(length < SLACK, "no event is that long");
        let (position, time) = loop {
            let word = self.word.load(Relaxed);
            let position = if word < RING { word } else { 0 };
            let time = cycles();
            if exchange(&self.word, word, (position + length) | MARK) {
                break (position, time);
            }
        };
        // SAFETY: an event begins before RING and is shorter than the slack. Its bytes were reserved for it.
        let mut bytes = Reserved { at: unsafe { self.bytes.add(position as usize) } };
        bytes.put(&id.to_ne_bytes());
        bytes.put(&time.to_ne_bytes());
        put(bytes);
        self.size.store(position + length, Release);
        take_back(&self.word);
    }
}

/// The rest of an event's bytes.
struct Reserved {
    at: *mut u8,
}

impl Bytes for Reserved {
    #[inline(always)]
    fn put(&mut self, bytes: &[u8]) {
        // SAFETY: `record` has reserved the event's length, which its caller has computed from the same parts.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), self.at, bytes.len());
            self.at = self.at.add(bytes.len());
        }
    }
}

impl Fire for Guarded {
    #[inline(always)]
    fn one(value: i64) {
        Ring::of_this_thread().record(0, 8, |mut event| event.put(&value.to_ne_bytes()));
    }

    #[inline(always)]
    fn entry(entry: &Entry<'_>) {
        let texts = [entry.user_tag, entry.s1, entry.s2, entry.port];
        let length = 3 * 4 + 4 * 8 + texts.map(|text| text.len() + 1).iter().sum::<usize>();
        Ring::of_this_thread().record(1, length, |mut event| event.put_entry(entry));
    }
}

/// Stores `new` if `word` is `current`.
#[inline(always)]
fn exchange(word: &AtomicU64, current: u64, new: u64) -> bool {
    // SAFETY: `word` is 8 aligned bytes that may change behind a shared reference.
    unsafe {
        asm!(
            "cmpxchg qword ptr [{word}], {new}",
            "jne {other}",
            word = in(reg) word.as_ptr(),
            new = in(reg) new,
            inout("rax") current => _,
            other = label { return false },
            options(nostack),
        );
    }
    true
}

#[inline(always)]
fn take_back(word: &AtomicU64) {
    // SAFETY: as above.
    unsafe {
        asm!("sub qword ptr [{word}], {mark}", word = in(reg) word.as_ptr(), mark = in(reg) MARK, options(nostack))
    };
}
