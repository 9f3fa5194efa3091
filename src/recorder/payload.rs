//! The arguments of one firing, as rings take them.

use super::field::Field;
use crate::short;
use crate::text::Recorded;

/// One argument, as generated code passes it.
pub trait Value: Copy {
    /// Its size in a ring, in bytes.
    fn size(self) -> usize;

    /// Writes the value. Returns the address after it.
    ///
    /// # Safety
    ///
    /// `at` points to `size()` bytes that no one else uses.
    unsafe fn put(self, at: *mut u8) -> *mut u8;

    /// The value as filters see it.
    fn field(&self) -> Field<'_>;
}

macro_rules! integers {
    ($($integer:ident $kind:ident),*) => {
        $(impl Value for $integer {
            #[inline(always)]
            fn size(self) -> usize {
                size_of::<$integer>()
            }

            #[inline(always)]
            unsafe fn put(self, at: *mut u8) -> *mut u8 {
                // SAFETY: the caller gives `size()` bytes.
                unsafe {
                    at.cast::<$integer>().write_unaligned(self);
                    at.add(size_of::<$integer>())
                }
            }

            fn field(&self) -> Field<'_> {
                Field::$kind(*self)
            }
        })*
    };
}

integers!(i32 I32, u32 U32, i64 I64, u64 U64);

/// A string without NUL, of at most [`Buffer::LIMIT`](crate::sdt::Buffer::LIMIT) bytes; a NUL is added.
impl Value for &[u8] {
    #[inline(always)]
    fn size(self) -> usize {
        self.len() + 1
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8) -> *mut u8 {
        // SAFETY: the caller gives `size()` bytes, one more than the string has. They are in a ring, so they do not overlap the string.
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
    fn size(self) -> usize {
        match self {
            Recorded::Name(name) => name.size(),
            Recorded::Bytes(bytes) => bytes.size(),
        }
    }

    #[inline(always)]
    unsafe fn put(self, at: *mut u8) -> *mut u8 {
        // SAFETY: the caller gives `size()` bytes, and a name has no fewer than 8.
        unsafe {
            match self {
                Recorded::Name(name) => {
                    let ([head, tail], size) = (name.ends(), name.size());
                    at.cast::<[u8; 8]>().write(head);
                    at.add(size - 8).cast::<[u8; 8]>().write(tail);
                    at.add(size)
                }
                Recorded::Bytes(bytes) => bytes.put(at),
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
    /// Their size in a ring, in bytes.
    fn size(&self) -> usize;

    /// Writes the arguments.
    ///
    /// # Safety
    ///
    /// `at` points to `size()` bytes that no one else uses.
    unsafe fn put(&self, at: *mut u8);

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
            fn size(&self) -> usize {
                0 $(+ self.$number.size())*
            }

            #[inline(always)]
            unsafe fn put(&self, at: *mut u8) {
                // SAFETY: the caller gives `size()` bytes, the sum of the sizes of the values, which follow one another.
                unsafe {
                    $(let at = self.$number.put(at);)*
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
