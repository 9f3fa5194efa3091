//! The arguments of one firing, as rings take them.
//!
//! A ring takes them in one of two forms. The *narrow* form has integers of half the size, and is used if each of them fits. Each has an
//! event class of its own, with the same name and fields.

use super::field::Field;
use crate::short;
use crate::text::Recorded;

/// One argument, as generated code passes it.
pub trait Value: Copy {
    /// Whether the narrow form has its value.
    #[inline(always)]
    fn fits(self) -> bool {
        true
    }

    /// Its size in a ring, in bytes.
    fn size(self, narrow: bool) -> usize;

    /// Writes the value. Returns the address after it.
    ///
    /// # Safety
    ///
    /// `at` points to `size(narrow)` bytes that no one else uses.
    unsafe fn put(self, at: *mut u8, narrow: bool) -> *mut u8;

    /// The value as filters see it.
    fn field(&self) -> Field<'_>;
}

macro_rules! integers {
    ($($value:ty: $integer:ident as $narrow:ident, $of:expr, $kind:ident);* $(;)?) => {
        $(impl Value for $value {
            #[inline(always)]
            fn fits(self) -> bool {
                let number: $integer = $of(self);
                number == $integer::from(number as $narrow)
            }

            #[inline(always)]
            fn size(self, narrow: bool) -> usize {
                if narrow { size_of::<$narrow>() } else { size_of::<$integer>() }
            }

            #[inline(always)]
            unsafe fn put(self, at: *mut u8, narrow: bool) -> *mut u8 {
                let number: $integer = $of(self);
                // SAFETY: the caller gives `size(narrow)` bytes.
                unsafe {
                    match narrow {
                        true => at.cast::<$narrow>().write_unaligned(number as $narrow),
                        false => at.cast::<$integer>().write_unaligned(number),
                    }
                    at.add(self.size(narrow))
                }
            }

            fn field(&self) -> Field<'_> {
                Field::$kind($of(*self))
            }
        })*
    };
}

integers! {
    i32: i32 as i16, |number| number, I32;
    u32: u32 as u16, |number| number, U32;
    i64: i64 as i32, |number| number, I64;
    u64: u64 as u32, |number| number, U64;
    Count: i32 as i32, |Count(number)| number, I32;
    Small: i32 as i8, |Small(number)| number, I32;
}

/// A number of [`Kind::Count`](super::Kind::Count).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Count(pub i32);

/// A number of [`Kind::Small`](super::Kind::Small).
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Small(pub i32);

/// A string without NUL, of at most [`Buffer::LIMIT`](crate::sdt::Buffer::LIMIT) bytes; a NUL is added.
impl Value for &[u8] {
    #[inline(always)]
    fn size(self, _narrow: bool) -> usize {
        self.len() + 1
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8, _narrow: bool) -> *mut u8 {
        // SAFETY: the caller gives `size` bytes, one more than the string has. They are in a ring, so they do not overlap the string.
        unsafe {
            short::copy(self, at);
            at.add(self.len()).write(0);
            at.add(self.len() + 1)
        }
    }

    fn field(&self) -> Field<'_> {
        Field::Text(self)
    }
}

impl Value for Recorded<'_> {
    #[inline(always)]
    fn size(self, narrow: bool) -> usize {
        match self {
            Recorded::Name(name) => name.size(),
            Recorded::Bytes(bytes) => bytes.size(narrow),
        }
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8, narrow: bool) -> *mut u8 {
        // SAFETY: the caller gives `size` bytes, and a name has no fewer than 8.
        unsafe {
            match self {
                Recorded::Name(name) => {
                    let ([head, tail], size) = (name.ends(), name.size());
                    at.cast::<[u8; 8]>().write(head);
                    at.add(size - 8).cast::<[u8; 8]>().write(tail);
                    at.add(size)
                }
                Recorded::Bytes(bytes) => bytes.put(at, narrow),
            }
        }
    }

    fn field(&self) -> Field<'_> {
        match self {
            Recorded::Name(name) => Field::Name(*name),
            Recorded::Bytes(bytes) => bytes.field(),
        }
    }
}

/// All arguments of one firing: a tuple of [`Value`]s.
pub trait Payload {
    /// Whether the narrow form has their values.
    fn fits(&self) -> bool;

    /// Their size in a ring, in bytes. `narrow`: [`fits`](Self::fits).
    fn size(&self, narrow: bool) -> usize;

    /// Writes the arguments. `narrow`: [`fits`](Self::fits).
    ///
    /// # Safety
    ///
    /// `at` points to `size(narrow)` bytes that no one else uses.
    unsafe fn put(&self, at: *mut u8, narrow: bool);

    /// The clock's time of the firing, if the caller has read it.
    #[inline(always)]
    fn time(&self) -> Option<u64> {
        None
    }

    /// Calls `look` with the arguments as filters see them.
    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R;
}

macro_rules! payloads {
    ($($value:ident $number:tt)*) => {
        payloads!(@ [] $($value $number)*);
    };
    (@ [$($value:ident $number:tt)*] $next:ident $next_number:tt $($rest:tt)*) => {
        payloads!(= $($value $number)*);
        payloads!(@ [$($value $number)* $next $next_number] $($rest)*);
    };
    (@ [$($value:ident $number:tt)*]) => {
        payloads!(= $($value $number)*);
    };
    (= $($value:ident $number:tt)*) => {
        #[allow(unused_unsafe)]
        impl<$($value: Value),*> Payload for ($($value,)*) {
            #[inline(always)]
            fn fits(&self) -> bool {
                // Without a branch for each.
                true $(& self.$number.fits())*
            }

            #[inline(always)]
            fn size(&self, _narrow: bool) -> usize {
                0 $(+ self.$number.size(_narrow))*
            }

            #[inline(always)]
            unsafe fn put(&self, at: *mut u8, _narrow: bool) {
                // SAFETY: the caller gives `size(narrow)` bytes, the sum of the sizes of the values, which follow one another.
                unsafe {
                    $(let at = self.$number.put(at, _narrow);)*
                    let _ = at;
                }
            }

            fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
                look(&[$(self.$number.field()),*])
            }
        }
    };
}

payloads!(A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7 I 8 J 9 K 10 L 11);
