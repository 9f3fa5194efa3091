//! A token packed into two words.

use super::{Flags, Label, Serial};

/// A token without a label that is not a 32-bit number, or no token.
///
/// Whole words are copied at once. Fields that are written one by one and then read as words, as by a channel, would stall until the
/// writes reach memory.
#[derive(Clone, Copy, Debug)]
pub struct Packed([u64; 2]);

/// Set in the first word of each token.
const PRESENT: u64 = 1 << 7;

/// The bits of an era that fit.
const ERA: u32 = (1 << 24) - 1;

impl Packed {
    pub const NOTHING: Packed = Packed::nothing(Serial { previous: 0, current: 0 });

    /// No token, only counts.
    pub(super) const fn nothing(serial: Serial) -> Packed {
        Packed([0, word(serial)])
    }

    pub(super) fn new(label: &Label, era: u32, flags: Flags, serial: Serial) -> Packed {
        let label = u64::from(label.shown().cast_unsigned());
        Packed([label << 32 | u64::from(era & ERA) << 8 | PRESENT | u64::from(flags.bits()), word(serial)])
    }

    /// Whether there is a token.
    #[inline]
    pub(super) fn is_some(&self) -> bool {
        self.0[0] != 0
    }

    /// Whether there is a token, and of this era.
    #[inline]
    pub fn is_of(&self, era: u32) -> bool {
        self.is_some() && (self.0[0] >> 8) as u32 & ERA == era & ERA
    }

    /// The label as probes show it.
    #[inline]
    pub(super) fn label(&self) -> i32 {
        (self.0[0] >> 32) as i32
    }

    #[inline]
    pub(super) fn flags(&self) -> Flags {
        Flags::from_bits_retain((self.0[0] & (PRESENT - 1)) as u8)
    }

    #[inline]
    pub(super) fn serial(&self) -> Serial {
        Serial { previous: (self.0[1] >> 32) as u32, current: self.0[1] as u32 }
    }

    #[inline]
    pub(super) fn set_serial(&mut self, serial: Serial) {
        self.0[1] = word(serial);
    }

    /// Copies the token of another one, or that there is none, but not its counts.
    #[inline]
    pub(super) fn set_token(&mut self, other: &Packed) {
        self.0[0] = other.0[0];
    }

    /// The token as probes show it: label, previous and current count; zeros without a token of this era.
    #[inline]
    pub fn shown(&self, era: u32) -> (i32, i32, i32) {
        let Serial { previous, current } = self.serial();
        if self.is_of(era) { (self.label(), previous.cast_signed(), current.cast_signed()) } else { (0, 0, 0) }
    }
}

#[inline]
const fn word(Serial { previous, current }: Serial) -> u64 {
    (previous as u64) << 32 | current as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_token_is_what_it_was() {
        for (label, flags) in
            [(0, Flags::empty()), (-1, Flags::all()), (i32::MIN, Flags::SEND), (i32::MAX, Flags::PRINT)]
        {
            let serial = Serial { previous: u32::MAX, current: 7 };
            let packed = Packed::new(&label.into(), 3, flags, serial);
            assert_eq!((packed.label(), packed.flags(), packed.serial()), (label, flags, serial));
            assert_eq!(packed.shown(3), (label, -1, 7));
            assert!(packed.is_of(3) && !packed.is_of(4));
            assert_eq!(packed.shown(4), (0, 0, 0));
        }
        assert!(!Packed::NOTHING.is_some() && !Packed::NOTHING.is_of(0));
    }
}
