//! The `Some`, `Ok` and `Err` around a value. Each has one field, so they are a row and no tree.

use std::fmt;

/// One of the variants that patterns know.
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
    /// Returns the variant of this name.
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
    /// How many variants there can be.
    pub const DEPTH: usize = 32;
    /// Nothing is around.
    pub const EMPTY: Shell = Shell(0);

    /// This row with `variant` around it, or `None` if it is as long as can be.
    #[inline]
    pub fn within(self, variant: Variant) -> Option<Shell> {
        (self.0 >> 62 == 0).then_some(Shell(self.0 << 2 | variant as u64))
    }

    /// The outermost variant, and what is inside of it.
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

    /// From the outermost to the innermost.
    pub fn variants(self) -> impl Iterator<Item = Variant> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let (variant, inside) = rest.outermost()?;
            rest = inside;
            Some(variant)
        })
    }

    /// What is left when `outer` is taken off, or `None` if these are not the outermost.
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
