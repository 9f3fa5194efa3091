//! Sites: what each traced function has of its own.

pub(crate) mod check;
pub(crate) mod kept;
pub(crate) mod section;
pub(crate) mod site_ref;
pub(crate) mod sites;

use std::fmt;
use std::ptr;
use std::sync::atomic as no_model;

use crate::sync::atomic::{AtomicPtr, Ordering};

/// A traced function's word, and what the function is; made by the attribute, one for each function.
#[doc(hidden)]
#[repr(C, align(16))]
pub struct Site {
    /// Points to the function's generic breakpoint. Null: run the function, nothing else. First, where the function's check expects it.
    word: AtomicPtr<()>,
    /// `std`'s always: no model changes it.
    function: no_model::AtomicPtr<Function>,
}

/// A function with the attribute [`traced`](crate::traced).
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Function {
    /// `crate::module::Type::function/arity`. A receiver counts as an argument.
    pub name: &'static str,
    /// The source file that it is written in.
    pub file: &'static str,
    /// The line of its name there.
    pub line: u32,
    /// The names of its arguments; `_` for one that is taken apart where it is declared.
    pub arguments: &'static [&'static str],
}

/// What the names of exports begin with, and the patterns that mean them.
pub const EXPORT: &str = "export ";

impl Function {
    /// For the attribute.
    #[doc(hidden)]
    pub const fn new(
        name: &'static str,
        file: &'static str,
        line: u32,
        arguments: &'static [&'static str],
    ) -> Function {
        Function { name, file, line, arguments }
    }

    /// The name without the arity.
    pub fn path(&self) -> &'static str {
        // Only a few digits are behind it.
        self.name.bytes().rposition(|byte| byte == b'/').map_or(self.name, |end| &self.name[..end])
    }

    /// The name of the export that it is, without its module.
    pub(crate) fn exported(&self) -> Option<&'static str> {
        self.name.strip_prefix(EXPORT)
    }

    /// The name of a module's export.
    pub(crate) fn export(module: &str, name: &str) -> String {
        format!("{EXPORT}{module}::{name}")
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Site {
    /// For the attribute.
    #[cfg(not(loom))]
    pub const fn new(function: &'static Function) -> Site {
        Site {
            word: AtomicPtr::new(ptr::null_mut()),
            function: no_model::AtomicPtr::new(ptr::from_ref(function).cast_mut()),
        }
    }

    /// Loom's atomics are made while a model runs.
    #[cfg(loom)]
    pub fn new(function: &'static Function) -> Site {
        Site {
            word: AtomicPtr::new(ptr::null_mut()),
            function: no_model::AtomicPtr::new(ptr::from_ref(function).cast_mut()),
        }
    }

    /// Whether there is more to do than to run the function. What is followed is what a hit reads again, pinned.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        !self.word.load(Ordering::Relaxed).is_null()
    }

    #[inline]
    pub(crate) fn function(&self) -> &'static Function {
        // Relaxed: whoever calls the function, or knows the site, was told of it after it was kept.
        // SAFETY: made of such a reference, here as in `new`.
        unsafe { &*self.function.load(Ordering::Relaxed) }
    }

    /// Has events name this one, which stays when the site is gone. For who makes the site known.
    pub(crate) fn keep(&self, kept: &'static Function) {
        self.function.store(ptr::from_ref(kept).cast_mut(), Ordering::Relaxed);
    }

    pub(crate) fn word(&self) -> &AtomicPtr<()> {
        &self.word
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Site({})", self.function())
    }
}
