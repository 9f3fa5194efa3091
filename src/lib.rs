//! Live tracing for async Rust: a tracer on the machine sees file operations, messages, function calls and events of a running
//! program. While no tracer is attached, a probe costs one compare and one jump that is not taken.
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
//! `dyntrace run efile_drv -p PID` shows the write and its user tag, `dyntrace run user-probe -p PID` the event.
//!
//! | module | purpose |
//! |---|---|
//! | [`fs`] | file operations with the signatures of `tokio::fs` |
//! | [`efile`] | the file driver below `fs`: all operations and their probes |
//! | [`aio_pool`] | the pool of I/O threads below `efile`, for blocking work of your own as well |
//! | [`process`] | pids, and the processes that have one |
//! | [`task`] | [`spawn()`] and its kin, with the names of `tokio::task`: tasks that are processes |
//! | `sync` (feature `sync`) | locks, semaphores, barriers, cells and channels with the names of `tokio::sync`; tracers see their waits |
//! | `time` (feature `time`) | sleeps, timeouts and intervals with the names of `tokio::time`, likewise |
//! | `net` (feature `net`) | TCP, UDP and Unix sockets with the names of `tokio::net`, likewise |
//! | [`waiting`] | the waits of processes, [`wait()`] |
//! | [`tag`] | user tags that follow a task, a stream, a reader or a writer |
//! | [`seq_trace`] | tokens that follow a request from process to process |
//! | [`mailbox`] | messages between processes |
//! | `dist` (feature `dist`) | messages to and from Erlang nodes |
//! | [`user_trace`] | your program's own events, [`p!`] |
//! | [`trace`] | calls of functions with the attribute [`traced`], traced by pattern while the program runs |
//! | [`alloc`] | an allocator that counts, so that traces show how much memory functions allocate |
//! | `runtime` (feature `runtime`) | tokio's runtimes, built so that their tasks are seen; the attributes `main` and `test` |
//! | [`monitor`] | a monitor that tells when a poll, a wait, a mailbox or a queue becomes too long; on Linux |
//! | [`recorder`] | recording of all probes into files, without a tracer; on Unix |
//! | [`code`] | modules: libraries that a running program loads, upgrades and purges; on Linux |
//! | [`probes`] | the probe functions, made from `provider.d` |
//! | [`sdt`] | the parts of probe functions, for providers of your own ([`include_provider!`]) |
//!
//! # Features
//!
//! | feature | on by default | adds |
//! |---|---|---|
//! | `fs` | yes | `fs`, `efile` |
//! | `tokio-fs`, `stream` | yes | `From` between `fs::File` and tokio's; `fs::ReadDir` and `tag::WithTag` as a `Stream` |
//! | `mailbox` | yes | `mailbox` |
//! | `recorder` | yes | `recorder`, `monitor`, and `DYNTRACE=record:DIR` in the environment |
//! | `trace` | yes | `trace`, `traced`, `alloc`; includes `recorder` |
//! | `sync`, `time`, `net` | no | `sync`, `time`, `net` |
//! | `runtime` | no | `runtime`, `main`, `test` |
//! | `code` | no | `code`, on Linux; includes `trace` |
//! | `dist`, `dist-tls` | no | `dist`; the same under TLS |
//! | `nop5`, `dof` | no | other sites on x86_64 Linux, as `docs/sites.md` and `docs/visible.md` say |
//! | `scripts` | no | the shipped scripts as text |
//!
//! Everything else is in every build, and so are the probes. To leave them out, build the program with
//! `RUSTFLAGS="--cfg dyntrace_without_probes"`: arguments are still type-checked then, and nothing else happens.
//!
//! # More
//!
//! The package has a book in its folder `docs`, which begins with `docs/first_operation.md`. Two of its chapters are here, too:
//! [`writing_a_driver`] puts your own blocking work on the pool, with probes. [`unsafe_argument`] lists the facts that make this crate
//! sound for safe code.
#![cfg_attr(not(unix), allow(unused))]
// Lower rooms have items that only gated rooms use. The build with all features on Linux finds those that are unused.
#![cfg_attr(
    not(all(feature = "code", feature = "fs", feature = "mailbox", target_os = "linux")),
    allow(dead_code, unused_imports)
)]

