//! Signatures: the types that callers and an export must agree on.
#![expect(
    coherence_leak_check,
    reason = "`fn(A)` and `fn(&A)`: both are signatures, and no type is one by two of these"
)]

use super::handle::{AsyncHandle, Handle};
use crate::code::call::export_entry::ExportEntry;
use crate::code::call::export_name::SignatureHash;
use crate::code::call::pending::Pending;
use crate::code::layout::{Layout, LayoutHash};

/// The type of an export: a function pointer whose arguments and result have a [`Layout`].
///
/// Up to six arguments by value; up to four, if some are references. An export that is an `async fn` is a `fn` whose result is a
/// [`Pending`].
///
/// A signature is `'static`, and so has only two kinds of lifetimes, which its hash tells apart: `fn(&T)` accepts a reference of any
/// lifetime; in `fn(&'static T)`, and deeper inside a type, every lifetime is `'static`. So a caller cannot pass a reference that
/// lives shorter than the export declares. A slice of a local `String` is no `&'static str`:
///
/// ```compile_fail,E0597
/// # fn call() -> Result<(), Box<dyn std::error::Error>> {
/// let text = String::from("gone soon");
/// dyntrace::code::lookup::<fn(_)>("victim", "keep")?.call(text.as_str())?;
/// # Ok(())
/// # }
/// ```
///
/// # Safety
///
/// Two signatures with the same hash are the same function pointer type to a caller.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no signature of an export",
    note = "it is `fn(A, B, ...) -> R` with `code::Layout` for all types in it, or `fn(A, B, ...) -> code::Pending<R>`",
    note = "up to six arguments by value; up to four, if some are references"
)]
pub unsafe trait Signature: Copy + 'static {
    /// The handle that calls it.
    type Handle: From<&'static ExportEntry>;
    /// Equal in two programs if the signature is the same in both.
    const HASH: SignatureHash;

    /// The signature as text.
    fn text() -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// The handle of an export with this signature: a [`Handle`] of a function, an [`AsyncHandle`] of an `async fn`.
pub type HandleOf<F> = <F as Signature>::Handle;

/// Generates every mixture of arguments by value and by reference: `[A]` lists the arguments left, the rest those already chosen.
macro_rules! signature {
    ($number:literal [] $([$argument:ident $($bound:ident)? $kind:literal $type:ty])*) => {
        // SAFETY: the hash covers all types and how they are passed. It covers no lifetimes: they are `'static`, except those of
        // "shared" and "exclusive", which are arbitrary.
        unsafe impl<R: Layout + 'static $(, $argument: Layout + 'static $(+ ?$bound)?)*> Signature for fn($($type),*) -> R {
            type Handle = Handle<Self, $number>;
            const HASH: SignatureHash =
                SignatureHash::of(LayoutHash::named("fn").with(R::HASH)$(.text($kind).with($argument::HASH))*);
        }
    };
    ($number:literal [$next:ident $($rest:ident)*] $($done:tt)*) => {
        signature!($number [$($rest)*] $($done)* [$next "value" $next]);
        signature!($number [$($rest)*] $($done)* [$next Sized "shared" &$next]);
        signature!($number [$($rest)*] $($done)* [$next Sized "exclusive" &mut $next]);
    };
}

macro_rules! by_value {
    ($number:literal $($argument:ident)*) => {
        signature!($number [] $([$argument "value" $argument])*);
        asynchronous!($number $($argument)*);
    };
}

macro_rules! asynchronous {
    ($number:literal $($argument:ident)*) => {
        // SAFETY: as above.
        unsafe impl<R: Layout + 'static $(, $argument: Layout + 'static)*> Signature for fn($($argument),*) -> Pending<R> {
            type Handle = AsyncHandle<Self, $number>;
            const HASH: SignatureHash =
                SignatureHash::of(LayoutHash::named("async fn").with(R::HASH)$(.with($argument::HASH))*);
        }
    };
}

signature!(1[A]);
signature!(2 [A B]);
signature!(3 [A B C]);
signature!(4 [A B C D]);
by_value!(0);
asynchronous!(1 A);
asynchronous!(2 A B);
asynchronous!(3 A B C);
asynchronous!(4 A B C D);
by_value!(5 A B C D E);
by_value!(6 A B C D E G);
