//! Trace settings: which functions are traced, for whom, and what is done when one is called; set and removed without
//! stopping a thread.
//!
//! Each function with the attribute [`traced`](crate::traced) has a [site](site::Site), and each site a *word*. The first
//! thing that the function does is to compare that word with zero, and zero is all there is while nobody traces it. A word
//! that is set points to the function's [generic breakpoint](state::generic_bp::GenericBp). That holds two *generations* of what
//! is to be done there; `ACTIVE`, one index for all breakpoints, says which of them is in force. The other one is *staged*.
//!
//! # A hit
//!
//! A function that finds its word set runs [`hit`]: it pins its thread ([`thread_progress`](crate::thread_progress)),
//! reads the word *again* (the one that it saw may lead to a breakpoint that is freed), and reads `ACTIVE`. If that
//! generation only counts calls, or is about other processes ([`Sieve`](crate::process::Sieve)), the hit ends here, with no function
//! called. Else it takes a reference of what the generation says, and unpins. Arguments are looked at and the body is run outside of
//! the pin, since both are code of others, which may take as long as it likes. The end of the call goes by the reference that was
//! taken at its beginning: whoever saw the call sees its end, and nobody else. Where only the call fires probes, and its arguments are
//! such as this crate writes itself, the hit takes none: it stays pinned until they have fired ([`held`](hit::held)).
//!
//! # A setting
//!
//! Whoever sets or removes breakpoints goes through these steps ([`setting`]), at all sites that are concerned together:
//!
//! 1. Acquire the permission to change what runs. Whoever else wants it waits in line, asleep.
//! 2. Make a breakpoint for each site that has none, with both generations disabled. No word leads to it yet.
//! 3. Write the staging generation of all breakpoints that are concerned; one that is to be removed becomes disabled.
//! 4. Wait for thread progress. *What it is for:* whoever follows a word that step 5 writes, or the index that step 7 writes,
//!    sees what steps 2 and 3 have written, without a barrier of its own.
//! 5. Write the words of the new breakpoints. Who hits one now finds a disabled generation, and runs the function.
//! 6. Wait. *What it is for:* when the index changes, all threads see all words: the setting is in force everywhere from one
//!    instant on, as nearly as threads can tell. (Skipped where step 5 wrote nothing.)
//! 7. Commit: one store to `ACTIVE`.
//! 8. Wait. *What it is for:* nobody is left that reads the generation that was active, so that it may be written.
//! 9. Clear the words of the breakpoints that are disabled now.
//! 10. Wait. *What it is for:* nobody is left that found the breakpoint in a word. (Skipped where step 9 cleared nothing.)
//! 11. Consolidate: make the staging generation what the active one is, so that the next commit changes nothing but what is
//!     staged for it.
//! 12. Free the breakpoints that are disabled.
//! 13. Release the permission.
//!
//! A setting that is dropped before step 7 goes back: it clears the words that it wrote, waits, frees its breakpoints, and
//! makes the staging generation of the others what the active one is. Dropped later, it is completed. The maintenance thread does
//! either. Steps that go over many sites give way to other tasks now and then; and what they do at each is little: the sites are
//! numbers of a list, breakpoints [lie together](state::block), and where the same was done, the same is [made of it](setting::edit), and shared.
//!
//! # Limits
//!
//! - A panic that leaves a traced function is caught and goes on. A forced unwinding (`pthread_exit` in a function that is
//!   being traced) cannot be caught, and ends the process.
//! - Callers are found on the stack, so that a function which the compiler has left by a jump, as the last thing that it did, is
//!   not there.
//! - A traced function in a signal handler that interrupts the telling of another call runs untraced, though it is counted. A
//!   thread's first count takes a lock and the heap, so that it must not be in a handler.
//! - Sites of a library that is loaded later are known if the library and the program share one copy of this crate, and on Linux.
//!   A library with a copy of its own has sessions of its own.
//! - Whoever unloads a library sees to it that nobody runs its functions, nor keeps an event whose caller's
//!   [`Location`](std::panic::Location) lies in it.
//! - A child of a fork has its parent's breakpoints, but no thread for its parent's tracers: to the child all those sessions are
//!   over.

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
pub use event::caller::{Address, Caller, Source, told};
pub use event::stack::Stack;
pub use event::unwind::Mark;
pub use event::{Event, Kind};
pub use hit::call::Hit;
pub use hit::future::hit_future;
pub use hit::guard::Guard;
pub use hit::{body, hit, promised};
pub(crate) use host_calls::{HOST_CALLS, HostCalls, enter};
#[cfg(target_os = "linux")]
pub(crate) use libraries::modules;
pub use pattern_id::PatternId;
pub use session::Session;
pub use session::info::{Count, Info, Memory, PatternInfo};
#[cfg(all(target_os = "linux", not(miri)))]
pub use site::section::sites;
pub use site::{Function, Site};
pub use state::held_up::HeldUp;
pub use state::limits::Limits;
pub use value::text::Text;
