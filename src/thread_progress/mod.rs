//! Thread progress: know when every thread has left what it was inside of, without a word to the threads.
//!
//! Who changes what others read makes the change, waits here, and then owns what was there before: nobody is inside it
//! any more. Readers pay a store into their own cache line; all waiting is done by whoever wants to change.
//!
//! # States
//!
//! Each thread has a [record](record::Record), and is *pinned* ([`pin`]) or not. A thread is pinned as long as one of
//! its pins lives: they nest, and a signal handler's pins nest in those of the code it interrupts. Only its own thread
//! writes a record's word, *nest* (how many pins live) and *completions* (how often the outermost one ended):
//!
//! ```text
//!            pin: nest = 1                     pin: nest + 1
//! unpinned ------------------------> pinned -----------------> pinned deeper
//!          <------------------------        <-----------------
//!            unpin: completions + 1, nest = 0  unpin: nest - 1
//! ```
//!
//! A thread that is parked, blocked in a system call or has never been here is unpinned: nobody waits for it. A thread
//! that ended is unpinned, whatever its record says.
//!
//! # A pin
//!
//! 1. Load the word, store it with nest + 1.
//! 2. Keep what follows behind that store: a barrier, or only the compiler's where step 4 can supply the processor's.
//! 3. At the end: store what was loaded, with completions + 1 if nest was zero. The store *releases* what was done inside.
//!    The word is not loaded again: a load waits for the store before it, and that wait would be most of what a pin costs.
//!    Pins end in the opposite order of their beginnings, and a handler's within the code it interrupts; so nest is at the
//!    end what it was at the beginning.
//!
//! A signal handler that pins and unpins between the load and the store of step 1 leaves nest as it found it, so the store that
//! it delayed is right about nest. It may set completions back to what was loaded. That is harmless: while a pin lives,
//! every load of its thread sees nest above zero, so no store changes completions. Whoever saw the word pinned and sees
//! nest zero or other completions later, knows that the pin that it saw is over; who sees the old number again waits
//! once more, for a pin of the interrupted code, and each of those that ends adds one.
//!
//! # A wait
//!
//! By a thread ([`wait_blocking`]) or by a task ([`wait()`]):
//!
//! 4. A full barrier in every running thread (`membarrier`), or here alone if pins have barriers of their own. *What it
//!    is for:* each thread either stored its word before, so that step 5 sees it pinned; or it stores later, and then sees
//!    the change that the waiting thread made before. No thread is in between.
//! 5. List the records that are pinned. A record that comes to be later belongs to a thread that sees the change.
//! 6. Until the list is empty: strike out those that show nest zero or other completions than in step 5, and those whose
//!    thread has ended. Pins that began after step 4 are not waited for. *What it is for:* what step 3 released is acquired
//!    here, so that all that was done inside happened before what the waiting thread does next. A second barrier is
//!    not needed: each store of the word releases.
//!
//! Most pins last less than a system call. So a wait that finds some reads their words again for a moment, and only then
//! sleeps. A thread sleeps and looks in turn. A task sleeps until it is over:
//!
//! 10. It leaves the list and its waker in [`pending`], and a job with the [maintenance thread](maintenance).
//! 11. That does step 6, now and then, and wakes the task once the list is empty.
//! 12. The task finds that under the lock, which passes on what step 6 has acquired. A wait that is dropped takes its list back.
//!
//! While it lasts, [`late()`] tells who is inside: threads by id and name, and for how long they have been waited for; afterwards its
//! answer does, if it took long. Pins have no clock; they are as old as that, or older.
//!
//! # A stay
//!
//! Who wants to be inside of something for longer than a pin may last, the code of a module, is counted into it while it is pinned
//! ([`Pin::stay`]), and unpins: see [`stays`].
//!
//! # Which threads
//!
//! Nobody registers. In Erlang's emulator the schedulers are *managed* threads: they pass points where they hold
//! nothing, and a wait is for all of them to have passed one; all other threads must say when they begin and end to read.
//! Here every thread is one of the others: tasks' workers, the threads of the I/O pool, those of other libraries, and who is
//! in a signal handler. It would gain nothing to manage some. A pin is two stores to a line that the thread has in its cache;
//! a worker that promised to pass points would hold up every wait while a task of the program's computes, or would have to be
//! told that it blocks. With pins around every read the argument is the same for all:
//!
//! - Who is not pinned holds nothing that a wait guards, whatever it is doing. So no thread is waited for that sleeps, is in
//!   the kernel or runs the program's own code.
//! - Who is pinned is in a few lines of ours, that neither sleep (but for a page of memory that is not there) nor call the
//!   program (but for a tracer that renders arguments, within its bounds). So each wait is short, if every pinned thread gets a processor.
//! - Who begins to read later does so behind a barrier, its own or the one of step 4, and sees the change.
//!
//! # Records
//!
//! A record belongs to a thread by its id and is never freed: threads find theirs through a thread-local pointer, waits
//! walk over all of them. A thread's first pin may be in a signal handler, so that claiming a record takes no lock and
//! no heap:
//!
//! 7. Take the record that carries one's own id, if there is one: a claim that this one interrupts took it, or a thread of
//!    the same id that ended.
//! 8. Take a free one. If there is none, free those of threads that ended and look again; if there is none, map a new
//!    block of them.
//! 9. If a signal handler of this thread has done the same meanwhile, its record stands and the other one is given back.
//!
//! In a forked child all records but the surviving thread's are free, and that one carries the thread's new id: see
//! [`prepare`]. What is under a lock is [made anew](per_process): pending waits, which begin again when they are polled there,
//! the maintenance thread, and the [`permission`].
//!
//! # Limits
//!
//! - A pin that is leaked, or left by `longjmp`, holds up every later wait.
//! - In a library that is loaded by `dlopen` the first touch of a thread-local variable may allocate: there a thread's first
//!   pin must not be in a signal handler.
//! - A child of `_Fork` or of a bare system call, where no handlers of `pthread_atfork` run, must not wait.
#![allow(dead_code, unused_imports, reason = "the recorder and modules, which need parts, are not on every system")]

mod block;
mod completed;
mod counts;
mod door;
mod fork;
mod grace_period;
mod late;
mod maintenance;
#[cfg(all(loom, test))]
mod models;
mod nap;
pub(crate) mod os;
mod pending;
mod per_process;
pub(crate) mod permission;
mod pin;
mod record;
mod registry;
mod stays;
mod tallies;
#[cfg(all(not(loom), test))]
mod tests;
mod wait;

pub(crate) use completed::Completed;
pub(crate) use counts::PLACES;
pub(crate) use door::{DOOR, Door, enter};
pub(crate) use fork::prepare;
pub(crate) use grace_period::NOTABLE;
pub(crate) use late::{Late, Pinned};
pub(crate) use maintenance::{complete, give};
pub(crate) use nap::nap;
pub(crate) use os::has_ended;
pub(crate) use pending::late;
pub(crate) use pin::{Pin, is_pinned, pin, pin_again};
pub(crate) use stays::{Place, Stay, own_counts};
pub(crate) use tallies::Tally;
pub(crate) use wait::{Wait, wait, wait_blocking};
