//! Descriptors: how a module describes itself to its host.
//!
//! `module!` puts one [`Descriptor`] into the library, under the name [`SYMBOL`]. It means the same to both copies of this crate only if
//! their fingerprints are equal, which the host checks first, in the file.

use std::ffi::CStr;
use std::sync::atomic::AtomicPtr;

use dyntrace_probes::rings;

use crate::breakpoint::Site;
use crate::code::call::export_entry::ExportEntry;
use crate::code::call::export_name::SignatureHash;

/// The symbol name of a module's descriptor.
pub const SYMBOL: &CStr = c"__dyntrace_module";

/// Describes a module; made by `module!`.
#[derive(Debug)]
pub struct Descriptor {
    /// The name that callers use.
    pub name: &'static str,
    /// The version, for display.
    pub version: &'static str,
    /// The promise that nothing refers to the module, so that it may be unloaded.
    pub unloadable: Option<Unloadable>,
    /// Functions with the attribute `export`.
    pub exports: fn() -> Vec<&'static ExportDescriptor>,
    /// Exports of other modules that this module calls.
    pub imports: fn() -> Vec<&'static ImportDescriptor>,
    /// Its breakpoint sites.
    pub sites: fn() -> &'static [Site],
    /// Its probes.
    pub probes: fn() -> &'static [rings::ProbeEntry],
    /// Called once, when the version is prepared. None of these three hooks panics.
    pub on_load: Option<fn() -> Result<(), String>>,
    /// Called in the old version: returns the state for the new one.
    pub state: Option<fn() -> Result<ModuleState, String>>,
    /// Called in the new version, with the old one's state, while the old version still serves calls.
    pub on_upgrade: Option<fn(ModuleState) -> Result<(), String>>,
}

/// A module's promise that it may be unmapped once no caller is inside it; see [`module!`](crate::module). Making one takes `unsafe`.
///
/// ```compile_fail,E0133
/// let promise = dyntrace::code::Unloadable::new();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Unloadable(());

impl Unloadable {
    /// Makes the promise.
    ///
    /// # Safety
    ///
    /// While none of its exports runs and none of their futures lives, nothing of the module is in use:
    ///
    /// - no thread runs its code, whether started by a constructor, a hook or an export;
    /// - no value outside of it refers to it: a `&'static` reference into its statics (string literals are statics too), a function
    ///   pointer, a trait object, a waker, a future or task that was passed to another runtime;
    /// - nothing calls it later: a destructor of a thread-local value, `atexit`, a signal handler, a panic hook, a subscriber or
    ///   logger installed in a library that it shares with the program. [`std::thread::current`] leaves such a destructor in
    ///   each of the program's threads in which the module calls it; the system does not know of it.
    ///
    /// The same holds for a version that is dropped before it is in force, or whose loading fails after its constructors ran.
    pub const unsafe fn new() -> Unloadable {
        Unloadable(())
    }
}

/// A function with the attribute `export`.
#[derive(Debug)]
pub struct ExportDescriptor {
    /// The function's name.
    pub name: &'static str,
    /// A hash of the types that callers and the function must agree on.
    pub signature: SignatureHash,
    /// The signature as text.
    pub signature_text: fn() -> &'static str,
    /// The wrapper that catches panics: `fn(arguments...) -> Result<R, Panicked>`.
    pub code: *const (),
}

// SAFETY: it is an immutable static, and its pointer leads to a function.
unsafe impl Sync for ExportDescriptor {}

/// An export of another module that a module calls.
#[derive(Debug)]
pub struct ImportDescriptor {
    /// The other module's name.
    pub module: &'static str,
    /// The export's name.
    pub name: &'static str,
    /// A hash of the types that both must agree on.
    pub signature: SignatureHash,
    /// The signature as text.
    pub signature_text: fn() -> &'static str,
    /// The host's entry, stored when the module is prepared. Null in a program.
    pub(crate) entry: AtomicPtr<ExportEntry>,
}

/// The state that one version of a module hands to the next: bytes in a numbered format.
///
/// ```
/// # use dyntrace::code::ModuleState;
/// let state = ModuleState { form: 2, bytes: 17_u64.to_le_bytes().to_vec() };
/// assert_eq!(state.form, 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleState {
    /// The number of the bytes' format, chosen by the module.
    pub form: u32,
    /// The state, in that format.
    pub bytes: Vec<u8>,
}