#[cfg(not(unix))]
compile_error!("dyntrace serves Unix systems: Linux, macOS, illumos, FreeBSD and their kin");

// Generated probe functions name this crate by its name, in other crates and in this one.
extern crate self as dyntrace;

#[cfg(feature = "trace")]
pub mod alloc;
#[cfg(feature = "trace")]
mod breakpoint;
#[cfg(all(feature = "code", target_os = "linux", not(miri)))]
pub mod code;
#[cfg(feature = "recorder")]
mod glob;
#[cfg(feature = "mailbox")]
pub mod mailbox;
#[cfg(all(recorder, target_os = "linux"))]
pub mod monitor;
#[cfg(feature = "trace")]
mod permission;
#[cfg(recorder)]
pub mod recorder;
#[cfg(all(feature = "runtime", not(loom)))]
pub mod runtime;
#[cfg(feature = "scripts")]
pub mod scripts;
#[cfg(all(test, not(any(loom, miri))))]
mod sources;
#[cfg(feature = "trace")]
pub mod trace;
#[cfg(doc)]
#[doc = include_str!("../docs/unsafe_argument.md")]
pub mod unsafe_argument {}
#[cfg(doc)]
#[doc = include_str!("../docs/writing-a-driver.md")]
pub mod writing_a_driver {}

#[cfg(feature = "dist")]
#[doc(inline)]
pub use dyntrace_dist as dist;
#[doc(inline)]
pub use dyntrace_files::aio_pool;
#[cfg(feature = "fs")]
#[doc(inline)]
pub use dyntrace_files::{efile, fs};
#[doc(no_inline)]
pub use dyntrace_probes::{include_provider, sdt};
#[doc(no_inline)]
pub use dyntrace_processes::{
    EnteredTag, JoinSetExt, Tag, TagError, Tagged, enter_tag, get_tag, get_tag_data, put_tag, restore_tag, spawn,
    spawn_blocking, spawn_local, spread_tag, take_tag, wait, with_tag,
};
#[doc(inline)]
pub use dyntrace_processes::{p, probes, process, seq_trace, tag, task, user_trace, waiting};
#[cfg(all(feature = "net", not(loom)))]
#[doc(inline)]
pub use dyntrace_resources::net;
#[cfg(all(feature = "sync", not(loom)))]
#[doc(inline)]
pub use dyntrace_resources::sync;
#[cfg(feature = "time")]
#[doc(inline)]
pub use dyntrace_resources::time;

/// Support for the code that the attribute macros generate. Not for direct use; may change at any time.
#[cfg(feature = "trace")]
#[doc(hidden)]
pub mod __traced {
    pub use crate::breakpoint::pattern::{Actions, Call, Flags, MatchSpec, TokenChange};
    pub use crate::breakpoint::value::{
        Blind, ByDebug, ByInspect, ByShape, Inside, InsideBlind, InsideByDebug, InsideByInspect, Inspect, Layer, Plain,
        Printed, Shape, Shell, Shown, Value, Variant,
    };
    pub use crate::breakpoint::{Guard, Hit, Mark, Site, call, hit, hit_future, known_caller, promised};
    #[cfg(all(target_os = "linux", not(miri)))]
    pub use crate::breakpoint::{SITE_MARK, enrol, sites};
}

/// Support for the code that `main` and `test` generate. Not for direct use; may change at any time.
#[cfg(all(feature = "runtime", not(loom)))]
#[doc(hidden)]
pub mod __runtime {
    pub use crate::runtime::block_on;
    #[cfg(tokio_unstable)]
    pub use tokio::runtime::UnhandledPanic;
}

