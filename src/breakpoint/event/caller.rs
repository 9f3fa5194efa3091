//! Where a call came from.

use std::fmt;
use std::panic::Location;

use super::object::CodeAddress;
use super::unwind::{self, Mark};
use crate::breakpoint::site::kept::kept_name;

/// Where a call came from.
///
/// It is shown as `src/cart.rs:88`, or as two places in machine code; see [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caller {
    /// The place in the source, of a function that is `#[track_caller]` or has the option `caller` of the
    /// [attribute](macro@crate::traced). Of an asynchronous one, the place where its future was made.
    Location(&'static Location<'static>),
    /// The same, of a function of a [module](crate::code), which may be unloaded before this is looked at.
    Source(Source),
    /// What the stack says, of other functions, and of such ones called through a `dyn` or `fn` pointer. To find it takes some
    /// microseconds.
    Address(Address),
}

/// A line of a source file, shown as `src/cart.rs:88`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// The file, as the compiler was told of it.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
}

impl Source {
    fn of(location: &Location<'_>) -> Source {
        Source { file: kept_name(location.file()), line: location.line() }
    }
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

impl Address {
    /// Returns the caller of the marked function. `None` where the stack cannot be unwound up to it.
    fn of_caller(mark: Mark) -> Option<Address> {
        match *unwind::stack(mark, 1).addresses() {
            [inside, returns_to] => Some(Address { inside, returns_to }),
            _ => None,
        }
    }
}

impl fmt::Display for Caller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Caller::Location(location) => write!(f, "{}:{}", location.file(), location.line()),
            Caller::Source(Source { file, line }) => write!(f, "{file}:{line}"),
            Caller::Address(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} through {}", CodeAddress::of(self.returns_to), CodeAddress::of(self.inside))
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
pub(crate) enum Origin {
    /// It is known.
    Location(&'static Location<'static>),
    /// It is known to a module.
    OfModule(&'static Location<'static>),
    /// The stack is asked.
    Stack,
    /// It is not known: the function is asynchronous, and whoever polls it need not be who called it.
    Unknown,
}

impl Origin {
    /// As the host takes it from a module: for as long as the call lasts.
    pub(crate) fn of_module(self) -> Origin {
        match self {
            Origin::Location(location) => Origin::OfModule(location),
            other => other,
        }
    }

    /// Only while the call has not returned.
    pub(crate) fn caller(self, mark: Mark) -> Option<Caller> {
        match self {
            Origin::Location(location) => Some(Caller::Location(location)),
            Origin::OfModule(location) => Some(Caller::Source(Source::of(location))),
            Origin::Stack => Address::of_caller(mark).map(Caller::Address),
            Origin::Unknown => None,
        }
    }
}
