//! Thread progress: waits until every thread that was pinned at the start has unpinned, without a message to the threads.
//!
//! A thread that changes data which others read makes the change, waits here, and then owns the old data: no thread is inside it any
//! more. Readers pay two stores to their own cache line; the changing thread does all the waiting.
//!
//! # States
//!
//! Each thread has a [record](record::Record), and is *pinned* ([`pin()`]) or not. A thread is pinned as long as one of its pins lives.
//! Pins nest, and a signal handler's pins nest in those of the code it interrupts. Only its own thread writes a record's word: *nest*
//! (how many pins live) and *completions* (how often the outermost one ended):
//!
//! ```text
//!            pin: nest = 1                     pin: nest + 1
//! unpinned ------------------------> pinned -----------------> pinned deeper
//!          <------------------------        <-----------------
//!            unpin: completions + 1, nest = 0  unpin: nest - 1
//! ```
//!
//! A thread that is parked, blocked in a system call or has never pinned is unpinned: no wait is for it. A thread that has ended is
//! unpinned, whatever its record says.
//!
//! # A pin
//!
//! 1. Load the word, store it with nest + 1.
//! 2. Keep later reads behind that store: by a barrier, or by a compiler barrier if step 4 supplies the processor's.
//! 3. At the end: store the loaded word, with completions + 1 if nest was zero. The store *releases* all accesses inside. The word is not
//!    loaded again: a load waits for the store before it, and that wait would be most of the cost of a pin. Pins end in the opposite
//!    order of their beginnings, and a handler's within the code it interrupts; so nest has the same value at the end as at the beginning.
//!
//! A signal handler that pins and unpins between the load and the store of step 1 leaves nest as it found it, so the delayed store is
//! right about nest. It may set completions back to the loaded number. That is harmless: while a pin lives, every load of its thread sees
//! nest above zero, so no store changes completions. A waiting thread that saw the word pinned, and later sees nest zero or other
//! completions, knows that this pin is over. If it sees the old number again, it waits once more, for a pin of the interrupted code, and
//! each of those that ends adds one.
//!
//! # A wait
//!
//! By a thread ([`wait_blocking`]) or by a task ([`wait()`]):
//!
//! 4. A full barrier in every running thread (`membarrier`), or here alone if pins have barriers of their own. *Why:* each
//!    thread either stored its word before, so that step 5 sees it pinned; or it stores later, and then sees the change that the waiting
//!    thread made before. No thread is in between.
//! 5. List the records that are pinned. A record that is made later belongs to a thread that sees the change.
//! 6. Until the list is empty: remove those that show nest zero or other completions than in step 5, and those whose thread has ended.
//!    The wait is not for pins that began after step 4. *Why:* this acquires the release of step 3, so that all reads and writes
//!    inside happen before the next ones of the waiting thread. A second barrier is not needed: each store of the word releases.
//!
//! Most pins last less than a system call. So a wait that finds some spins on their words for up to 100 looks, and only then sleeps. A
//! thread sleeps and looks in turn. A task sleeps until the wait is over:
//!
//! 10. It leaves the list and its waker in [`pending`], and a job with the [maintenance thread](maintenance).
//! 11. That thread does step 6, every 20 us to 10 ms, and wakes the task once the list is empty.
//! 12. The task finds that under the lock, which hands it the writes that step 6 has acquired. A wait that is dropped takes its list back.
//!
//! While the wait lasts, [`late()`] returns the threads that delay it, by id and name, and how long it has lasted; if it took long, its
//! output has them, too. Pins have no clock; they are at least that old.
//!
//! # A use
//!
//! A thread that stays inside something for longer than a pin may last, such as the code of a module, counts itself in while it is pinned
//! ([`Pin::count_use`]), and unpins: see [`use_counts`].
//!
//! # Which threads
//!
//! No thread registers. In Erlang's emulator the schedulers are *managed* threads: they pass points where they hold nothing, and a wait
//! is for all of them to have passed one; all other threads must say when they begin and end to read. Here every thread is unmanaged:
//! tasks' workers, the threads of the I/O pool, those of other libraries, and threads in signal handlers. Managed threads would gain
//! nothing. A pin is two stores to a line that the thread has in its cache. A worker that promised to pass points would delay every wait
//! while a task of the program computes, or would have to report that it blocks. With pins around every read the argument is the same
//! for all threads:
//!
//! - A thread that is not pinned holds nothing that a wait guards, whatever it does. So no wait is for a thread that sleeps, is in the
//!   kernel or runs the program's own code.
//! - A pinned thread is in a few lines of this library, which neither sleep (except for a page fault) nor call the program (except for a
//!   tracer that renders arguments, within its bounds). So each wait is short, if every pinned thread gets a processor.
//! - A thread that begins to read later does so behind a barrier, its own or the one of step 4, and sees the change.
//!
//! # Records
//!
//! A record belongs to a thread by its id and is never freed: threads find theirs through a thread-local pointer, waits walk over all of
//! them. A thread's first pin may be in a signal handler, so that claiming a record takes no lock and no heap:
//!
//! 7. Take the record that carries the thread's own id, if there is one: a claim that this one interrupts took it, or an ended thread of
//!    the same id.
//! 8. Take a free one. First free those of the first eight whose threads have ended; if there is none, all of them; if there is still none,
//!    map a new block.
//! 9. If a signal handler of this thread has claimed one meanwhile, keep that record and free the other one.
//!
//! In a forked child all records but the surviving thread's are free, and that one carries the thread's new id: see [`prepare()`]. Values
//! under locks are [made again](per_process): pending waits and the maintenance thread. Waits and naps begin again when they are polled
//! there.
//!
//! # Limits
//!
//! - A pin that is leaked, or left by `longjmp`, delays every later wait for ever.
//! - In a library that is loaded by `dlopen` the first access to a thread-local variable may allocate: there a thread's first pin must not
//!   be in a signal handler.
//! - A child of `_Fork` or of a bare system call, where no handlers of `pthread_atfork` run, must not wait. A thread that it starts may
//!   share the record, and with it the number, of the thread that it has from its parent.
#![cfg_attr(any(loom, miri), allow(dead_code, unused_imports, reason = "they leave out some users, such as modules"))]

mod block;
mod completed;
mod for_guests;
mod grace_period;
mod maintenance;
#[cfg(all(loom, test))]
mod models;
mod nap;
pub mod os;
mod pending;
pub mod per_process;
mod per_record;
mod pin;
mod pinned;
mod prepare;
mod record;
mod registry;
mod tallies;
#[cfg(all(not(loom), test))]
mod tests;
mod use_counts;
mod use_table;
mod wait;

pub use completed::Completed;
pub use for_guests::FOR_GUESTS;
pub use for_guests::{ForGuests, enter};
pub use grace_period::{Late, NOTABLE};
pub use maintenance::{complete, give};
pub use nap::nap;
pub use os::has_ended;
pub use pending::late;
pub use per_record::{PerRecord, Zeros, map_at};
pub use pin::{Pin, is_pinned, pin, pin_again};
pub use pinned::Pinned;
pub use prepare::prepare;
pub use tallies::Tally;
pub use use_counts::{InUse, UseSlot, own_use_counts};
pub use use_table::USE_SLOTS;
pub use wait::{wait, wait_blocking};
