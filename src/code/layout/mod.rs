//! Hashes of types' memory layouts. They tell whether two copies of a type, compiled separately, are the same.
//!
//! `TypeId` does not: it depends on a type's name and crate, and not on its fields.

mod standard;

/// A type whose values may be passed between a module and its callers. Derive it.
///
/// Its [`HASH`](Layout::HASH) covers the type's name, size and alignment, and the names, offsets and hashes of its fields. Owning types of
/// `std` have a layout if their contents have one. Types that point to code have none: functions, trait objects, types with wakers.
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
/// A recursive type (a tree, a list) cannot derive it: the compiler reports a cycle. Pass the nodes in a `Vec`, and let them refer to
/// each other by index.
///
/// # Safety
///
/// Two types with the same hash are the same for code that reads, writes and drops their values.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no `code::Layout`: a module and its callers could not tell whether they mean the same by it",
    label = "has no layout",
    note = "for a type of your own: `#[derive(dyntrace::code::Layout)]`, and the same for the types of its fields"
)]
pub unsafe trait Layout {
    /// Equal in two programs if the type is the same in both.
    const HASH: LayoutHash;
}

/// A hash of a type's memory layout. Compared, and shown in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LayoutHash(u64);

impl LayoutHash {
    /// Starts the hash of a type, from its name, size and alignment.
    pub const fn of<T>(name: &str) -> LayoutHash {
        LayoutHash::named(name).number(size_of::<T>() as u128).number(align_of::<T>() as u128)
    }

    /// Starts a hash from a name only.
    pub const fn named(name: &str) -> LayoutHash {
        // The initial value of FNV-1a.
        LayoutHash(0xcbf2_9ce4_8422_2325).text(name)
    }

    /// Adds a text, such as the name of a field or variant.
    pub const fn text(mut self, text: &str) -> LayoutHash {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self = self.byte(bytes[at]);
            at += 1;
        }
        // The length keeps two texts apart from their concatenation.
        self.number(bytes.len() as u128)
    }

    /// Adds a number, such as an offset or discriminant.
    pub const fn number(mut self, number: u128) -> LayoutHash {
        let bytes = number.to_le_bytes();
        let mut at = 0;
        while at < bytes.len() {
            self = self.byte(bytes[at]);
            at += 1;
        }
        self
    }

    /// Adds the hash of a part.
    pub const fn with(self, part: LayoutHash) -> LayoutHash {
        self.number(part.0 as u128)
    }

    /// `==` in constants.
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
