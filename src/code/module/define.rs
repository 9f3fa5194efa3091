//! The macro `module!`.

use std::fmt::Display;

use dyntrace_probes::rings;

use super::sections::{exports, imports};
use crate::breakpoint;
use crate::code::call::panicked::caught;
use crate::code::version::descriptor::{Descriptor, ModuleState, Unloadable};

/// Makes a library a module, which programs can load. Call it once in a crate whose crate-type is `cdylib`.
///
/// ```standalone_crate
/// # mod pricing {
/// use dyntrace::code::ModuleState;
///
/// #[dyntrace::export]
/// fn price(quantity: u32) -> u64 {
///     u64::from(quantity) * 130
/// }
///
/// fn on_upgrade(old: ModuleState) -> Result<(), String> {
///     match old.form {
///         1 => Ok(()),
///         form => Err(format!("states of form {form} are unknown here")),
///     }
/// }
///
/// dyntrace::module!("pricing", version = "2.1.0", on_upgrade = on_upgrade);
/// # }
/// # fn main() {}
/// ```
///
/// Callers use the name; the version is for display. Options may follow, in any order:
///
/// | option | meaning |
/// |---|---|
/// | `unloadable = p` | an [`Unloadable`](crate::code::Unloadable): the `unsafe` promise that nothing refers to the module. Without it the library stays mapped for good, also after a purge |
/// | `on_load = f` | `fn() -> Result<(), E>`, with `E: Display`: called once, when the module is prepared. An error refuses the module |
/// | `state = f` | `fn() -> code::ModuleState`: called when a finish replaces this version, while it still serves calls |
/// | `on_upgrade = f` | `fn(code::ModuleState) -> Result<(), E>`: called when this version replaces another in a finish, with the result of the other's `state`, or an empty state of form 0 if it has none. An error fails the finish |
///
/// Each of them runs on a thread of its own, within [`Policy::patience`](crate::code::Policy::patience).
#[macro_export]
macro_rules! module {
    ($name:literal, version = $version:expr $(, $($options:tt)*)?) => {
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub static __dyntrace_module: $crate::__code::Descriptor = $crate::__module_with!(
            $crate::__code::Descriptor::new($name, $version), $($($options)*)?
        );
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub static __dyntrace_fingerprint: $crate::__code::Fingerprint = $crate::__code::OWN_FINGERPRINT;
        #[doc(hidden)]
        #[unsafe(no_mangle)]
        pub static __dyntrace_host: $crate::__code::HostAddress = $crate::__code::HostAddress::unset();
        // The linker sorts constructors by number; those without a number come last.
        #[used]
        #[unsafe(link_section = ".init_array.00000")]
        static __DYNTRACE_FIRST: extern "C" fn() = {
            extern "C" fn first() {
                __dyntrace_host.enter();
            }
            first
        };
        #[global_allocator]
        static __DYNTRACE_ALLOCATOR: $crate::__code::HostAllocator = $crate::__code::HostAllocator;
        $crate::__code::module_mark!();
    };
}

/// Adds options to a descriptor.
#[doc(hidden)]
#[macro_export]
macro_rules! __module_with {
    ($descriptor:expr $(,)?) => {
        $descriptor
    };
    ($descriptor:expr, unloadable = $promise:expr $(, $($rest:tt)*)?) => {
        $crate::__module_with!($descriptor.unloadable($promise), $($($rest)*)?)
    };
    ($descriptor:expr, unloadable $(, $($rest:tt)*)?) => {
        ::core::compile_error!(
            "`unloadable` is a promise that the compiler cannot check: write \
            `unloadable = unsafe { dyntrace::code::Unloadable::new() }`, or leave it out, and the library stays in memory"
        )
    };
    ($descriptor:expr, on_load = $hook:expr $(, $($rest:tt)*)?) => {
        $crate::__module_with!($descriptor.on_load(|| $crate::__code::hook(|| $hook())), $($($rest)*)?)
    };
    ($descriptor:expr, state = $hook:expr $(, $($rest:tt)*)?) => {
        $crate::__module_with!(
            $descriptor.state(|| $crate::__code::hook(|| ::core::result::Result::<_, &str>::Ok($hook()))), $($($rest)*)?
        )
    };
    ($descriptor:expr, on_upgrade = $hook:expr $(, $($rest:tt)*)?) => {
        $crate::__module_with!(
            $descriptor.on_upgrade(|state| $crate::__code::hook(move || $hook(state))), $($($rest)*)?
        )
    };
    ($descriptor:expr, $($other:tt)*) => {
        ::core::compile_error!("expected one of: unloadable = PROMISE, on_load = FUNCTION, state = FUNCTION, on_upgrade = FUNCTION")
    };
}

/// Runs a module's hook, and turns a panic into an error.
#[doc(hidden)]
pub fn hook<R, E: Display>(run: impl FnOnce() -> Result<R, E>) -> Result<R, String> {
    match caught(|| run().map_err(|error| error.to_string())) {
        Ok(result) => result,
        Err(panicked) => Err(format!("it panicked: {}", panicked.into_message())),
    }
}

impl Descriptor {
    /// For [`module!`](crate::module).
    pub const fn new(name: &'static str, version: &'static str) -> Descriptor {
        Descriptor {
            name,
            version,
            unloadable: None,
            exports,
            imports,
            sites: breakpoint::sites,
            probes: rings::probe_entries,
            on_load: None,
            state: None,
            on_upgrade: None,
        }
    }

    /// Adds the promise that the module may be unloaded.
    pub const fn unloadable(mut self, promise: Unloadable) -> Descriptor {
        self.unloadable = Some(promise);
        self
    }

    /// Adds the hook.
    pub const fn on_load(mut self, hook: fn() -> Result<(), String>) -> Descriptor {
        self.on_load = Some(hook);
        self
    }

    /// Adds the hook.
    pub const fn state(mut self, hook: fn() -> Result<ModuleState, String>) -> Descriptor {
        self.state = Some(hook);
        self
    }

    /// Adds the hook.
    pub const fn on_upgrade(mut self, hook: fn(ModuleState) -> Result<(), String>) -> Descriptor {
        self.on_upgrade = Some(hook);
        self
    }
}
