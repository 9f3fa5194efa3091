//! Values of arguments, as filters see them.

use crate::text::{Name, Numbered};

/// The value of one argument of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// A signed integer of 32 bits.
    I32(i32),
    /// An unsigned integer of 32 bits.
    U32(u32),
    /// A signed integer of 64 bits.
    I64(i64),
    /// An unsigned integer of 64 bits.
    U64(u64),
    /// A string, without the NUL at its end. An absent one is empty.
    Text(&'a [u8]),
    /// A string generated from a number.
    Name(Name),
    /// The same, of any length.
    Numbered(Numbered),
}

impl Field<'_> {
    pub fn number(self) -> Option<i128> {
        match self {
            Field::I32(number) => Some(number.into()),
            Field::U32(number) => Some(number.into()),
            Field::I64(number) => Some(number.into()),
            Field::U64(number) => Some(number.into()),
            Field::Text(_) | Field::Name(_) | Field::Numbered(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_each_type_are_compared_by_value() {
        assert_eq!(Field::U64(u64::MAX).number(), Some(u64::MAX.into()));
        assert_eq!(Field::I64(-1).number(), Some(-1));
        assert_ne!(Field::U64(u64::MAX).number(), Field::I64(-1).number());
    }
}
