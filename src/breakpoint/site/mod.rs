//! Sites: the statics of traced functions.

pub(crate) mod asked;
pub(crate) mod check;
pub(crate) mod intern;
pub(crate) mod section;
pub(crate) mod site_ref;
pub(crate) mod sites;

use std::fmt;
use std::ptr;
use std::sync::atomic as no_model;

use dyntrace_probes::primitives::atomic::{AtomicPtr, Ordering};

/// A traced function's word and description. The attribute makes one for each function.
#[doc(hidden)]
#[repr(C, align(16))]
pub struct Site {
    /// Points to the generic breakpoint. Null: run the function, nothing else. Another process may have [marked](asked) it. First, where
    /// the function's check expects it.
    word: AtomicPtr<()>,
    /// Always `std`'s atomic: no model changes it.
    function: no_model::AtomicPtr<Function>,
}

/// A function with the attribute [`traced`](crate::traced).
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Function {
    /// `crate::module::Type::function/arity`. A receiver counts as an argument.
    pub name: &'static str,
    /// Its source file.
    pub file: &'static str,
    /// The line of its name there.
    pub line: u32,
    /// The names of its arguments; `_` for one that is declared by a pattern.
    pub arguments: &'static [&'static str],
}

/// The prefix of the names of exports, and of patterns for them.
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

    /// Returns the name without the arity.
    pub fn path(&self) -> &'static str {
        // Backwards: only a few digits follow the slash.
        self.name.bytes().rposition(|byte| byte == b'/').map_or(self.name, |end| &self.name[..end])
    }

    /// Returns the name of an export, without its module.
    pub(crate) fn exported(&self) -> Option<&'static str> {
        self.name.strip_prefix(EXPORT)
    }

    /// Returns the function name of a module's export.
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

    /// Not const: loom makes atomics while a model runs.
    #[cfg(loom)]
    pub fn new(function: &'static Function) -> Site {
        Site {
            word: AtomicPtr::new(ptr::null_mut()),
            function: no_model::AtomicPtr::new(ptr::from_ref(function).cast_mut()),
        }
    }

    /// Returns whether the word is set. A hit reads it again, pinned, before following it.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        !self.word.load(Ordering::Relaxed).is_null()
    }

    #[inline]
    pub(crate) fn function(&self) -> &'static Function {
        // Relaxed: `set_function` comes before other threads know the site.
        // SAFETY: stored from such a reference, in `new` or `set_function`.
        unsafe { &*self.function.load(Ordering::Relaxed) }
    }

    /// Replaces the description by one that outlives the site. Called before other threads know the site.
    pub(crate) fn set_function(&self, function: &'static Function) {
        self.function.store(ptr::from_ref(function).cast_mut(), Ordering::Relaxed);
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
