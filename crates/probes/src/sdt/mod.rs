//! Statically defined tracing: the macros and types of generated probe functions.
//!
//! A probe has one *word* per ELF object, which is zero while the probe is disabled. Its low half is the semaphore of the probe's note,
//! which tracers increment; its high half belongs to dyntrace's recorder. On platforms whose tracers need no word (leaves `macos` and
//! `dof`), the recorder has the whole word, and the leaf asks for tracers otherwise. Call sites compare the word with zero
//! ([`if_enabled!`]). If it is not zero, one out-of-line function per probe passes the arguments to the recorder's sessions ([`record!`])
//! and, for tracers ([`if_traced!`]), encodes the strings ([`Buffer`]) and executes the probe's only site ([`site!`]).
//!
//! Reading the word and the site differ by platform. Each platform has a leaf file with the same macros, chosen by the build script:
//!
//! | leaf | platform | probes by |
//! |---|---|---|
//! | `linux_x86_64`, `linux_x86`, `linux_aarch64` | Linux | stapsdt notes; with the feature `dof`, on x86_64, DOF as well |
//! | `macos` | macOS | the linker |
//! | `dof` | FreeBSD, illumos, Solaris, NetBSD on x86_64 | DOF, registered at start, see [`register`] |
//! | `plain` | others; also loom and miri | nothing; tests can set the word |
//! | `none` | `--cfg dyntrace_without_probes` | nothing; arguments are only type-checked |
//!
//! The macros are for generated code, see the crate `dyntrace-build`. Names of probes occur in assembly, so names with characters other
//! than letters, digits and `_` do not compile:
//!
//! ```compile_fail,E0080
//! dyntrace_probes::sdt::declare!("shop", "sold\n.popsection");
//! dyntrace_probes::sdt::if_enabled!("shop", "sold\n.popsection", shop, {});
//! ```

#[doc(hidden)]
pub mod any;
#[doc(hidden)]
pub mod here;
#[cfg(not(rings))]
#[doc(hidden)]
mod no_decision;
mod probe;
#[cfg_attr(not(recorded), path = "unrecorded.rs")]
#[doc(hidden)]
pub mod recorded;
mod register;
mod registration;
#[cfg(any(sdt_leaf = "dof", sdt_leaf = "macos", sdt_leaf = "plain"))]
mod word;

#[cfg(any(sdt_leaf = "linux_x86_64", sdt_leaf = "linux_x86", sdt_leaf = "linux_aarch64"))]
mod stapsdt;

#[cfg(all(any(sdt_leaf = "linux_x86_64", sdt_leaf = "linux_aarch64"), not(dof)))]
mod in_registers;

// Also compiled for tests on Linux.
#[cfg(any(sdt_leaf = "macos", dof, all(test, any(sdt_leaf = "linux_x86_64", sdt_leaf = "linux_aarch64"))))]
mod c_call;
#[cfg(any(dof, all(test, sdt_leaf = "linux_x86_64")))]
#[doc(hidden)]
pub mod dof;

#[cfg(sdt_leaf = "linux_aarch64")]
mod linux_aarch64;
#[cfg(sdt_leaf = "linux_x86")]
mod linux_x86;
#[cfg(sdt_leaf = "linux_x86_64")]
mod linux_x86_64;
#[cfg(sdt_leaf = "macos")]
mod macos;
#[cfg(sdt_leaf = "none")]
mod none;
#[cfg(sdt_leaf = "plain")]
mod plain;

/// Whether names consist of letters, digits and `_`. Others could be instructions in assembly.
#[doc(hidden)]
pub const fn are_names(provider: &str, probe: &str) -> bool {
    const fn is_name(name: &[u8]) -> bool {
        match name {
            [] => true,
            [first, rest @ ..] => (first.is_ascii_alphanumeric() || *first == b'_') && is_name(rest),
        }
    }
    !provider.is_empty() && !probe.is_empty() && is_name(provider.as_bytes()) && is_name(probe.as_bytes())
}

/// Fails to compile for invalid names.
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_check {
    ($provider:literal, $probe:literal) => {
        const { assert!($crate::sdt::are_names($provider, $probe), "names of probes consist of letters, digits and `_`") }
    };
}

/// The probe's site. In brackets before the names: DTrace's attributes of the provider, five times three numbers.
#[cfg(any(sdt_leaf = "macos", dof))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site_with_attributes {
    ([$attributes:literal] $($site:tt)*) => {
        $crate::__sdt_site!([$attributes] $($site)*)
    };
    ($($site:tt)*) => {
        $crate::__sdt_site!(["1_1_0_1_1_0_1_1_0_1_1_0_1_1_0"] $($site)*)
    };
}

/// The probe's site. Notes have no attributes.
#[cfg(not(any(sdt_leaf = "macos", dof)))]
#[doc(hidden)]
#[macro_export]
macro_rules! __sdt_site_with_attributes {
    ([$attributes:literal] $($site:tt)*) => {
        $crate::__sdt_site!($($site)*)
    };
    ($($site:tt)*) => {
        $crate::__sdt_site!($($site)*)
    };
}

pub use register::{deregister, register};
pub use registration::Registration;

pub use crate::text::{Buffer, Shape, Text};

pub use crate::__sdt_declare as declare;
pub use crate::__sdt_describe as describe;
pub use crate::__sdt_discard as discard;
pub use crate::__sdt_if_enabled as if_enabled;
pub use crate::__sdt_if_traced as if_traced;
pub use crate::__sdt_probe as probe;
pub use crate::__sdt_record as record;
pub use crate::__sdt_return_if_discarded as return_if_discarded;
pub use crate::__sdt_site_with_attributes as site;
pub use any::if_any_enabled;
pub use here::fire_both_here;
pub use here::fire_here;
pub use recorded::{is_only_kept, open_control_if_requested, sessions, time_if_recorded};

#[cfg(rings)]
#[doc(hidden)]
pub use crate::rings::Decision;
#[cfg(not(rings))]
#[doc(hidden)]
pub use no_decision::Decision;

#[cfg(test)]
mod tests {
    use super::are_names;

    #[test]
    fn names_that_assembly_would_take_for_more_are_refused() {
        assert!(are_names("shop", "order__sold") && are_names("_7", "Sold2"));
        for bad in ["", "a b", "a-b", "a\n.byte 0", "a\"", "ä", "a;ud2"] {
            assert!(!are_names("shop", bad) && !are_names(bad, "sold"), "{bad}");
        }
    }

    #[cfg(any(sdt_leaf = "linux_x86_64", sdt_leaf = "linux_x86", sdt_leaf = "linux_aarch64"))]
    #[test]
    #[allow(named_asm_labels, reason = "as in generated code")]
    fn each_probe_has_its_own_word() {
        assert_ne!(crate::__sdt_word_at!("db", "pool_empty"), crate::__sdt_word_at!("db_pool", "empty"));
    }
}
