//! Names of functions, made of the types of their futures.

use std::any::type_name;

/// The path of the function whose future, or closure, a `T` is: without the compiler's name for the body of an `async fn`.
#[inline(always)]
pub(super) fn path<T>() -> &'static str {
    let of = type_name::<T>();
    of.strip_suffix("::{{closure}}").unwrap_or(of)
}
