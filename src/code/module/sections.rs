//! How the exports and imports of a module are found: each has an entry in a section of the object file, whose ends the linker names.

use crate::code::layout::Layout;
use crate::code::lookup::signature::Signature;
use crate::code::version::descriptor::{ExportDescriptor, ImportDescriptor};
use crate::linked::linked;

/// For the attribute `export`: says of which type a layout is missing.
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

/// Entries of a section that holds pointers to these, as many as the linker has found in the object.
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

        /// Those of the object that has this copy of the crate.
        pub(super) fn $all() -> Vec<&'static $of> {
            linked!($section: $entry = $entry(None)).iter().filter_map(|entry| entry.0).collect()
        }
    };
}

section! {
    /// An export's entry in its section.
    LinkedExport of ExportDescriptor in "dyntrace_exports": exports
}

section! {
    /// An import's entry in its section.
    LinkedImport of ImportDescriptor in "dyntrace_imports": imports
}
