//! Types whose values a pattern sees exactly.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::num::NonZero;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use super::shell::Variant;
use super::{Plain, Value};

/// A type whose values patterns see without `Debug`.
pub trait Inspect {
    /// Returns the value.
    fn inspect(&self) -> Value<'_>;
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl Inspect for $type {
            #[inline]
            fn inspect(&self) -> Value<'_> {
                integer(*self)
            }
        }

        impl Inspect for NonZero<$type> {
            #[inline]
            fn inspect(&self) -> Value<'_> {
                integer(self.get())
            }
        }
    )* };
}

integers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize);

#[inline]
fn integer(number: impl TryInto<i128> + TryInto<u128> + Copy) -> Value<'static> {
    let signed = number.try_into().map(Plain::Integer);
    // Every integer fits one of the two types.
    Value::of(signed.unwrap_or_else(|_| number.try_into().map_or(Plain::Hidden, Plain::Large)))
}

impl Inspect for bool {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        Value::of(Plain::Bool(*self))
    }
}

impl Inspect for char {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        Value::of(Plain::Char(*self))
    }
}

impl Inspect for str {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        Value::of(Plain::Text(self))
    }
}

impl Inspect for [u8] {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        Value::of(Plain::Bytes(self))
    }
}

impl<const N: usize> Inspect for [u8; N] {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        self.as_slice().inspect()
    }
}

impl Inspect for OsStr {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        self.to_str().map_or_else(|| self.as_bytes().inspect(), str::inspect)
    }
}

impl Inspect for Path {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        self.as_os_str().inspect()
    }
}

/// Of types whose values point to others: as these.
macro_rules! pointers {
    ($([$($generics:tt)*] $type:ty;)*) => { $(
        impl<$($generics)*> Inspect for $type {
            #[inline]
            fn inspect(&self) -> Value<'_> {
                (**self).inspect()
            }
        }
    )* };
}

pointers! {
    [] String;
    [] Vec<u8>;
    [] OsString;
    [] PathBuf;
    [T: Inspect + ?Sized] &T;
    [T: Inspect + ?Sized] &mut T;
    [T: Inspect + ?Sized] Box<T>;
    [T: Inspect + ?Sized] Rc<T>;
    [T: Inspect + ?Sized] Arc<T>;
    [T: Inspect + ToOwned + ?Sized] Cow<'_, T>;
}

impl<T: Inspect> Inspect for Option<T> {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        self.as_ref().map_or(Value::of(Plain::None), |inside| inside.inspect().within(Variant::Some))
    }
}

impl<T: Inspect, E: Inspect> Inspect for Result<T, E> {
    #[inline]
    fn inspect(&self) -> Value<'_> {
        match self {
            Ok(inside) => inside.inspect().within(Variant::Ok),
            Err(inside) => inside.inspect().within(Variant::Err),
        }
    }
}
