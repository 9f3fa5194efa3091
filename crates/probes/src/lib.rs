//! Probes of your own in Rust: USDT for `dtrace`, `stap`, `bpftrace` and `perf` on Linux, DTrace's on macOS, illumos, FreeBSD and
//! their kin. While nobody looks, a probe costs one compare and one jump that is not taken.
//!
//! A provider is a file in D beside the package's `Cargo.toml`:
//!
//! ```d
//! provider shop {
//!     probe order__paid(char *name, uint32_t cents);
//! };
//! ```
//!
//! The package's build script is `dyntrace_build::compile("shop.d")`, and its root has [`include_provider!`]`("shop")`. Then
//! `order::paid(|| (name, cents))` fires the probe `order-paid`: the closure runs only while a tracer is attached to it.
//!
//! # Features
//!
//! | feature | adds |
//! |---|---|
//! | none | probes for tracers: no dependencies, no thread, no allocation |
//! | `rings` | the recorder's part of a firing; the crate `dyntrace` brings it, and records this provider's probes with its own |
//! | `nop5`, `dof` | other sites on x86_64 Linux |
//! | `threads`, `modules` | parts for the crate `dyntrace` |
//!
//! To leave probes out, build the program with `RUSTFLAGS="--cfg dyntrace_without_probes"`: arguments are still type-checked then, and
//! nothing else happens.
#![cfg_attr(not(unix), allow(unused))]
#![allow(
    rustdoc::private_intra_doc_links,
    reason = "the rooms of `dyntrace` are hidden, and explain themselves by their files"
)]
#![allow(clippy::new_without_default, reason = "they are statics of `dyntrace`")]

#[cfg(not(unix))]
compile_error!("dyntrace-probes serves Unix systems: Linux, macOS, illumos, FreeBSD and their kin");

#[cfg(test)]
extern crate self as dyntrace_probes;

// All but `sdt` are for the crate `dyntrace`. They may change at any time.
#[doc(hidden)]
pub mod arguments;
#[cfg(feature = "threads")]
#[doc(hidden)]
pub mod clock;
#[cfg(feature = "threads")]
#[doc(hidden)]
pub mod contain;
#[cfg(all(test, feature = "threads", not(any(loom, miri))))]
#[path = "../../../tests/common/forked.rs"]
mod forked;
#[cfg(feature = "threads")]
#[doc(hidden)]
pub mod forks;
#[cfg(feature = "threads")]
#[doc(hidden)]
pub mod host;
#[cfg(feature = "threads")]
#[doc(hidden)]
pub mod linked;
#[cfg(feature = "threads")]
#[doc(hidden)]
pub mod primitives;
#[doc(hidden)]
pub mod provider;
#[cfg(rings)]
#[doc(hidden)]
pub mod rings;
pub mod sdt;
#[doc(hidden)]
pub mod short;
#[doc(hidden)]
pub mod text;
#[cfg(feature = "threads")]
#[doc(hidden)]
pub mod thread_progress;

/// A hash of the sources: copies of this crate with equal ones can share types.
#[cfg(feature = "modules")]
#[doc(hidden)]
pub const SOURCES: &str = env!("DYNTRACE_PROBES_SOURCES");
