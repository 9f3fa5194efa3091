//! Modules: code that is loaded, upgraded and purged while callers keep calling it.
//!
//! A *module* is a library with a name, `module!("pricing", version = "2.1.0")`, and functions with the attribute `export`.
//! The program calls those by name, through a handle that follows every upgrade.
//!
//! # States
//!
//! ```text
//!             prepare              finish                finish, delete          purge              unload
//! (a file) -------------> prepared -------> current -----------------------> old -------> unreachable -------> (gone)
//! ```
//!
//! A module has at most one *current* version, which new calls enter, and at most one *old* version, where earlier calls are still
//! running. An *unreachable* version stays mapped, because values with code in them, threads and destructors of thread-local values
//! may still refer to it. It is unmapped only if its module is [`Unloadable`], or by [`unload`]: both are `unsafe` promises that
//! nothing refers to it. See [the unsafe argument](crate::unsafe_argument).
//!
//! # Code access structures
//!
//! Calls and look-ups read these. Each exists three times, once for each *code index*:
//!
//! - the *export entries*: for each export that was ever loaded or looked up, the address of its code (`call/export_entry`);
//! - the *module table*: for each name, the current and the old version (`version/tables`);
//! - the *ranges*: for each version, its addresses in memory (`version/tables`).
//!
//! `ACTIVE` holds the active index (`call/index`). A change is written under the next index, the *staging area*, which no thread reads,
//! and committed by one store. The indices are used in turn, 0, 1, 2, 0. So no wait is needed *after* a commit before the next change
//! is staged: the wait before the next commit is enough.
//!
//! # A call
//!
//! 1. Load `ACTIVE`, without a barrier.
//! 2. Load the entry's target under that index: the address, and the version's place.
//! 3. Count the thread into the version's place, in the thread's own table.
//! 4. Load `ACTIVE` again: index and commit number must be the same. *Why:* if the count precedes the barrier of the wait that begins a
//!    purge, the purge sees the count. Otherwise this load sees the commit that preceded the wait. Nor was the target of step 2
//!    staged again meanwhile, since that takes two more commits with a wait between them.
//! 5. Call.
//! 6. Count the thread out.
//!
//! The thread is pinned for steps 1 to 3 if step 4 finds another commit, if waits cannot put barriers into other threads, or if the
//! thread calls for the first time. The pin ends before the call begins. So a call that takes hours holds up only the purge of its
//! own version.
//!
//! # Prepare
//!
//! Any number at the same time, without the permission and without effect on running code; see [`prepare`].
//!
//! # Finish
//!
//! One at a time, for any number of modules ([`finish`]):
//!
//! 1. Acquire the permission to change running code. Other changes, trace settings included, wait in line, asleep.
//! 2. Check: each module once, no old version, every import present with the signature it was compiled for. Hand over the state of the
//!    replaced versions (`on_upgrade`).
//! 3. Bring the staging area up to date by copying the changes of the last two commits, then stage the new changes. Each change is
//!    noted before it is written, so that after an abort or in a forked child the next change copies it again.
//! 4. Stage the trace settings of the new versions' functions.
//! 5. Wait for thread progress. *Why:* a thread that loads the index of step 6 then sees the writes of steps 3 and 4 without a
//!    barrier of its own. And no thread still uses the index before the last commit, so that it can be staged next.
//! 6. Commit: one store to `ACTIVE`.
//! 7. Fire the probes, and record the change in the history.
//! 8. Release the permission.
//!
//! A finish that is dropped before step 6 is undone; dropped later, it is completed. The maintenance thread does either.
//!
//! # Purge
//!
//! 1. Wait for thread progress. *Why:* every thread that found the version in an entry before it was replaced has been counted.
//! 2. Wait until no thread is counted, and no future or borrowed handle of the version lives. The permission is not held, so that other
//!    changes can finish.
//! 3. Acquire the permission, stage the module table without the version, wait, commit, release: it is unreachable.
//! 4. To unload it: wait once more, for threads that read the ranges; then unmap.
//!
//! # Inside a module
//!
//! A module has its own copy of this crate, of tokio and of the standard library. Its copy of this crate is a *guest* of the program's
//! copy, the *host*: state that exists once per program is the host's. In a module
//!
//! - tags and processes are the caller's;
//! - functions with the attribute [`traced`](macro@crate::traced) are traced by the program's [sessions](crate::trace), default patterns
//!   from their first call on. Patterns set in a version are set in the next one, too, also for functions that are new there;
//! - exports are traced at the call from outside by patterns such as `export pricing::price(_)`, and by no others;
//! - probes, those of the module's own providers included, are recorded by the program's [sessions](crate::recorder);
//! - memory comes from the program's allocator.
//!
//! A module cannot have
//!
//! - I/O threads: pools, and so [`fs`](crate::fs), return an error of the kind [`Unsupported`](std::io::ErrorKind::Unsupported). Use
//!   `std::fs`, or let the program do the I/O;
//! - sessions of the recorder or of traces, nor the control socket: they return the same error;
//! - influence on loading: `prepare`, `finish`, `purge`, [`lookup`](lookup()) and the like return the same error, and [`list`], [`resolve`] and
//!   [`View`] find nothing. It declares the exports of other modules that it calls by [`import!`](crate::import);
//! - tokio's context: its copy of tokio sees no runtime, so that `tokio::spawn` and timers panic, which callers see as
//!   [`CallError::Panicked`]. It can await futures that the program passes to it;
//! - panics in the program's panic hook, so its panics trigger no snapshots; nor may a panic of a function that the program has passed
//!   to it unwind through its frames.
//!
//! # Which thread sees a commit when
//!
//! Threads may see a commit at different times, as they load `ACTIVE` without a barrier. But the ability to see new code spreads with
//! communication: if thread A has seen new code and then sends anything to thread B, B sees the new code, too. B's receive acquires A's
//! release, by any means: a channel, a join, a lock, a socket, a file operation that completed. Each of these orders A's load of
//! `ACTIVE` before B's; and of two ordered loads of one atomic, the later never sees an older value.
//!
//! # Rooms
//!
//! Each uses only those before it: `layout`, `call`, `version`, `lookup`, `module`, `load`, `change`, `remote`.

