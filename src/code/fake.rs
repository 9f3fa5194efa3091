//! Fake modules: descriptors in the test itself, without libraries.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use super::lookup::signature::Signature;
use super::version::descriptor::{ExportDescriptor, Unloadable};
use super::version::image::{Mapping, Unmapped};
use super::version::tables::Tables;

/// Has an address range, and counts calls of `unmap`.
pub(super) struct FakeMapping {
    pub(super) start: usize,
    pub(super) unmapped: Arc<AtomicUsize>,
    pub(super) answer: Unmapped,
}

pub(super) const SIZE: usize = 1 << 16;

impl FakeMapping {
    pub(super) fn new() -> FakeMapping {
        static NEXT: AtomicUsize = AtomicUsize::new(1 << (usize::BITS - 2));
        FakeMapping { start: NEXT.fetch_add(SIZE, Relaxed), unmapped: Arc::default(), answer: Unmapped::Gone }
    }
}

impl Mapping for FakeMapping {
    fn range(&self) -> Range<usize> {
        self.start..self.start + SIZE
    }

    fn bias(&self) -> usize {
        self.start
    }

    fn path(&self) -> &Path {
        Path::new("/nowhere")
    }

    fn source(&self) -> &Path {
        Path::new("/nowhere")
    }

    unsafe fn unmap(&self) -> Unmapped {
        self.unmapped.fetch_add(1, Relaxed);
        self.answer
    }
}

/// Tables of a test's own, never freed.
pub(super) fn new_tables() -> &'static Tables {
    Box::leak(Box::new(Tables::new()))
}

/// The descriptor that the attribute would generate, of a function whose type the test writes twice.
pub(super) const fn export<F: Signature>(name: &'static str, code: *const ()) -> ExportDescriptor {
    // SAFETY: `fake!` gives the types of the function and of the export side by side.
    unsafe { ExportDescriptor::new::<F>(name, code) }
}

// SAFETY: fakes are never really unmapped.
pub(super) const PROMISE: Unloadable = unsafe { Unloadable::new() };

/// The descriptor of a module that would be compiled separately: `fake!("pricing" "1.0", fn(u32) -> u32 { price = |order| Ok(order) })`.
macro_rules! fake {
    ($name:literal $version:literal $(unloadable $unloadable:literal)?;
     $($export:ident: $type:ty as fn($($argument:ty),*) -> $result:ty = $code:expr;)*
     $(@import $module:literal $import:ident: $imported:ty;)*) => {{
        use $crate::code::version::descriptor::{Descriptor, ExportDescriptor, ImportDescriptor};
        #[allow(unused_imports, reason = "not each fake has exports")]
        use $crate::code::call::panicked::Panicked;
        #[allow(unused_imports, reason = "as above")]
        use $crate::code::call::panicked::caught;
        #[allow(unused_imports, reason = "as above")]
        use $crate::code::fake::{PROMISE, export};
        fn exports() -> Vec<&'static ExportDescriptor> {
            vec![$({
                const CODE: fn($($argument),*) -> Result<$result, Panicked> = $code;
                static EXPORT: ExportDescriptor = export::<$type>(stringify!($export), CODE as *const ());
                &EXPORT
            }),*]
        }
        fn imports() -> Vec<&'static ImportDescriptor> {
            vec![$({
                static IMPORT: ImportDescriptor = ImportDescriptor::new::<$imported>($module, stringify!($import));
                &IMPORT
            }),*]
        }
        static DESCRIPTOR: Descriptor = Descriptor {
            unloadable: if true $(&& $unloadable)? { Some(PROMISE) } else { None },
            exports,
            imports,
            sites: || &[],
            probes: || &[],
            ..Descriptor::new($name, $version)
        };
        &DESCRIPTOR
    }};
}
pub(super) use fake;
