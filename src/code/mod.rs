//! Code that is loaded, upgraded and purged while callers keep calling.
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
//! A module has one *current* version at most, which new calls enter, and one *old* version, where calls that entered it before
//! go on. A version that is *unreachable* is kept mapped, since what it has given away may still be used: values with code in them,
//! threads, destructors of thread-local values. It is taken out of memory only if its module is [`Unloadable`], or by [`unload`]: both
//! are `unsafe` promises that there is nothing of the kind. See [the unsafe argument](crate::unsafe_argument).
//!
//! # Code access structures
//!
//! What a call or a look-up reads is there three times, once for each *code index*:
//!
//! - the *export entries*: for each export that was ever loaded or asked for, the address of its code (`entry`);
//! - the *module table*: for each name, the current and the old version (`tables`);
//! - the *ranges*: for each version, where it lies in memory (`tables`).
//!
//! `ACTIVE` says which index is in force (`index`). A change is written under the next index, which nobody reads, the *staging
//! area*, and then put in force by one store. The indices are used in turn, 0, 1, 2, 0: so nobody needs to wait *after* a commit
//! before the next change is staged, as the wait before the next commit comes in time for that.
//!
//! # A call
//!
//! 1. Load `ACTIVE`, without a barrier.
//! 2. Load the entry's target under that index: the address, and the version's place.
//! 3. Count oneself into the version, in a table of the thread's own (a *stay*).
//! 4. Look whether `ACTIVE` is what it was: the index, and the number of the commit. *What it is for:* either the count was there before
//!    the barrier of the wait that a purge begins with, which sees it then; or the second look finds the commit that was before that
//!    wait. And what was read in step 2 was not staged anew meanwhile, since that takes two more commits, with a wait between them.
//! 5. Call.
//! 6. Count oneself out.
//!
//! Where the second look finds another commit, or waits have no barriers for other threads, or a thread calls for the first time, steps 1 to
//! 3 are done while the thread is pinned, which is over before the call begins. So a callee that stays for hours holds up nothing but
//! the purge of its own version.
//!
//! # Prepare
//!
//! Any number at the same time, without the permission and without effect on who runs; see [`prepare`].
//!
//! # Finish
//!
//! One at a time, several modules or none ([`finish`]):
//!
//! 1. Acquire the permission to change what runs. Whoever else wants it, trace settings too, waits in line, asleep.
//! 2. Check: no module twice; no old version left; imports that are there, in the form they were compiled for. Hand over the state of
//!    the versions that are replaced (`on_upgrade`).
//! 3. Bring the staging area up to date: copy what was changed in the last two commits. Then stage what is new. What is to be
//!    changed is noted before it is, so that whoever stages next, after an abort or in a forked child, copies it again.
//! 4. Stage the trace settings of the new versions' functions.
//! 5. Wait for thread progress. *What it is for:* whoever reads the index that step 6 writes sees what steps 3 and 4 have written,
//!    without a barrier of its own. And: nobody is left that found in `ACTIVE` what was in it before the last commit, so that the
//!    index after this one may be staged next.
//! 6. Commit: one store to `ACTIVE`.
//! 7. Fire the probes, and note it in the history.
//! 8. Release the permission.
//!
//! One that is dropped before step 6 goes back, and leaves nothing; dropped later it is completed. The maintenance thread does either.
//!
//! # Purge
//!
//! 1. Wait for thread progress. *What it is for:* whoever found the version in an entry, before it was replaced, has been counted.
//! 2. Wait until nobody is counted any more, and no future or borrowed handle of it lives. Without the permission: others finish
//!    meanwhile.
//! 3. Acquire the permission, stage the module table without it, wait, commit, release: the version is unreachable.
//! 4. To unload: wait once more, for who looks at ranges; then unmap.
//!
//! # Guests
//!
//! A module has a copy of this crate, of tokio and of the standard library of its own. Its copy of this crate is a *guest*: what the
//! program has once is the program's there, too. In a module
//!
//! - tags and processes are those of whoever calls;
//! - functions with the attribute [`traced`](macro@crate::traced) are traced by the program's [sessions](crate::trace), default patterns
//!   from their first call on. What is set in a version is set in the next one, as far as it names something there: also in functions
//!   that come with it;
//! - exports are traced where callers come in by patterns such as `export pricing::price(_)`, and by no others;
//! - probes, those of providers of the module's own too, are recorded by the program's [sessions](crate::recorder);
//! - memory comes from the program's allocator.
//!
//! A module cannot have
//!
//! - an I/O thread: what goes to a pool, and so [`fs`](crate::fs), answers an error of the kind
//!   [`Unsupported`](std::io::ErrorKind::Unsupported). It can use `std::fs`, or have the program do it;
//! - sessions of the recorder or of traces, nor the control socket: the same error;
//! - a say in what is loaded: `prepare`, `finish`, `purge` and the like, and handles by name, answer the same error, and [`list`],
//!   [`resolve`] and [`View`] know of nothing. What it calls of other modules it declares by [`import!`](crate::import);
//! - tokio's context: to its tokio no runtime is running, so that `tokio::spawn` and timers panic there, which callers see as
//!   [`CallError::Panicked`]. It can await what the program hands to it;
//! - panics of its own in the program's panic hook, so that they trigger no snapshots; nor may a panic of a function that the program
//!   has handed to it go through its frames.
//!
//! # What is seen when
//!
//! Threads may see a commit at different times, as they load `ACTIVE` without a barrier. But the ability to see new code spreads with
//! communication: who hears of anything that was done after new code was seen, sees it too. For whoever is told acquires what the teller
//! released, whatever the way: a channel, a join, a lock, a name that was registered, a socket, a file operation that completed. All
//! of those order the teller's load of `ACTIVE` before the listener's; and of two loads of one atomic that are so ordered, the later
//! one never sees an older value.

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
pub use module::fingerprint::{FINGERPRINT, Fingerprint, OWN_FINGERPRINT};
#[doc(hidden)]
pub use module::host_interface::HostAddress;
#[doc(hidden)]
pub use module::sections::{LinkedExport, LinkedImport, has_layout};
#[doc(hidden)]
pub use version::descriptor::{Descriptor, ExportDescriptor, ImportDescriptor};
pub use version::descriptor::{ModuleState, Unloadable};
pub use version::inside::{Inside, check};
pub use version::kept::kept;
pub use version::prepared::Prepared;
