//! Signatures: what callers and an export must agree upon.
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
/// A signature is `'static`, and therefore knows two kinds of lifetimes only, which its hash tells apart: `fn(&T)` accepts a
/// reference of any lifetime; `fn(&'static T)`, and every lifetime deeper inside a type, means `'static`. So a caller cannot
/// lend what lives shorter than the export's author was told. A text of a local is no `&'static str`:
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
/// Two signatures of one hash are the same function pointer to whoever calls it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no signature of an export",
    note = "it is `fn(A, B, ...) -> R` with `code::Layout` for all types in it, or `fn(A, B, ...) -> code::Pending<R>`",
    note = "up to six arguments by value; up to four, if some are references"
)]
pub unsafe trait Signature: Copy + 'static {
    /// What calls it.
    type Handle: From<&'static ExportEntry>;
    /// The same in two programs if the signature is the same in both.
    const HASH: SignatureHash;

    /// For people.
    fn text() -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// An export of a module, to be called: whatever version is current when it is.
///
/// For a function it is a [`Handle`], for an asynchronous one an [`AsyncHandle`].
pub type HandleOf<F> = <F as Signature>::Handle;

/// Of arguments that are given by value and by reference, in all mixtures: `[A]` is what is left of them, and behind it is what there
/// is already.
macro_rules! signature {
    ($number:literal [] $([$argument:ident $($bound:ident)? $kind:literal $type:ty])*) => {
        // SAFETY: the hash is made of all types in it, and of how they are given. It knows no lifetimes: they are `'static`, but
        // for those of "shared" and "exclusive", which are any.
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
