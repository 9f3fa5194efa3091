//! Live tracing for async Rust: file operations, messages and events of a running program, seen by the tracer that the
//! machine has. While nobody looks, a probe costs one compare and one jump that is not taken.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("notes.txt");
//! dyntrace::put_tag("req-17")?;
//! dyntrace::fs::write(&path, "some text").await?;
//! dyntrace::p!(17, "stored");
//! # Ok(())
//! # }
//! ```
//!
//! `dyntrace run efile_drv -p PID` shows the write and on whose behalf it ran; `dyntrace run user-probe -p PID` what the program says.
//!
//! - [`fs`]: `tokio::fs`'s shape, on the file driver in [`efile`], on the pool of I/O threads in [`aio_pool`].
//! - [`tag`]: user tags that follow a task; [`process`]: pids, and tasks that have one; [`seq_trace`]: tokens that follow
//!   a request from process to process.
//! - [`mailbox`]: messages between processes.
//! - [`user_trace`]: the application's own events, [`p!`].
//! - [`recorder`]: the same probes into files, without a tracer.
//! - [`trace`]: functions with the attribute [`traced`], traced by pattern while the program runs; [`alloc`]: an allocator that
//!   counts, so that traces say what they allocate.
//! - [`code`]: modules that are loaded, upgraded and purged while the program runs.
//! - [`probes`]: the probe functions of `provider.d`; [`sdt`]: what they are made of, for provider definitions of your own
//!   ([`include_provider!`]).
//! - `dist`: messages to and from Erlang nodes.
//!
//! # Features
//!
//! | feature | on by default | adds |
//! |---|---|---|
//! | `fs` | yes | `fs`, `efile` |
//! | `tokio-fs`, `stream` | yes | `From` between `fs::File` and tokio's; `fs::ReadDir` as a `Stream` |
//! | `mailbox` | yes | `mailbox` |
//! | `recorder` | yes | `recorder`, and `DYNTRACE=record:DIR` in the environment |
//! | `trace` | yes | `trace`, `traced`, `alloc`; it has `recorder` in it |
//! | `code` | no | `code`, on Linux; it has `trace` in it |
//! | `dist`, `dist-tls` | no | `dist`; the same under TLS |
//! | `nop5`, `dof` | no | other sites on x86_64 Linux, as README says |
//! | `scripts` | no | the shipped scripts as text |
//!
//! Everything else is in every build, the probes too. A program that wants to do without them is built with
//! `RUSTFLAGS="--cfg dyntrace_without_probes"`: then arguments are type-checked, and nothing else happens.
//!
//! # More
//!
//! - [`unsafe_argument`]: why safe code cannot break it; who promises what, on which facts.
//! - [`writing_a_driver`]: your own blocking work on the pool, seen as file operations are.
#![cfg_attr(not(unix), allow(unused))]
// Rooms below keep what only gated rooms use: the build with all features on Linux tells what nobody uses.
#![cfg_attr(
    not(all(feature = "code", feature = "fs", feature = "mailbox", target_os = "linux")),
    allow(dead_code, unused_imports)
)]

#[cfg(not(unix))]
compile_error!("dyntrace serves Unix systems: Linux, macOS, illumos, FreeBSD and their kin");

// The generated probe functions name this crate by its name, inside and outside of it.
extern crate self as dyntrace;

pub mod aio_pool;
#[cfg(feature = "trace")]
pub mod alloc;
#[cfg(feature = "trace")]
mod breakpoint;
mod clock;
#[cfg(all(feature = "code", target_os = "linux", not(miri)))]
pub mod code;
#[cfg(feature = "dist")]
pub mod dist;
#[cfg(feature = "fs")]
pub mod efile;
mod environment;
mod forks;
#[cfg(feature = "fs")]
pub mod fs;
mod glob;
mod host;
mod linked;
#[cfg(feature = "mailbox")]
pub mod mailbox;
mod panic_text;
pub mod probes;
pub mod process;
#[cfg(recorder)]
pub mod recorder;
mod scope;
#[cfg(feature = "scripts")]
pub mod scripts;
pub mod sdt;
pub mod seq_trace;
mod short;
#[cfg(all(test, not(any(loom, miri))))]
mod sources;
mod sync;
pub mod tag;
mod text;
mod thread_progress;
#[cfg(feature = "trace")]
pub mod trace;
mod unpark;
pub mod user_trace;
#[cfg(doc)]
#[doc = include_str!("../docs/unsafe_argument.md")]
pub mod unsafe_argument {}
#[cfg(doc)]
#[doc = include_str!("../docs/writing-a-driver.md")]
pub mod writing_a_driver {}

