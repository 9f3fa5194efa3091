//! Values that can only be printed, by code of users.

use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A value that is printed by its `Debug`. If that panics, the text ends with `<panicked>`.
///
/// The copy of this crate that made the value catches the panic: a module has a standard library of its own, and panics must not cross
/// from one to another.
#[derive(Clone, Copy)]
pub struct Printed<'a> {
    value: &'a dyn fmt::Debug,
    print: fn(&dyn fmt::Debug, &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl<'a> Printed<'a> {
    /// Wraps the value, without printing it.
    #[inline]
    pub fn new(value: &'a dyn fmt::Debug) -> Printed<'a> {
        Printed { value, print }
    }
}

fn print(value: &dyn fmt::Debug, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    catch_unwind(AssertUnwindSafe(|| value.fmt(f))).unwrap_or_else(|payload| {
        // Its drop may panic.
        mem::forget(payload);
        f.write_str("<panicked>")?;
        Err(fmt::Error)
    })
}

impl fmt::Debug for Printed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (self.print)(self.value, f)
    }
}
