//! Who is running: pids, thread numbers, operation numbers.
//!
//! A *process* is a task started with [`spawn`] or, outside such a task, the thread. So a task that another `spawn`
//! started is not a process: what it does counts for the thread that polls it.

mod door;
mod id;
mod name;
mod set;
mod sieve;
mod thread;

use std::cell::{Cell, RefCell};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::task::JoinHandle;

use crate::scope::{self, Own, Refusal, Scope, Scoped, Slot};
use crate::sequence::{Sequence, era};
use crate::tag;

pub(crate) use door::{Door, HOST};
pub use id::{OperationId, ParsePidError, Pid};
pub use name::{ThreadName, thread_name};
pub use set::Processes;
pub(crate) use sieve::Sieve;
pub use thread::{next_operation, thread_number};

impl Pid {
    /// One for a process to come.
    pub(crate) fn next() -> Pid {
        static LAST: AtomicU64 = AtomicU64::new(0);
        if let Some(host) = HOST.get() {
            return (host.next)();
        }
        // Relaxed: only that numbers differ matters.
        Pid::numbered(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// How many words each process has for others to keep something in that goes where it goes, and ends with it.
pub(crate) const WORDS: usize = 4;
/// One word more: not 0 once the process has given its pid away.
#[cfg(feature = "dist")]
const GIVEN: usize = WORDS;
/// A word with this bit goes to processes that its process spawns.
pub(crate) const INHERITED: u32 = 1;

/// A process that is no thread.
pub(crate) struct Process {
    pid: Pid,
    words: [u32; WORDS + 1],
    sequence: Sequence,
}

thread_local! {
    static OWN: RefCell<Scope<Option<Process>>> = const { RefCell::new(Scope::of_thread(None)) };
    /// The thread as a process; no pid is spent on a thread that never asks.
    static THREAD: Cell<Option<Pid>> = const { Cell::new(None) };
    static WORDS_OF_THREAD: Cell<[u32; WORDS + 1]> = const { Cell::new([0; WORDS + 1]) };
    static SEQUENCE_OF_THREAD: RefCell<Sequence> = const { RefCell::new(Sequence::NEW) };
}

/// Changes the current process's part in sequential traces. `change` must run no code of others.
#[inline]
pub(crate) fn sequence<R>(change: impl FnOnce(&mut Sequence) -> R) -> Result<R, Refusal> {
    scope::change(&PROCESS, |process| {
        // `change` stands here once, for both.
        let mut of_thread;
        let sequence = match process {
            Some(process) => Some(&mut process.sequence),
            None => {
                let place = HOST.get().map_or_else(sequence_of_thread, |host| (host.sequence_of_thread)());
                // SAFETY: null, or the current thread's value, which is there as long as this runs: see `Slot::with`.
                of_thread = unsafe { place.as_ref() }.and_then(|sequence| sequence.try_borrow_mut().ok());
                of_thread.as_deref_mut()
            }
        };
        sequence.map(change).ok_or(Refusal::Unreachable)
    })?
}

/// Where the current thread has its own; null where that is gone.
fn sequence_of_thread() -> *const RefCell<Sequence> {
    SEQUENCE_OF_THREAD.try_with(ptr::from_ref).unwrap_or(ptr::null())
}

pub(crate) static PROCESS: Slot<Option<Process>> = Slot::new(&OWN);

/// For guests.
pub(crate) static SLOT_DOOR: scope::Door<Option<Process>> =
    scope::Door::new(|| OWN.try_with(ptr::from_ref).unwrap_or(ptr::null()));

impl Own for Option<Process> {
    fn in_force(&self) {
        HOST.get().map_or(runs as fn(Option<Pid>), |host| host.runs)(self.as_ref().map(|process| process.pid));
    }
}

/// This process is in force on the current thread; or the thread itself.
fn runs(process: Option<Pid>) {
    sieve::runs(THREAD.get(), process);
}

/// A word of the current process: 0 until it is set.
pub(crate) fn word(place: usize) -> u32 {
    scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.words[place]))
        .unwrap_or_else(|| WORDS_OF_THREAD.get()[place])
}

/// The words that a process spawned by the current one begins with.
fn inherited_words() -> [u32; WORDS + 1] {
    let words = scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.words));
    let words = words.unwrap_or_else(|| WORDS_OF_THREAD.get());
    words.map(|word| if word & INHERITED != 0 { word } else { 0 })
}

