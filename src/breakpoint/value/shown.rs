//! From any expression to its [`Value`], by what is known of its type.
//!
//! Of four traits with a method of one name the compiler takes the one that needs the fewest dereferences of the receiver and whose
//! bounds hold: an [`Inspect`]ed value, else one with a [`Shape`], else one with `Debug`, else any. So nobody has to write anything for
//! their types, and in a generic function it is the bounds of its parameters that count.
//!
//! A shape is looked into where the type is known, so by the macro, and one variant deep: each further one doubles what the compiler has
//! to do for every argument. What is inside is again seen exactly, or printed, or named.

use std::fmt::Debug;
use std::rc::Rc;
use std::sync::Arc;

use super::inspect::Inspect;
use super::printed::Printed;
use super::shell::Variant;
use super::{Plain, Value};

/// The value of a place, as an expression of type [`Value`].
#[doc(hidden)]
#[macro_export]
macro_rules! __traced_value {
    ($place:expr) => {{
        #[allow(unused_imports)]
        use $crate::__traced::{
            Blind as _, ByDebug as _, ByInspect as _, ByShape as _, Inside, InsideBlind as _, InsideByDebug as _,
            InsideByInspect as _, Shown,
        };
        (&&&&Shown(&$place)).value(|one| (&&&Inside(one)).inside(), |two| (&&&Inside(two)).inside())
    }};
}

/// A place that is to be shown.
#[derive(Debug)]
pub struct Shown<'a, T>(pub &'a T);

/// What a type that is an `Option` or a `Result` of anything holds.
pub trait Shape {
    /// In `Some` and `Ok`.
    type One;
    /// In `Err`.
    type Two;

    /// What this value holds.
    fn layer(&self) -> Layer<'_, Self::One, Self::Two>;
}

/// What an `Option` or a `Result` holds.
#[derive(Debug)]
pub enum Layer<'a, A, B> {
    /// Nothing.
    None,
    /// In `Some`.
    Some(&'a A),
    /// In `Ok`.
    Ok(&'a A),
    /// In `Err`.
    Err(&'a B),
}

impl<T> Shape for Option<T> {
    type One = T;
    type Two = ();

    #[inline]
    fn layer(&self) -> Layer<'_, T, ()> {
        self.as_ref().map_or(Layer::None, Layer::Some)
    }
}

impl<T, E> Shape for Result<T, E> {
    type One = T;
    type Two = E;

    #[inline]
    fn layer(&self) -> Layer<'_, T, E> {
        self.as_ref().map_or_else(Layer::Err, Layer::Ok)
    }
}

macro_rules! pointers {
    ($($type:ty)*) => { $(
        impl<T: Shape + ?Sized> Shape for $type {
            type One = T::One;
            type Two = T::Two;

            #[inline]
            fn layer(&self) -> Layer<'_, T::One, T::Two> {
                (**self).layer()
            }
        }
    )* };
}

pointers!(&T &mut T Box<T> Rc<T> Arc<T>);

/// The way of values that are known exactly.
pub trait ByInspect<'a> {
    /// The value; the functions are not called.
    fn value(&self, one: impl FnOnce(&'a ()) -> Value<'a>, two: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a>;
}

impl<'a, T: Inspect> ByInspect<'a> for &&&Shown<'a, T> {
    #[inline]
    fn value(&self, _: impl FnOnce(&'a ()) -> Value<'a>, _: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a> {
        self.0.inspect()
    }
}

/// The way of an `Option` or a `Result` of something else.
pub trait ByShape<'a> {
    /// In `Some` and `Ok`.
    type One: 'a;
    /// In `Err`.
    type Two: 'a;

    /// The value, by the function for what it holds.
    fn value(
        &self,
        one: impl FnOnce(&'a Self::One) -> Value<'a>,
        two: impl FnOnce(&'a Self::Two) -> Value<'a>,
    ) -> Value<'a>;
}

impl<'a, T: Shape> ByShape<'a> for &&Shown<'a, T> {
    type One = T::One;
    type Two = T::Two;

    #[inline]
    fn value(&self, one: impl FnOnce(&'a T::One) -> Value<'a>, two: impl FnOnce(&'a T::Two) -> Value<'a>) -> Value<'a> {
        match self.0.layer() {
            Layer::None => Value::of(Plain::None),
            Layer::Some(inside) => one(inside).within(Variant::Some),
            Layer::Ok(inside) => one(inside).within(Variant::Ok),
            Layer::Err(inside) => two(inside).within(Variant::Err),
        }
    }
}

/// The way of values that can be printed.
pub trait ByDebug<'a> {
    /// The value; the functions are not called.
    fn value(&self, one: impl FnOnce(&'a ()) -> Value<'a>, two: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a>;
}

impl<'a, T: Debug> ByDebug<'a> for &Shown<'a, T> {
    #[inline]
    fn value(&self, _: impl FnOnce(&'a ()) -> Value<'a>, _: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a> {
        Value::of(Plain::Debug(Printed::new(self.0)))
    }
}

/// The way of all others.
pub trait Blind<'a> {
    /// The value; the functions are not called.
    fn value(&self, one: impl FnOnce(&'a ()) -> Value<'a>, two: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a>;
}

impl<'a, T> Blind<'a> for Shown<'a, T> {
    #[inline]
    fn value(&self, _: impl FnOnce(&'a ()) -> Value<'a>, _: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a> {
        Value::opaque(self.0)
    }
}

/// What is in an `Option` or a `Result` that is to be shown.
#[derive(Debug)]
pub struct Inside<'a, T>(pub &'a T);

/// The way of values that are known exactly.
pub trait InsideByInspect<'a> {
    /// The value.
    fn inside(&self) -> Value<'a>;
}

impl<'a, T: Inspect> InsideByInspect<'a> for &&Inside<'a, T> {
    #[inline]
    fn inside(&self) -> Value<'a> {
        self.0.inspect()
    }
}

/// The way of values that can be printed.
pub trait InsideByDebug<'a> {
    /// The value.
    fn inside(&self) -> Value<'a>;
}

impl<'a, T: Debug> InsideByDebug<'a> for &Inside<'a, T> {
    #[inline]
    fn inside(&self) -> Value<'a> {
        Value::of(Plain::Debug(Printed::new(self.0)))
    }
}

/// The way of all others.
pub trait InsideBlind<'a> {
    /// The value.
    fn inside(&self) -> Value<'a>;
}

impl<'a, T> InsideBlind<'a> for Inside<'a, T> {
    #[inline]
    fn inside(&self) -> Value<'a> {
        Value::opaque(self.0)
    }
}
