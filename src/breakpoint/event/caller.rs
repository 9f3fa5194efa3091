//! Callers of traced functions.

use std::fmt;
use std::panic::Location;

use super::object::CodeAddress;
use super::unwind::{self, Mark};
use crate::breakpoint::site::intern::intern_name;

/// Where a call came from.
///
/// Displays as `src/cart.rs:88`, or as two addresses in machine code; see [`Address`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Caller {
    /// The line in the source, for a function that is `#[track_caller]` or has the option `caller` of the
    /// [attribute](macro@crate::traced). For an asynchronous one, the line that made its future.
    Location(&'static Location<'static>),
    /// The same for a function of a [module](crate::code), which may be unloaded before this is read.
    Source(Source),
    /// Addresses from the stack, for other functions, and for such ones called through a `dyn` or `fn` pointer. Unwinding takes a few
    /// microseconds.
    Address(Address),
}

/// A line of a source file; displays as `src/cart.rs:88`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Source {
    /// The file, as given to the compiler.
    pub file: &'static str,
    /// The line in it.
    pub line: u32,
}

impl Source {
    fn of(location: &Location<'_>) -> Source {
        Source { file: intern_name(location.file()), line: location.line() }
    }
}

/// Return addresses in this process. `dyntrace trace` looks up their functions and lines in the debug information.
///
/// If the compiler has inlined the traced function, the code that has `inside` is its caller's. Displays as
/// `FILE+0xADDRESS through FILE+0xADDRESS`; `addr2line -ie FILE ADDRESS` takes each pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Address {
    /// An address in the traced function, which may be inlined.
    pub inside: usize,
    /// The address to which the code with `inside` returns.
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

/// Returns the caller's location in a function with `#[track_caller]`, and `None` if it was called through a pointer: then `caller` is
/// where the function is written.
#[doc(hidden)]
pub fn known_caller(
    caller: &'static Location<'static>,
    written: &'static Location<'static>,
) -> Option<&'static Location<'static>> {
    (caller != written).then_some(caller)
}

/// How to find the caller of a call.
#[derive(Clone, Copy)]
pub(crate) enum Origin {
    /// The function has its location.
    Location(&'static Location<'static>),
    /// A module's function has its location.
    OfModule(&'static Location<'static>),
    /// The stack is unwound.
    Stack,
    /// It is unknown: an asynchronous function need not be polled by its caller.
    Unknown,
}

impl Origin {
    /// Converts the origin of a module's call for its host: the location is valid as long as the call runs.
    pub(crate) fn of_module(self) -> Origin {
        match self {
            Origin::Location(location) => Origin::OfModule(location),
            other => other,
        }
    }

    /// Returns the caller, while the call runs.
    pub(crate) fn caller(self, mark: Mark) -> Option<Caller> {
        match self {
            Origin::Location(location) => Some(Caller::Location(location)),
            Origin::OfModule(location) => Some(Caller::Source(Source::of(location))),
            Origin::Stack => Address::of_caller(mark).map(Caller::Address),
            Origin::Unknown => None,
        }
    }
}