/// Sets a word of the current process. Not in a signal handler.
pub(crate) fn set_word(place: usize, word: u32) {
    let of_task = scope::change(&PROCESS, |process| process.as_mut().map(|process| process.words[place] = word));
    if !matches!(of_task, Ok(Some(()))) {
        let mut words = WORDS_OF_THREAD.get();
        words[place] = word;
        WORDS_OF_THREAD.set(words);
    }
}

/// The part in sequential traces that a process spawned by the current one begins with.
fn inherited_sequence() -> Sequence {
    let inherits = |era| sequence(|sequence| sequence.of_era(era).of_child()).ok();
    Some(era()).filter(|era| *era != 0).and_then(inherits).unwrap_or(Sequence::NEW)
}

/// The pid of the current process.
#[inline]
pub fn current() -> Pid {
    sieve::alone().unwrap_or_else(asked_for)
}

fn asked_for() -> Pid {
    scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.pid)).unwrap_or_else(of_thread)
}

/// The pid of the current process; `None` in a task that is none, where it would be that of a thread that runs others, too.
#[cfg(feature = "dist")]
pub(crate) fn own() -> Option<Pid> {
    let of_task = scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.pid));
    of_task.or_else(|| tokio::task::try_id().is_none().then(of_thread))
}

/// The pid of the current process, for an inbox that is to be the process to others. Each process gives it once: when the inbox has
/// ended, others were told so, and must not find another by that pid. `None` as [`own`].
#[cfg(feature = "dist")]
pub(crate) fn give() -> Option<Pid> {
    let pid = own().filter(|_| word(GIVEN) == 0);
    if pid.is_some() {
        set_word(GIVEN, !INHERITED);
    }
    pid
}

/// The current thread's pid.
fn of_thread() -> Pid {
    if let Some(host) = HOST.get() {
        return (host.of_thread)();
    }
    THREAD.get().unwrap_or_else(|| {
        let pid = Pid::next();
        THREAD.set(Some(pid));
        scope::look(&PROCESS, Own::in_force);
        pid
    })
}

/// What this room does for guests.
pub(crate) static DOOR: Door =
    Door { next: Pid::next, of_thread, runs, sequence_of_thread, thread_number, next_operation };

/// Starts a tokio task that is a process: [`tokio::spawn`] with a pid and user tags of its own.
///
/// The process has no tag at first, unless the process that starts it [spreads](crate::spread_tag) its own: that one is
/// then received. It inherits the sequential trace token, as [`seq_trace`](crate::seq_trace) says.
///
/// Cancellation is that of [`tokio::spawn`]: dropping the handle leaves the task running, [`JoinHandle::abort`] drops the
/// future, which still sees its own pid and tags while it is dropped. The task's output, if nobody takes it, is dropped
/// outside of the process.
///
/// # Panics
///
/// Outside of a tokio runtime, as [`tokio::spawn`] does.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let child = dyntrace::spawn(async {
///     dyntrace::put_tag("child")?;
///     tokio::task::yield_now().await;
///     Ok::<_, dyntrace::TagError>(dyntrace::get_tag())
/// });
/// assert_eq!(child.await??.as_deref(), Some("child"));
/// assert_eq!(dyntrace::get_tag(), None);
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn spawn<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    spawn_as(Pid::next(), future)
}

/// [`spawn`] of a process whose pid is known before.
#[track_caller]
pub(crate) fn spawn_as<F>(pid: Pid, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(process(pid, future))
}

/// [`spawn`] for a future that must stay on its thread: [`tokio::task::spawn_local`] with a pid and user tags of its own.
///
/// # Panics
///
/// Outside of a [`LocalSet`](tokio::task::LocalSet), as [`tokio::task::spawn_local`] does.
#[track_caller]
pub fn spawn_local<F>(future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    tokio::task::spawn_local(process(Pid::next(), future))
}

fn process<F>(pid: Pid, future: F) -> Scoped<Option<Process>, tag::Tagged<F>> {
    let process = Process { pid, words: inherited_words(), sequence: inherited_sequence() };
    Scoped::new(&PROCESS, Some(process), tag::of_new_process(future))
}
