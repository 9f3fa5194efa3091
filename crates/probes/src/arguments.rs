//! Collects the arguments of `dyntrace::p!`. The type counts them, so that one too many, or an integer after a string, does not compile.

use std::marker::PhantomData;

use crate::text::Text;

/// The arguments of `p!` so far; `Given` is `Integers` or `Strings`.
pub struct Arguments<'a, Given> {
    values: Values<'a>,
    given: PhantomData<Given>,
}

/// `COUNT` integers, and no string.
pub struct Integers<const COUNT: usize>;

/// `COUNT` strings, after any integers.
pub struct Strings<const COUNT: usize>;

/// The given arguments, and zeros and null pointers for the rest.
pub struct Values<'a> {
    pub integers: [i64; 4],
    pub strings: [Text<'a>; 4],
}

impl<'a> Arguments<'a, Integers<0>> {
    /// No arguments.
    pub fn none() -> Self {
        let values = Values { integers: [0; 4], strings: [Text::NULL; 4] };
        Arguments { values, given: PhantomData }
    }
}

impl<'a, Given> Arguments<'a, Given> {
    /// Adds an argument.
    pub fn and<A: Argument<'a, Given>>(mut self, argument: A) -> Arguments<'a, A::Then> {
        argument.put(&mut self.values);
        Arguments { values: self.values, given: PhantomData }
    }

    /// All of them.
    pub fn values(self) -> Values<'a> {
        self.values
    }
}

/// A value that may follow the arguments in `Given`.
#[diagnostic::on_unimplemented(
    message = "`p!` cannot take a value of type `{Self}` here",
    label = "not an argument, or not in its place",
    note = "`p!` takes up to four integers of at most 64 bits, then up to four strings (`Into<dyntrace::sdt::Text>`)"
)]
pub trait Argument<'a, Given> {
    /// `Given` with this argument.
    type Then;

    fn put(self, values: &mut Values<'a>);
}

#[diagnostic::on_unimplemented(
    message = "`p!` cannot take an integer here",
    label = "a fifth integer, or an integer after a string",
    note = "`p!` takes up to four integers, then up to four strings"
)]
pub trait RoomForInteger {
    const AT: usize;
    type Then;
}

#[diagnostic::on_unimplemented(
    message = "`p!` cannot take a fifth string",
    label = "the fifth string",
    note = "`p!` takes up to four integers, then up to four strings"
)]
pub trait RoomForString {
    const AT: usize;
    type Then;
}

macro_rules! room_for_integer {
    ($($at:literal)*) => {$(
        impl RoomForInteger for Integers<$at> {
            const AT: usize = $at;
            type Then = Integers<{ $at + 1 }>;
        }
    )*};
}
room_for_integer!(0 1 2 3);

impl<const COUNT: usize> RoomForString for Integers<COUNT> {
    const AT: usize = 0;
    type Then = Strings<1>;
}

macro_rules! room_for_string {
    ($($at:literal)*) => {$(
        impl RoomForString for Strings<$at> {
            const AT: usize = $at;
            type Then = Strings<{ $at + 1 }>;
        }
    )*};
}
room_for_string!(1 2 3);

macro_rules! integer {
    ($($integer:ty)*) => {$(
        impl<'a, Given: RoomForInteger> Argument<'a, Given> for $integer {
            type Then = Given::Then;

            fn put(self, values: &mut Values<'a>) {
                values.integers[Given::AT] = self as i64;
            }
        }
    )*};
}
integer!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

impl<'a, Given: RoomForString, T: Into<Text<'a>>> Argument<'a, Given> for T {
    type Then = Given::Then;

    fn put(self, values: &mut Values<'a>) {
        values.strings[Given::AT] = self.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown<Given>(arguments: Arguments<'_, Given>) -> ([i64; 4], String) {
        (arguments.values.integers, format!("{:?}", arguments.values.strings))
    }

    #[test]
    fn missing_arguments_are_zero_or_null() {
        assert_eq!(shown(Arguments::none()), ([0; 4], "[NULL, NULL, NULL, NULL]".to_owned()));
        assert_eq!(shown(Arguments::none().and(7).and("a")), ([7, 0, 0, 0], "[\"a\", NULL, NULL, NULL]".to_owned()));
    }

    #[test]
    fn all_eight_stay_in_order() {
        let owned = String::from("b");
        let four = Arguments::none().and(1u8).and(-2i64).and(3usize).and(4);
        let eight = four.and("a").and(&owned).and(None::<&str>).and(c"d");
        assert_eq!(shown(eight), ([1, -2, 3, 4], "[\"a\", \"b\", NULL, \"d\"]".to_owned()));
    }

    #[test]
    fn wide_unsigned_integers_keep_their_bits() {
        assert_eq!(shown(Arguments::none().and(u64::MAX)).0[0] as u64, u64::MAX);
        assert_eq!(shown(Arguments::none().and(i8::MIN)).0[0], -128);
    }
}
