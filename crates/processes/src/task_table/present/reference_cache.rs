//! The references that a thread has found, so that the waits of threads do not meet at the lock of the texts.

use std::cell::Cell;
use std::ptr;

use super::texts::Constant;

/// A power of two.
const NUMBER: usize = 16;

thread_local! {
    /// By some bits of the addresses: a newer one takes the place of an older one.
    static CACHE: [Cell<CachedReference>; NUMBER] = const { [const { Cell::new(CachedReference::NONE) }; NUMBER] };
}

#[derive(Clone, Copy)]
struct CachedReference {
    /// The table: a forked child may start another one.
    table: *const (),
    constant: Constant,
    reference: u32,
}

impl CachedReference {
    const NONE: CachedReference =
        CachedReference { table: ptr::null(), constant: (ptr::null(), 0, ptr::null()), reference: 0 };
}

/// Returns the reference of `constant` in a table that is never freed, or asks `find` for it: 0 is not kept.
pub(super) fn reference(table: *const (), constant: Constant, find: impl FnOnce() -> u32) -> u32 {
    let (text, _, place) = constant;
    // The factor spreads addresses that are near each other to the high bits.
    let spread = (text.addr() ^ place.addr()) as u64;
    let slot = (spread.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (u64::BITS - NUMBER.ilog2())) as usize;
    CACHE.with(|known| {
        let known = &known[slot];
        let last = known.get();
        if ptr::eq(last.table, table) && last.constant == constant {
            return last.reference;
        }
        let reference = find();
        if reference != 0 {
            known.set(CachedReference { table, constant, reference });
        }
        reference
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_is_asked_for_once_unless_there_is_none() {
        let (one, other) = (ptr::without_provenance(8), ptr::without_provenance(16));
        let text = "a name";
        let constant = (text.as_ptr(), text.len(), ptr::null());
        let never = || unreachable!("it is known");
        assert_eq!(reference(one, constant, || 0), 0);
        assert_eq!(reference(one, constant, || 17), 17);
        assert_eq!(reference(one, constant, never), 17);
        // Another table, and another text at the same address.
        assert_eq!(reference(other, constant, || 18), 18);
        assert_eq!(reference(other, (text.as_ptr(), 1, ptr::null()), || 19), 19);
        assert_eq!(reference(other, constant, || 20), 20);
    }
}
