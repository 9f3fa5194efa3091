//! Values that can only be printed, by code of the user's.

use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A value that is printed by its `Debug`, which may panic: then `<panicked>` is the end of what it has printed.
///
/// Panics are caught by the copy of this crate, and of the standard library, in which the value was made: in a module that is
/// another one than the program's, and no panic may go from one to the other.
#[derive(Clone, Copy)]
pub struct Printed<'a> {
    value: &'a dyn fmt::Debug,
    print: fn(&dyn fmt::Debug, &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl<'a> Printed<'a> {
    /// Nothing is printed yet.
    #[inline]
    pub fn new(value: &'a dyn fmt::Debug) -> Printed<'a> {
        Printed { value, print }
    }
}

fn print(value: &dyn fmt::Debug, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    catch_unwind(AssertUnwindSafe(|| value.fmt(f))).unwrap_or_else(|payload| {
        // It may panic when it is dropped.
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
