//! The linker sections that hold a module's exports and imports. The linker defines symbols for the ends of each.

use dyntrace_probes::linked::linked;

use crate::code::layout::Layout;
use crate::code::lookup::signature::Signature;
use crate::code::version::descriptor::{ExportDescriptor, ImportDescriptor};

/// For the attribute `export`: makes the compiler name a type without a layout.
#[doc(hidden)]
#[inline(always)]
pub fn has_layout<T: Layout + ?Sized>() {}

impl ExportDescriptor {
    /// For the attribute `export`.
    ///
    /// # Safety
    ///
    /// `code` is a `fn(arguments of F...) -> Result<result of F, Panicked>`, with the lifetimes of `F`.
    pub const unsafe fn new<F: Signature>(name: &'static str, code: *const ()) -> ExportDescriptor {
        ExportDescriptor { name, signature: F::HASH, signature_text: F::text, code }
    }
}

/// Defines the entries of a section, which are pointers, and a function that collects them.
macro_rules! section {
    ($(#[$about:meta])* $entry:ident of $of:ident in $section:literal: $all:ident) => {
        $(#[$about])*
        #[derive(Debug)]
        #[repr(transparent)]
        pub struct $entry(Option<&'static $of>);

        impl $entry {
            /// For generated code.
            pub const fn new(of: &'static $of) -> $entry {
                $entry(Some(of))
            }
        }

        /// Collects those of the object that contains this copy of the crate.
        pub(super) fn $all() -> Vec<&'static $of> {
            linked!($section: $entry = $entry(None)).iter().filter_map(|entry| entry.0).collect()
        }
    };
}

section! {
    /// The entry of an export in its section.
    LinkedExport of ExportDescriptor in "dyntrace_exports": exports
}

section! {
    /// The entry of an import in its section.
    LinkedImport of ImportDescriptor in "dyntrace_imports": imports
}
