//! A site's word that another process has marked: the next call of the function opens the control socket
//! ([`request`](mod@crate::recorder::control)).
//!
//! The mark is the last byte of the word, which is zero in every address that Linux gives to a program: so a marked word still holds its
//! breakpoint, and an untraced function needs no further check of its word.
//!
//! - The asking process writes that byte alone. A byte is never torn, and no store of this process is lost by it: not a breakpoint that a
//!   setting publishes at the same moment, and not one that it removes. Such a store may overwrite the mark; the asking process writes it
//!   again until it can connect. Two asking processes write the same.
//! - A call that finds a mark takes it back by compare-and-swap, which keeps the breakpoint, and goes on as if it had found none. A mark
//!   at each other site stays until a call of that, which finds the socket open, or until a setting writes the word: so the asking process
//!   may end at any point.
//! - Only sites of the program's own file are marked. A library or a module may be unmapped before the byte is written, which would then
//!   land in other memory.
//!
//! Only words of 64 bits have such a byte. In addresses of a heap with hardware tags (MTE, HWASan) it is the tag: the asking process leaves
//! a word alone whose byte is neither zero nor the mark.

use dyntrace_probes::primitives::atomic::Ordering;

use super::Site;

/// Whether words can be marked.
const CAN_BE_ASKED: bool =
    cfg!(all(any(recorded, loom), target_os = "linux", target_pointer_width = "64", target_endian = "little"));

/// The mark, in the last byte of the word.
const MARK: usize = 1 << (usize::BITS - 1);

/// Where the asking process writes in each site: the size of a site, the place of the byte in it, and the byte.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct SiteMark {
    /// The distance of sites in their section.
    pub stride: usize,
    /// The place of the byte.
    pub at: usize,
    /// The byte.
    pub byte: u8,
}

/// For 64-bit programs.
#[doc(hidden)]
pub const SITE_MARK: SiteMark = SiteMark { stride: 16, at: 7, byte: 0x80 };

#[cfg(not(loom))]
const _: () =
    assert!(!CAN_BE_ASKED || (size_of::<Site>() == SITE_MARK.stride && MARK == (SITE_MARK.byte as usize) << 56));

/// A word was found marked.
#[derive(Debug)]
pub(crate) struct Asked;

/// Returns the breakpoint's address in the word, null if there is none.
#[inline(always)]
pub(crate) fn unmarked(word: *mut ()) -> *mut () {
    if CAN_BE_ASKED { word.map_addr(|address| address & !MARK) } else { word }
}

/// Returns the breakpoint's address in a word that is not marked.
#[inline(always)]
pub(crate) fn if_unmarked(word: *mut ()) -> Result<*mut (), Asked> {
    if CAN_BE_ASKED && word.addr() & MARK != 0 { Err(Asked) } else { Ok(word) }
}

impl Site {
    /// Takes the mark back. Returns `true` to the one thread that does.
    pub(crate) fn take_mark(&self) -> bool {
        let mut word = self.word().load(Ordering::Relaxed);
        while if_unmarked(word).is_err() {
            // AcqRel: a thread that reads the breakpoint here sees it as `Bp::publish` left it.
            match self.word().compare_exchange(word, unmarked(word), Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return true,
                Err(other) => word = other,
            }
        }
        false
    }

    /// Marks it, as another process does.
    #[cfg(test)]
    pub(crate) fn mark(&self) {
        let mut word = self.word().load(Ordering::Relaxed);
        let marked = |word: *mut ()| word.map_addr(|address| address | MARK);
        while let Err(other) = self.word().compare_exchange(word, marked(word), Ordering::Relaxed, Ordering::Relaxed) {
            word = other;
        }
    }
}

#[cfg(all(recorded, test, target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod tests {
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicU8};
    use std::thread;

    use super::*;
    use crate::breakpoint::site::Function;

    const FUNCTION: &Function = &Function::new("asked::function/0", "", 0, &[]);

    #[test]
    fn one_thread_takes_a_mark_and_the_breakpoint_stays() {
        let site = Site::new(FUNCTION);
        for breakpoint in [ptr::null_mut(), ptr::without_provenance_mut(0x7fff_ffff_ffff_ff00)] {
            site.word().store(breakpoint, Ordering::Relaxed);
            assert!(!site.take_mark());
            site.mark();
            assert!(site.is_set() && if_unmarked(site.word().load(Ordering::Relaxed)).is_err());
            assert!(site.take_mark() && !site.take_mark());
            assert_eq!(site.word().load(Ordering::Relaxed), breakpoint);
        }
    }

    /// The setting stores whole words; the other process stores bytes; calls take marks back.
    #[test]
    fn no_breakpoint_is_lost_by_a_mark() {
        let (site, is_over) = (Site::new(FUNCTION), AtomicBool::new(false));
        // SAFETY: a byte of the word, which lives until the threads have ended.
        let byte = unsafe { AtomicU8::from_ptr(site.word().as_ptr().cast::<u8>().add(SITE_MARK.at)) };
        let while_set = |act: &dyn Fn()| {
            while !is_over.load(Ordering::Relaxed) {
                act();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| while_set(&|| byte.store(SITE_MARK.byte, Ordering::Relaxed)));
            scope.spawn(|| while_set(&|| _ = site.take_mark()));
            for number in 0..200_000 {
                let breakpoint = ptr::without_provenance_mut::<()>(number % 3 * 0x1234_5678_9ab0);
                site.word().store(breakpoint, Ordering::Release);
                assert_eq!(unmarked(site.word().load(Ordering::Relaxed)), breakpoint);
            }
            is_over.store(true, Ordering::Relaxed);
        });
    }
}
