//! What a module says of itself, and what it is given: all that host and module know of each other.
//!
//! A module has a copy of this crate of its own, with statics of its own: it is a *guest*. `module!` puts one
//! [`Descriptor`] into it, under the name [`SYMBOL`]. What lies there means the same on both sides only if the fingerprints are
//! equal. The module's lies in its file as a text of its own, so that the host reads that first.

use std::ffi::CStr;
use std::sync::atomic::AtomicPtr;

use crate::breakpoint::Site;
use crate::code::call::export_entry::ExportEntry;
use crate::code::call::export_name::SignatureHash;
use crate::recorder;

/// Name of a module's descriptor in its file.
pub const SYMBOL: &CStr = c"__dyntrace_module";

/// What a module says of itself; made by `module!`.
#[derive(Debug)]
pub struct Descriptor {
    /// The module's name, by which it is known to callers.
    pub name: &'static str,
    /// The version's, for people.
    pub version: &'static str,
    /// The module's promise that nothing of it escapes, so that it may be unloaded.
    pub unloadable: Option<Unloadable>,
    /// Functions with the attribute `export`.
    pub exports: fn() -> Vec<&'static ExportDescriptor>,
    /// Exports of other modules that this one calls.
    pub imports: fn() -> Vec<&'static ImportDescriptor>,
    /// Its sites of breakpoints.
    pub sites: fn() -> &'static [Site],
    /// Its probes.
    pub probes: fn() -> &'static [recorder::ProbeEntry],
    /// Called once, when the version is prepared. None of these three panics.
    pub on_load: Option<fn() -> Result<(), String>>,
    /// The old version's: what is to be handed to the new one.
    pub state: Option<fn() -> Result<ModuleState, String>>,
    /// The new version's: takes what the old one has handed over. Called while the old one still serves calls.
    pub on_upgrade: Option<fn(ModuleState) -> Result<(), String>>,
}

/// A module's promise that it may be taken out of memory once no caller is inside of it; see
/// [`module!`](crate::module). Only `unsafe` makes one.
///
/// ```compile_fail,E0133
/// let promise = dyntrace::code::Unloadable::new();
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Unloadable(());

impl Unloadable {
    /// The promise.
    ///
    /// # Safety
    ///
    /// Nothing of the module is in use when none of its exports runs and none of their futures lives:
    ///
    /// - no thread runs its code, whoever started it: a constructor, a hook or an export;
    /// - no value that has left it refers to it: a `&'static` reference into its statics (texts are statics too), a function
    ///   pointer, a trait object, a waker, a future or task that was handed to another runtime;
    /// - nothing calls it later: a destructor of a thread-local value, `atexit`, a signal handler, a panic hook, a subscriber or
    ///   logger that it has installed in a library it shares with the program. [`std::thread::current`] leaves such a destructor
    ///   in each of the program's threads that the module calls it in; the system does not know of it.
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
    /// Hash of the types that callers and the function must agree upon.
    pub signature: SignatureHash,
    /// The same, for people.
    pub signature_text: fn() -> &'static str,
    /// The wrapper that catches panics: `fn(arguments...) -> Result<R, Panicked>`.
    pub code: *const (),
}

// SAFETY: it is a static that nobody writes, and its pointer is to a function.
unsafe impl Sync for ExportDescriptor {}

/// An export of another module that a module calls.
#[derive(Debug)]
pub struct ImportDescriptor {
    /// The other module's name.
    pub module: &'static str,
    /// The export's name.
    pub name: &'static str,
    /// Hash of the types that both must agree upon.
    pub signature: SignatureHash,
    /// The same, for people.
    pub signature_text: fn() -> &'static str,
    /// The host's, put there when the module is prepared; null in a program.
    pub(crate) entry: AtomicPtr<ExportEntry>,
}

/// What one version of a module hands to the next: bytes, in a form that both know by its number.
///
/// ```
/// # use dyntrace::code::ModuleState;
/// let state = ModuleState { form: 2, bytes: 17_u64.to_le_bytes().to_vec() };
/// assert_eq!(state.form, 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModuleState {
    /// Which form the bytes have: chosen by the module.
    pub form: u32,
    /// The state, in that form.
    pub bytes: Vec<u8>,
}