mod allow;
mod call;
mod change;
mod error;
#[cfg(all(not(loom), test))]
mod fake;
mod layout;
mod load;
mod load_error;
mod lookup;
#[cfg(all(loom, test))]
mod models;
mod module;
pub mod remote;
#[cfg(all(not(loom), test))]
mod tests;
mod version;

pub use allow::allow;
pub use call::call_error::CallError;
pub use call::export_name::SignatureHash;
pub use call::missing::{OnMissing, set_error_handler};
#[doc(hidden)]
pub use call::panicked::{Panicked, caught};
pub use call::pending::Pending;
pub use change::finish::finish;
pub use change::history::{Event, EventKind, history};
pub use change::purge::{Purged, delete, purge, soft_purge, unload};
pub use dyntrace_macros::Layout;
pub use error::Error;
pub use layout::{Layout, LayoutHash};
pub use load::job::given_up;
pub use load::policy::Policy;
pub use load::prepare::prepare;
pub use load_error::LoadError;
pub use lookup::find::lookup;
pub use lookup::handle::{AsyncHandle, Borrowed, Handle};
pub use lookup::import::Import;
pub use lookup::list::{ModuleInfo, VersionInfo, list};
pub use lookup::resolve::{Location, resolve};
pub use lookup::signature::{HandleOf, Signature};
pub use lookup::view::View;
#[doc(hidden)]
pub use module::allocator::HostAllocator;
#[doc(hidden)]
pub use module::define::hook;
#[doc(hidden)]
pub use module::fingerprint::{Fingerprint, OWN_FINGERPRINT};
#[doc(hidden)]
pub use module::host_interface::HostAddress;
#[doc(hidden)]
pub use module::sections::{LinkedExport, LinkedImport, has_layout};
#[doc(hidden)]
pub use version::descriptor::{Descriptor, ExportDescriptor, ImportDescriptor};
pub use version::descriptor::{ModuleState, Unloadable};
pub use version::inside::{Inside, check};
pub use version::prepared::Prepared;
pub use version::still_mapped::kept;
