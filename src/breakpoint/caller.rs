//! Where a call came from.

use std::fmt;
use std::panic::Location;

use super::object::Place;
use super::unwind::{self, Mark};

/// Where a call came from.
///
/// It is shown as `src/cart.rs:88`, or as two places in machine code; see [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caller {
    /// The place in the source, of a function that is `#[track_caller]` or has the option `caller` of the
    /// [attribute](macro@crate::traced). Of an asynchronous one, the place where its future was made.
    Location(&'static Location<'static>),
    /// What the stack says, of other functions, and of such ones called through a `dyn` or `fn` pointer. To find it takes some
    /// microseconds.
    Address(Address),
}

/// Addresses of this process, each that of the instruction behind a call. What they are in the source, debug information says:
/// `dyntrace trace` looks it up.
///
/// Machine code has less than the source: a traced function that the compiler has put into its caller has no call of its own.
/// Then `inside` is in the caller already. Shown as `FILE+0xADDRESS through FILE+0xADDRESS`, which `addr2line -ie FILE ADDRESS`
/// takes for the instruction behind the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// In the traced function, wherever the compiler has put that.
    pub inside: usize,
    /// Where the code that `inside` is in returns to.
    pub returns_to: usize,
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::Location(location) => write!(f, "{}:{}", location.file(), location.line()),
            Caller::Address(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} through {}", Place::of(self.returns_to), Place::of(self.inside))
    }
}

/// What a function with `#[track_caller]` was told, unless it was called through a pointer: then that is where it is written.
#[doc(hidden)]
pub fn told(
    caller: &'static Location<'static>,
    written: &'static Location<'static>,
) -> Option<&'static Location<'static>> {
    (caller != written).then_some(caller)
}

/// How a call's caller is found.
#[derive(Clone, Copy)]
pub(super) enum Origin {
    /// It is known.
    Location(&'static Location<'static>),
    /// The stack is asked.
    Stack(Mark),
    /// It is not known: the function is asynchronous, and whoever polls it need not be who called it.
    Unknown,
}

impl Origin {
    /// Only while the call has not returned.
    pub(super) fn caller(self) -> Option<Caller> {
        match self {
            Origin::Location(location) => Some(Caller::Location(location)),
            Origin::Stack(mark) => unwind::caller(mark).map(Caller::Address),
            Origin::Unknown => None,
        }
    }
}
