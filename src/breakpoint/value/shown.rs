//! Converts any expression to a [`Value`], by the traits of its type.
//!
//! Four traits have a method of one name. The compiler takes the one whose bounds hold and that needs the fewest dereferences of the
//! receiver: for an [`Inspect`]ed value, else one with a [`Shape`], else one with `Debug`, else any. So users write nothing for their
//! types. In a generic function the bounds of its parameters decide.
//!
//! The macro looks into a shape, since it knows the type, and one variant deep: each further level doubles the compiler's work for every
//! argument. The value inside is again inspected, printed or named.

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
        (&&&&Shown(&$place))
            .__dyntrace_value(|one| (&&&Inside(one)).__dyntrace_inside(), |two| (&&&Inside(two)).__dyntrace_inside())
    }};
}

/// A place to show.
#[derive(Debug)]
pub struct Shown<'a, T>(pub &'a T);

/// An `Option` or a `Result` of any types.
pub trait Shape {
    /// The type in `Some` and `Ok`.
    type One;
    /// The type in `Err`.
    type Two;

    /// Returns the value inside.
    fn layer(&self) -> Layer<'_, Self::One, Self::Two>;
}

/// The value inside an `Option` or a `Result`.
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

/// For inspected values.
pub trait ByInspect<'a> {
    /// Returns the value, without calling the functions.
    fn __dyntrace_value(
        &self,
        one: impl FnOnce(&'a ()) -> Value<'a>,
        two: impl FnOnce(&'a ()) -> Value<'a>,
    ) -> Value<'a>;
}

impl<'a, T: Inspect> ByInspect<'a> for &&&Shown<'a, T> {
    #[inline]
    fn __dyntrace_value(&self, _: impl FnOnce(&'a ()) -> Value<'a>, _: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a> {
        self.0.inspect()
    }
}

/// For an `Option` or a `Result` of other types.
pub trait ByShape<'a> {
    /// The type in `Some` and `Ok`.
    type One: 'a;
    /// The type in `Err`.
    type Two: 'a;

    /// Returns the value, by the function for its inner type.
    fn __dyntrace_value(
        &self,
        one: impl FnOnce(&'a Self::One) -> Value<'a>,
        two: impl FnOnce(&'a Self::Two) -> Value<'a>,
    ) -> Value<'a>;
}

impl<'a, T: Shape> ByShape<'a> for &&Shown<'a, T> {
    type One = T::One;
    type Two = T::Two;

    #[inline]
    fn __dyntrace_value(
        &self,
        one: impl FnOnce(&'a T::One) -> Value<'a>,
        two: impl FnOnce(&'a T::Two) -> Value<'a>,
    ) -> Value<'a> {
        match self.0.layer() {
            Layer::None => Value::of(Plain::None),
            Layer::Some(inside) => one(inside).within(Variant::Some),
            Layer::Ok(inside) => one(inside).within(Variant::Ok),
            Layer::Err(inside) => two(inside).within(Variant::Err),
        }
    }
}

/// For values that can be printed.
pub trait ByDebug<'a> {
    /// Returns the value, without calling the functions.
    fn __dyntrace_value(
        &self,
        one: impl FnOnce(&'a ()) -> Value<'a>,
        two: impl FnOnce(&'a ()) -> Value<'a>,
    ) -> Value<'a>;
}

impl<'a, T: Debug> ByDebug<'a> for &Shown<'a, T> {
    #[inline]
    fn __dyntrace_value(&self, _: impl FnOnce(&'a ()) -> Value<'a>, _: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a> {
        Value::of(Plain::Debug(Printed::new(self.0)))
    }
}

/// For all others.
pub trait Blind<'a> {
    /// Returns the value, without calling the functions.
    fn __dyntrace_value(
        &self,
        one: impl FnOnce(&'a ()) -> Value<'a>,
        two: impl FnOnce(&'a ()) -> Value<'a>,
    ) -> Value<'a>;
}

impl<'a, T> Blind<'a> for Shown<'a, T> {
    #[inline]
    fn __dyntrace_value(&self, _: impl FnOnce(&'a ()) -> Value<'a>, _: impl FnOnce(&'a ()) -> Value<'a>) -> Value<'a> {
        Value::opaque(self.0)
    }
}

/// The value inside an `Option` or a `Result` to show.
#[derive(Debug)]
pub struct Inside<'a, T>(pub &'a T);

/// For inspected values.
pub trait InsideByInspect<'a> {
    /// Returns the value.
    fn __dyntrace_inside(&self) -> Value<'a>;
}

impl<'a, T: Inspect> InsideByInspect<'a> for &&Inside<'a, T> {
    #[inline]
    fn __dyntrace_inside(&self) -> Value<'a> {
        self.0.inspect()
    }
}

/// For values that can be printed.
pub trait InsideByDebug<'a> {
    /// Returns the value.
    fn __dyntrace_inside(&self) -> Value<'a>;
}

impl<'a, T: Debug> InsideByDebug<'a> for &Inside<'a, T> {
    #[inline]
    fn __dyntrace_inside(&self) -> Value<'a> {
        Value::of(Plain::Debug(Printed::new(self.0)))
    }
}

/// For all others.
pub trait InsideBlind<'a> {
    /// Returns the value.
    fn __dyntrace_inside(&self) -> Value<'a>;
}

impl<'a, T> InsideBlind<'a> for Inside<'a, T> {
    #[inline]
    fn __dyntrace_inside(&self) -> Value<'a> {
        Value::opaque(self.0)
    }
}
