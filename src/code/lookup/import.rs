//! Imports: exports of other modules that a module calls.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::signature::{HandleOf, Signature};
use crate::code::call::export_entry::ExportEntry;
use crate::code::call::export_name::ExportName;
use crate::code::version::descriptor::ImportDescriptor;
use crate::code::version::tables::tables;

/// Declares a static handle of an export, by the names of its module and of the export. It follows every upgrade.
///
/// ```
/// dyntrace::import! {
///     static RATE: fn(u32) -> u32 = "tax", "rate";
/// }
///
/// # fn gross(net: u32) -> Result<u32, dyntrace::code::CallError> {
/// let tax = net * RATE.call(net)? / 100;
/// # Ok(net + tax)
/// # }
/// # assert!(gross(7).is_err());
/// ```
///
/// A module can be finished only if each import is exported with the same signature, by a loaded module or by one of the same finish.
/// In a program, calls return [`CallError::Missing`](crate::code::CallError::Missing) while no version exports it.
#[macro_export]
macro_rules! import {
    ($($(#[$about:meta])* $visible:vis static $name:ident: $signature:ty = $module:literal, $export:literal;)*) => { $(
        $(#[$about])*
        $visible static $name: $crate::code::Import<$signature> = {
            static IMPORT: $crate::__code::ImportDescriptor =
                $crate::__code::ImportDescriptor::new::<$signature>($module, $export);
            #[used]
            #[unsafe(link_section = "dyntrace_imports")]
            static ENTRY: $crate::__code::LinkedImport = $crate::__code::LinkedImport::new(&IMPORT);
            $crate::code::Import::new(&IMPORT)
        };
    )* };
}

/// A static handle, declared by [`import!`](crate::import); it dereferences to a [`HandleOf`].
pub struct Import<F: Signature> {
    descriptor: &'static ImportDescriptor,
    handle: OnceLock<HandleOf<F>>,
}

impl<F: Signature> Import<F> {
    /// For [`import!`](crate::import).
    ///
    /// # Panics
    ///
    /// The descriptor has another signature.
    #[doc(hidden)]
    pub const fn new(descriptor: &'static ImportDescriptor) -> Import<F> {
        assert!(descriptor.signature.is(F::HASH), "an import and its descriptor have one signature");
        Import { descriptor, handle: OnceLock::new() }
    }
}

impl<F: Signature> Deref for Import<F> {
    type Target = HandleOf<F>;

    #[inline]
    fn deref(&self) -> &HandleOf<F> {
        self.handle.get_or_init(|| HandleOf::<F>::from(self.descriptor.entry()))
    }
}

impl<F: Signature> fmt::Debug for Import<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Import({}::{})", self.descriptor.module, self.descriptor.name)
    }
}

impl ImportDescriptor {
    /// For [`import!`](crate::import).
    pub const fn new<F: Signature>(module: &'static str, name: &'static str) -> ImportDescriptor {
        let entry = AtomicPtr::new(std::ptr::null_mut());
        ImportDescriptor { module, name, signature: F::HASH, signature_text: F::text, entry }
    }

    /// Binds the import to the host's entry. The host calls it for a module that it loads.
    pub(crate) fn resolve(&self) {
        // Relaxed: the module's code is not called yet.
        self.entry.store(std::ptr::from_ref(self.host_entry()).cast_mut(), Ordering::Relaxed);
    }

    fn host_entry(&self) -> &'static ExportEntry {
        let (module, name) = (self.module.to_owned(), self.name.to_owned());
        tables().entry(ExportName { module, name, signature: self.signature })
    }

    fn entry(&self) -> &'static ExportEntry {
        // SAFETY: null, or the entry stored by `resolve`, which is never freed.
        // Relaxed: see there.
        match unsafe { self.entry.load(Ordering::Relaxed).as_ref() } {
            Some(entry) => entry,
            // In a program: it has no host.
            None => self.host_entry(),
        }
    }
}