/// Support for the crate `dyntrace-tracing`. Not for direct use; may change at any time.
#[doc(hidden)]
pub mod __spans {
    pub use dyntrace_probes::thread_progress::os::around_fork;
    pub use dyntrace_processes::reentry::unless_inside;
    pub use dyntrace_processes::tag::entered::{enter_span, exit_span};
    pub use dyntrace_processes::tag::span::EnteredSpan;
}

/// Support for modules. Not for direct use; may change at any time.
#[cfg(all(feature = "code", target_os = "linux", not(miri)))]
#[doc(hidden)]
pub mod __code {
    pub use dyntrace_probes::__module_mark as module_mark;

    pub use crate::code::{
        Descriptor, ExportDescriptor, Fingerprint, HostAddress, HostAllocator, ImportDescriptor, LinkedExport,
        LinkedImport, OWN_FINGERPRINT, Panicked, caught, has_layout, hook,
    };
}

/// Exports a function of a module, so that callers outside of the module find it by name; see [`code`].
///
/// Arguments and result are of types with a [`Layout`](code::Layout). Arguments are passed by value or, up to four of them, by
/// reference. The result borrows nothing. An `async fn` takes up to six arguments, by value. A panic reaches the caller as a
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
/// Runs an `async fn` on a runtime of its own: `#[tokio::main]`, built by [`runtime::Builder`]. The function is a process.
///
/// It has the arguments of `#[tokio::main]`: `flavor` (`"multi_thread"` or `"current_thread"`), `worker_threads`, `start_paused`,
/// `unhandled_panic`, `name` and `crate`, the path of this crate. `start_paused` needs tokio's
/// feature `test-util`, `unhandled_panic` needs `--cfg tokio_unstable`; both need `current_thread`.
///
/// ```
/// #[dyntrace::main(worker_threads = 2)]
/// async fn main() -> Result<(), Box<dyn std::error::Error>> {
///     dyntrace::put_tag("main")?;
///     let child = dyntrace::spawn(async { 6 * 7 });
///     assert_eq!(child.await?, 42);
///     assert_eq!(dyntrace::get_tag().as_deref(), Some("main"));
///     Ok(())
/// }
/// ```
#[cfg(feature = "runtime")]
pub use dyntrace_macros::main;
/// Runs an `async fn` as a test on a runtime of its own: `#[tokio::test]`, built by [`runtime::Builder`].
///
/// It has the arguments of [`main`](macro@main). The runtime is one of the current thread, unless `flavor` says otherwise.
///
/// ```
/// #[dyntrace::test]
/// async fn tags_stay() {
///     dyntrace::put_tag("request 7").unwrap();
///     tokio::task::yield_now().await;
///     assert_eq!(dyntrace::get_tag().as_deref(), Some("request 7"));
/// }
/// # fn main() {}
/// ```
#[cfg(feature = "runtime")]
pub use dyntrace_macros::test;
/// Makes a function traceable while the program runs; see [`trace`]. While the function is not traced, that costs one compare
/// and one jump that is not taken.
///
/// The attribute is for functions, methods, generic and asynchronous functions. Nothing else has to be called or registered. On
/// an `impl` or `trait` block it applies to every function in it that has a body and is not `const`.
///
/// A function's name is `crate::module::Type::function/arity`; the receiver counts as an argument. A method with an attribute of
/// its own has no type in its name unless `in` names one. All instances of a generic function have one name.
///
/// | option | meaning |
/// |---|---|
/// | `in = Type` | the type whose method it is |
/// | `skip(a, b)`, `secret(a)` | arguments that are neither read nor shown |
/// | `caller` | adds `#[track_caller]`: events show the exact place of the call without a look at the stack; for an asynchronous function, the place where its future was made |
/// | `off` | in a block: this function is not traceable |
///
/// With `caller`, an asynchronous function becomes one that returns an `impl Future`; its callers need no change.
///
/// For a function that has `#[track_caller]` by itself or by `cfg_attr`, or returns an `impl Fn`, events show neither the returned value (so an `Err`
/// counts as a return) nor a panic's message.
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
/// A `const fn` cannot be traced, because it also runs in the compiler:
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
