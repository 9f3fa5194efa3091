//! Trace settings: the traced functions, the sessions that trace them, and their actions. They change without stopping a thread.
//!
//! Each function with the attribute [`traced`](crate::traced) has a [site](site::Site), and each site a *word*. The function first compares
//! that word with zero; an untraced function costs nothing more. A word that is set points to a
//! [generic breakpoint](state::generic_bp::GenericBp), which functions that were set alike share. It holds two *generations* of
//! [entries](state::entry::BpEntry): actions of patterns.
//! `ACTIVE`, one index for all breakpoints, says which generation is in force. The other one is *staged*.
//!
//! # Rooms
//!
//! Each uses only those above it.
//!
//! | room | contents |
//! |---|---|
//! | [`site`] | words of functions, the section that holds them, references to sites that may be unloaded |
//! | [`value`], [`event`] | arguments as patterns see them; events, callers, stacks |
//! | [`pattern`] | the language of patterns |
//! | [`measure`] | counters, own time, own memory |
//! | [`state`] | data that hits read and settings replace: breakpoints, entries, the sessions that own them |
//! | [`hit`] | the hot path |
//! | [`libraries`] | all sites, by name; libraries and modules that come and go |
//! | [`setting`] | the steps that change breakpoints |
//! | [`session`] | the handles of users |
//! | [`remote`] | sessions for other processes |
//!
//! # A hit
//!
//! A function that finds its word set runs [`hit`]. That pins its thread ([`thread_progress`](dyntrace_probes::thread_progress)), reads the word
//! *again* (the breakpoint of the word that it saw may be freed), and reads `ACTIVE`. If the generation only counts calls, or matches
//! other processes only ([`PidFilter`](crate::process::PidFilter)), the hit ends here, without a function call. Else it takes a reference to the
//! generation and unpins. It inspects arguments and runs the body unpinned, since both are code of users, which may take any time. If no
//! entry wants the end of the call, the hit is over when the body runs, and has no frame on the stack. Else the end of the call uses the
//! same reference: exactly the sessions that saw the call see its end. If only the call fires probes, and this
//! crate itself renders its arguments, the hit takes no reference and stays pinned until they have fired
//! ([`data_ref`](hit::data_ref)). If the call is only timed, the hit takes no reference either, but counts itself as running in its
//! counter's slot ([`counters`](measure::counters)).
//!
//! # A setting
//!
//! A task that sets or removes breakpoints goes through these steps ([`setting`]), at all concerned sites together:
//!
//! 1. Acquire the permission to change breakpoints and code. Other tasks that want it wait in line, asleep. Sites are selected
//!    afterwards: no version of a module replaces another one meanwhile. Libraries may arrive, to which a default pattern is announced
//!    first. So a setting selects once, however often they come and go.
//! 2. Make a breakpoint for the sites that have none, with both generations disabled. No word leads to it yet. Sites that share a
//!    breakpoint with sites that are not concerned get a copy of it, in their words at once: a hit of either does the same.
//! 3. Write the staging generation of all concerned breakpoints; a breakpoint to remove becomes disabled.
//! 4. Wait for thread progress. *Why:* a thread that follows a word of step 5, or the index of step 7, sees the data of steps 2 and 3
//!    without a barrier of its own.
//! 5. Write the words of the new breakpoints. A thread that hits one finds a disabled generation, and runs the function.
//! 6. Wait. *Why:* when the index changes, all threads see all words. So the setting takes effect everywhere at one instant, as nearly
//!    as threads can tell. (Skipped if step 5 wrote nothing.)
//! 7. Commit: one store to `ACTIVE`.
//! 8. Wait. *Why:* afterwards no thread reads the generation that was active, so it may be written.
//! 9. Clear the words of the breakpoints that are disabled now.
//! 10. Wait. *Why:* afterwards no thread uses a breakpoint that it found in a word. (Skipped if step 9 cleared nothing.)
//! 11. Consolidate: make the staging generation a copy of the active one, so that the next commit changes only the sites staged for it.
//! 12. Free the breakpoints that are disabled.
//! 13. Release the permission.
//!
//! A setting that is dropped before step 7 is undone: its words are cleared, its breakpoints freed after a wait, and the other staging
//! generations made copies of the active ones. Dropped later, it is completed. The maintenance thread does either. If the system refuses
//! that thread, or in the child of a fork, a setting may stay in the middle. The next one then waits as in step 8 before it writes, and
//! discards what is staged at its own sites: settings have numbers, and a breakpoint has the number of the one that staged it.
//!
//! Steps over many sites give way to other tasks, and do little at each site: sites are positions in a list, sites that are set alike share
//! a breakpoint, the others' breakpoints [share blocks](state::block), and [edits](setting::edit) of equal generations share the result.
//!
//! # Limits
//!
//! - A panic that leaves a traced function is caught and resumed. A forced unwinding (`pthread_exit` in a traced function) cannot be
//!   caught, and ends the process.
//! - At most 512 synchronous calls whose ends are wanted are nested on a thread; if only their time is, 512 of each function. Calls inside
//!   them have no end ([`Info::unended`](crate::trace::Info::unended)).
//! - Callers come from the stack. A function that the compiler has left by a tail call has no frame there.
//! - If a signal handler interrupts the making of an event, traced functions in it run untraced, though they are counted. A thread's first
//!   count takes a lock and the heap, so it must not be in a handler.
//! - Sites of a library that is loaded later are found if the library and the program share one copy of this crate, and on Linux. A
//!   library with a copy of its own has its own sessions.
//! - Before unloading a library, the program ensures that no thread runs its functions, and that no event is kept whose caller's
//!   [`Location`](std::panic::Location) lies in it.
//!   Unloading it inside a [`View::with`](crate::code::View::with) would wait for itself, and aborts.
//! - When the program ends, each library's sites are removed after a wait of at most a second for threads in the middle of a hit, and
//!   without one if the thread is itself inside a `View::with`. So the program unloads no library by then.
//! - A child of a fork has its parent's breakpoints, but no thread for its parent's tracers: in the child all those sessions are over.

mod declare;
#[cfg(all(target_os = "linux", not(miri)))]
mod enrol;
mod error;
mod event;
mod hit;
mod host_calls;
mod libraries;
mod measure;
#[cfg(all(loom, test))]
mod models;
pub mod pattern;
mod pattern_id;
pub(crate) mod progress;
#[cfg(target_os = "linux")]
pub mod remote;
mod session;
mod setting;
mod site;
mod state;
pub mod value;

#[cfg(all(target_os = "linux", not(miri)))]
pub use enrol::enrol;
pub use error::Error;
pub use event::caller::{Address, Caller, Source, known_caller};
pub use event::stack::Stack;
pub use event::unwind::Mark;
pub use event::{Event, Kind};
pub use hit::call::Hit;
pub use hit::future::hit_future;
pub use hit::guard::Guard;
pub use hit::{call, hit, promised};
pub(crate) use host_calls::{HOST_CALLS, HostCalls, enter};
#[cfg(target_os = "linux")]
pub(crate) use libraries::modules;
pub use pattern_id::PatternId;
pub use session::Session;
pub use session::info::{Count, Info, Memory, PatternInfo};
#[cfg(all(target_os = "linux", not(miri)))]
pub use site::asked::SITE_MARK;
#[cfg(all(target_os = "linux", not(miri)))]
pub use site::section::sites;
pub use site::{Function, Site};
pub use state::held_up::HeldUp;
pub use state::limits::Limits;
pub use value::text::Text;
