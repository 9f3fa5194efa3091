//! What types look like in memory, as one number: so that two copies of a type, compiled apart, are known to be the same.
//!
//! `TypeId` does not serve: it goes by a type's name and crate, and not by its fields.

mod standard;

/// A type whose values may go from a module to its callers and back: derive it.
///
/// Its [`HASH`](Layout::HASH) is made of the type's name, size and alignment, and of the names, offsets and types of its fields, and so on
/// for those. Types of `std` that own what they hold have it if what they hold has it. Those that point to code do not: functions,
/// trait objects, what holds a waker.
///
/// ```
/// use dyntrace::code::Layout;
///
/// #[derive(Layout)]
/// struct Order {
///     item: String,
///     quantity: u32,
/// }
/// # assert_ne!(Order::HASH, <(String, u32)>::HASH);
/// ```
///
/// A type that contains itself (a tree, a list) cannot derive it: the compiler says that there is a cycle. Hand over the nodes in a
/// `Vec`, and let them name each other by number.
///
/// # Safety
///
/// Two types with the same hash are the same for whoever reads and writes their values, and drops them.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `code::Layout`: a module and its callers could not tell whether they mean the same by it",
    label = "has no layout",
    note = "for a type of your own: `#[derive(dyntrace::code::Layout)]`, and the same for the types of its fields"
)]
pub unsafe trait Layout {
    /// The same in two programs if the type is the same in both.
    const HASH: LayoutHash;
}

/// What is known of a type's form. Compared, and shown in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayoutHash(u64);

impl LayoutHash {
    /// Of a type with this name, size and alignment; its parts are added to it.
    pub const fn of<T>(name: &str) -> LayoutHash {
        LayoutHash::named(name).number(size_of::<T>() as u128).number(align_of::<T>() as u128)
    }

    /// Of something that has a name only.
    pub const fn named(name: &str) -> LayoutHash {
        // FNV-1a's beginning.
        LayoutHash(0xcbf2_9ce4_8422_2325).text(name)
    }

    /// With a text: the name of a field, of a variant.
    pub const fn text(mut self, text: &str) -> LayoutHash {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self = self.byte(bytes[at]);
            at += 1;
        }
        // So that two texts and one with the letters of both differ.
        self.number(bytes.len() as u128)
    }

    /// With a number: an offset, a discriminant.
    pub const fn number(mut self, number: u128) -> LayoutHash {
        let bytes = number.to_le_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self = self.byte(bytes[at]);
            at += 1;
        }
        self
    }

    /// With that of a part.
    pub const fn with(self, part: LayoutHash) -> LayoutHash {
        self.number(part.0 as u128)
    }

    /// `==`, for constants.
    pub(super) const fn is(self, other: LayoutHash) -> bool {
        self.0 == other.0
    }

    const fn byte(self, byte: u8) -> LayoutHash {
        LayoutHash((self.0 ^ byte as u64).wrapping_mul(0x100_0000_01b3))
    }
}

impl std::fmt::Display for LayoutHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    mod first {
        #[derive(crate::code::Layout)]
        pub struct Order {
            pub item: String,
            pub quantity: u32,
        }
        #[derive(crate::code::Layout)]
        #[repr(u8)]
        #[allow(dead_code, reason = "only its layout is asked for")]
        pub enum Answer<T> {
            Yes(T),
            No { why: &'static str },
            Later = 7,
        }
        #[derive(crate::code::Layout)]
        pub struct Unit;
        #[derive(crate::code::Layout)]
        pub struct Few<'a, T: 'a, const N: usize>(pub &'a [T; N], pub std::marker::PhantomData<T>);
    }

    mod same {
        #[derive(crate::code::Layout)]
        pub struct Order {
            pub item: String,
            pub quantity: u32,
        }
    }

    mod field_renamed {
        #[derive(crate::code::Layout)]
        pub struct Order {
            pub item: String,
            pub number: u32,
        }
    }

    mod field_of_another_type {
        #[derive(crate::code::Layout)]
        pub struct Order {
            pub item: String,
            pub quantity: i32,
        }
    }

    mod inside {
        #[derive(crate::code::Layout)]
        #[repr(u8)]
        #[allow(dead_code, reason = "only its layout is asked for")]
        pub enum Answer<T> {
            Yes(T),
            No { why: &'static str },
            Later = 8,
        }
    }

    #[test]
    fn the_same_text_is_the_same_type() {
        assert_eq!(first::Order::HASH, same::Order::HASH);
        assert_ne!(first::Order::HASH, field_renamed::Order::HASH);
        assert_ne!(first::Order::HASH, field_of_another_type::Order::HASH);
    }

    #[test]
    fn a_difference_deep_inside_is_seen() {
        type Deep<T> = Option<Vec<Box<(u8, T)>>>;
        assert_eq!(Deep::<first::Order>::HASH, Deep::<same::Order>::HASH);
        assert_ne!(Deep::<first::Order>::HASH, Deep::<field_of_another_type::Order>::HASH);
        assert_ne!(first::Answer::<first::Order>::HASH, first::Answer::<field_renamed::Order>::HASH);
    }

    #[test]
    fn variants_discriminants_and_parameters_count() {
        assert_ne!(first::Answer::<u8>::HASH, inside::Answer::<u8>::HASH);
        assert_ne!(first::Few::<u8, 3>::HASH, first::Few::<u8, 4>::HASH);
        assert_ne!(first::Unit::HASH, <()>::HASH);
        assert_ne!(<&u8>::HASH, <&mut u8>::HASH);
        assert_ne!(<(u8, u16)>::HASH, <(u16, u8)>::HASH);
        assert_ne!(LayoutHash::named("ab").text("c"), LayoutHash::named("a").text("bc"));
    }
}