/// What the code that the attribute macros make stands on. Not for use by hand, and free to change.
#[cfg(feature = "trace")]
#[doc(hidden)]
pub mod __traced {
    pub use crate::breakpoint::pattern::{Actions, Call, Flags, MatchSpec, TokenChange};
    pub use crate::breakpoint::value::{
        Blind, ByDebug, ByInspect, ByShape, Inside, InsideBlind, InsideByDebug, InsideByInspect, Inspect, Layer, Plain,
        Printed, Shape, Shell, Shown, Value, Variant,
    };
    pub use crate::breakpoint::{Guard, Hit, Mark, Site, body, hit, hit_future, known_caller, promised};
    #[cfg(all(target_os = "linux", not(miri)))]
    pub use crate::breakpoint::{enrol, sites};
}

/// What modules stand on. Not for use by hand, and free to change.
#[cfg(all(feature = "code", target_os = "linux", not(miri)))]
#[doc(hidden)]
pub mod __code {
    pub use crate::code::{
        Descriptor, ExportDescriptor, Fingerprint, HostAddress, HostAllocator, ImportDescriptor, LinkedExport,
        LinkedImport, OWN_FINGERPRINT, Panicked, caught, has_layout, hook,
    };
}

/// Makes a function of a module one that callers outside of it find by name; see [`code`].
///
/// Its arguments and its result are of types with a [`Layout`](code::Layout), by value or, up to four arguments, by reference; what it
/// returns borrows nothing. An `async fn` has up to six arguments by value. Panics go no further than to the caller's
/// [`CallError`](code::CallError).
///
/// ```
/// # use dyntrace::code::Layout;
/// #[derive(Layout)]
/// struct Order {
///     quantity: u32,
/// }
///
/// #[dyntrace::export]
/// fn price(order: &Order) -> u64 {
///     u64::from(order.quantity) * 130
/// }
/// # assert_eq!(price(&Order { quantity: 2 }), 260);
/// ```
#[cfg(all(feature = "code", target_os = "linux"))]
pub use dyntrace_macros::export;
/// Makes a function one that can be traced while the program runs; see [`trace`]. While nobody does, it costs one compare
/// and one jump that is not taken.
///
/// Functions, methods, generic and asynchronous functions can have it; nothing else is to be called or registered. On an
/// `impl` or `trait` block it is for every function with a body in it, but for `const` ones.
///
/// A function's name is `crate::module::Type::function/arity`, where the receiver counts as an argument. A method that has
/// the attribute by itself has no type in its name unless `in` says one. A generic function is one function.
///
/// | option | meaning |
/// |---|---|
/// | `in = Type` | the type whose method it is |
/// | `skip(a, b)`, `secret(a)` | arguments that are not looked at, and never shown |
/// | `caller` | adds `#[track_caller]`, so that events tell where the function was called exactly, and without a look at the stack; an asynchronous one, where its future was made |
/// | `off` | in a block: this function is not traced |
///
/// An asynchronous function with `caller` becomes one that returns an `impl Future`: to its callers that is the same.
///
/// Of any other function with `#[track_caller]` the end is seen, but neither the value (an `Err`, therefore, is a return like others) nor a
/// panic's message.
///
/// ```
/// # struct Cart(Vec<u32>);
/// #[dyntrace::traced]
/// impl Cart {
///     fn total(&self, discount: u32) -> Option<u32> {
///         self.0.iter().sum::<u32>().checked_sub(discount)
///     }
///
///     #[traced(secret(card))]
///     async fn pay(&mut self, card: &str) -> bool {
///         self.0.clear();
///         !card.is_empty()
///     }
/// }
/// # assert_eq!(Cart(vec![3, 4]).total(2), Some(5));
/// ```
///
/// What runs while a program is compiled cannot be traced:
///
/// ```compile_fail
/// #[dyntrace::traced]
/// const fn answer() -> u32 {
///     42
/// }
/// ```
#[cfg(feature = "trace")]
pub use dyntrace_macros::traced;
#[doc(no_inline)]
pub use probe::probe;
#[doc(no_inline)]
pub use process::{spawn, spawn_local};
#[doc(no_inline)]
pub use tag::{Tag, TagError, get_tag, get_tag_data, put_tag, restore_tag, spread_tag, take_tag, with_tag};

/// Includes the probe functions that `dyntrace_build::compile` made of a provider file, by the file's name without `.d`.
#[macro_export]
macro_rules! include_provider {
    ($name:literal) => {
        include!(concat!(env!("OUT_DIR"), "/", $name, ".rs"));
    };
}
