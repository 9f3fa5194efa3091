//! The `Some`, `Ok` and `Err` around a value. Each has one field, so they form a sequence, not a tree.

use std::fmt;

/// A variant that patterns know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    /// `Some(_)`
    Some = 1,
    /// `Ok(_)`
    Ok = 2,
    /// `Err(_)`
    Err = 3,
}

impl Variant {
    /// Returns the variant with this name.
    pub fn named(name: &str) -> Option<Variant> {
        match name {
            "Some" => Some(Variant::Some),
            "Ok" => Some(Variant::Ok),
            "Err" => Some(Variant::Err),
            _ => None,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// Up to [`Shell::DEPTH`] variants, one around the other: two bits each, the outermost in the lowest, 0 behind the last.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Shell(u64);

impl Shell {
    /// The most variants.
    pub const DEPTH: usize = 32;
    /// No variant.
    pub const EMPTY: Shell = Shell(0);

    /// Puts `variant` around. Returns `None` if there are [`DEPTH`](Shell::DEPTH) variants already.
    #[inline]
    pub fn within(self, variant: Variant) -> Option<Shell> {
        (self.0 >> 62 == 0).then_some(Shell(self.0 << 2 | variant as u64))
    }

    /// Returns the outermost variant and the rest.
    #[inline]
    pub fn outermost(self) -> Option<(Variant, Shell)> {
        let variant = match self.0 & 3 {
            1 => Variant::Some,
            2 => Variant::Ok,
            3 => Variant::Err,
            _ => return None,
        };
        Some((variant, Shell(self.0 >> 2)))
    }

    /// Returns the variants, the outermost first.
    pub fn variants(self) -> impl Iterator<Item = Variant> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let (variant, inside) = rest.outermost()?;
            rest = inside;
            Some(variant)
        })
    }

    /// Removes the outermost variants `outer`. Returns `None` if the value has others.
    #[inline]
    pub fn strip(self, outer: Shell) -> Option<Shell> {
        let bits = (u64::BITS - outer.0.leading_zeros()).next_multiple_of(2);
        let (mask, rest) = match 1u64.checked_shl(bits) {
            Some(behind) => (behind - 1, self.0 >> bits),
            None => (u64::MAX, 0),
        };
        (self.0 & mask == outer.0).then_some(Shell(rest))
    }
}

impl fmt::Debug for Shell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.variants()).finish()
    }
}
