//! The current process: pids, thread numbers, operation numbers.
//!
//! A *process* is a task or closure started with [`spawn`](crate::task::spawn), [`spawn_local`](crate::task::spawn_local),
//! [`spawn_blocking`](crate::task::spawn_blocking), a [`JoinSet`](crate::task::JoinSet) or [`JoinSetExt`], a future of
//! [`child`], or, outside of these, the thread. A task started by another `spawn` is not a process: its operations count as those of the
//! thread that polls it. Where its runtime tells of it (`dyntrace::runtime`, with `tokio_unstable`), it has a pid, and its operations are
//! its own; tag and token it has none, except under [`with_tag`](crate::with_tag).

mod blocking;
mod child;
mod for_guests;
mod function;
mod id;
mod join_set;
mod life;
mod name;
mod pid_filter;
#[cfg_attr(not(all(tokio_unstable, feature = "runtime", not(loom))), path = "no_runtime_tasks.rs")]
mod runtime_tasks;
mod scheduling;
mod set;
mod thread;
mod waker;
mod waking;

use std::cell::{Cell, RefCell};
use std::mem::{self, ManuallyDrop};
use std::pin::Pin;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::task::JoinHandle;

use crate::scope::{self, Own, Refusal, Scoped, Slot, own_slot};
use crate::sequence::{Sequence, era};
use crate::tag;

use blocking::Turn;
pub use child::{Child, child};
pub use id::{OperationId, ParsePidError, Pid};
pub use join_set::JoinSetExt;
use life::{Life, ProcessKind};
pub use name::{ThreadName, thread_name};
#[cfg(all(tokio_unstable, feature = "runtime", not(loom)))]
#[doc(hidden)]
pub use runtime_tasks::RuntimeTasks;
use runtime_tasks::SpawnsOwn;
pub use set::Processes;
pub use thread::{next_operation, thread_number};
use waker::NotedWaker;

#[doc(hidden)]
pub use self::{
    blocking::waiting as waiting_closures,
    child::local,
    for_guests::{ForGuests, HOST},
    join_set::{spawn_blocking_in, spawn_in},
    pid_filter::PidFilter,
};

impl Pid {
    /// Allocates a pid.
    #[doc(hidden)]
    pub fn next() -> Pid {
        static LAST: AtomicU64 = AtomicU64::new(0);
        if let Some(host) = HOST.get() {
            return (host.next)();
        }
        // Relaxed: the numbers need only differ.
        Pid::numbered(LAST.fetch_add(1, Ordering::Relaxed) + 1)
    }
}

/// The number of words in each process that other rooms keep process state in.
#[doc(hidden)]
pub const WORDS: usize = 4;
/// One more word: not 0 once the process has given its pid away.
const GIVEN: usize = WORDS;
/// Spawned processes inherit words with this bit.
#[doc(hidden)]
pub const INHERITED: u32 = 1;

/// A process that is a task.
#[doc(hidden)]
pub struct Process {
    pid: Pid,
    words: [u32; WORDS + 1],
    sequence: Sequence,
}

thread_local! {
    /// The pid of the thread; allocated at first use.
    static THREAD: Cell<Option<Pid>> = const { Cell::new(None) };
    static WORDS_OF_THREAD: Cell<[u32; WORDS + 1]> = const { Cell::new([0; WORDS + 1]) };
    // Without a destructor, as the slots in `scope`.
    static SEQUENCE_OF_THREAD: ManuallyDrop<RefCell<Sequence>> = const { ManuallyDrop::new(RefCell::new(Sequence::NEW)) };
    static SEQUENCE_END: SequenceEnd = const { SequenceEnd };
}

/// Drops the sequence of a thread. From then on it stays borrowed.
struct SequenceEnd;

impl Drop for SequenceEnd {
    fn drop(&mut self) {
        SEQUENCE_OF_THREAD.with(|sequence| {
            let Ok(mut sequence) = sequence.try_borrow_mut() else { return };
            let _sequence = mem::replace(&mut *sequence, Sequence::NEW);
            mem::forget(sequence);
        });
    }
}

/// Changes the token and counters of the current process. `change` must not run user code.
#[inline]
#[doc(hidden)]
pub fn sequence<R>(change: impl FnOnce(&mut Sequence) -> R) -> Result<R, Refusal> {
    scope::change(&PROCESS, |process| change_in(process, change))?
}

/// Likewise, if the process has a token, of whichever era. Asks tokio for the task only then: tokio's value of the thread registers a
/// destructor at first.
#[inline]
#[doc(hidden)]
pub fn sequence_with_token<R>(change: impl FnOnce(&mut Sequence) -> R) -> Option<R> {
    let has_token = |process: &Option<Process>| match process {
        Some(process) => process.sequence.has_token(),
        None => outside_tasks().try_borrow().is_ok_and(|sequence| sequence.has_token()),
    };
    scope::change_if(&PROCESS, has_token, |process| change_in(process, change))?.ok()
}

#[inline(always)]
fn change_in<R>(process: &mut Option<Process>, change: impl FnOnce(&mut Sequence) -> R) -> Result<R, Refusal> {
    let Some(process) = process else {
        let mut sequence = outside_tasks().try_borrow_mut().map_err(|_| Refusal::Unreachable)?;
        let answer = change(&mut sequence);
        let owns_memory = sequence.owns_memory();
        drop(sequence);
        if owns_memory {
            HOST.get().map_or_else(drop_sequence_at_end, |host| (host.drop_sequence_at_end)());
        }
        return Ok(answer);
    };
    Ok(change(&mut process.sequence))
}

fn outside_tasks() -> &'static RefCell<Sequence> {
    let place = HOST.get().map_or_else(sequence_of_thread, |host| (host.sequence_of_thread)());
    // SAFETY: the current thread's value, which has no destructor and lasts as long as the thread. No caller keeps it.
    unsafe { &*place }
}

/// The token and counters of the current thread.
fn sequence_of_thread() -> *const RefCell<Sequence> {
    SEQUENCE_OF_THREAD.with(|sequence| ptr::from_ref(&**sequence))
}

/// Has them dropped at the end of the thread. May allocate.
fn drop_sequence_at_end() {
    let _ = SEQUENCE_END.try_with(|_| ());
}

#[doc(hidden)]
pub static PROCESS: Slot<Option<Process>> = Slot::new();

/// The slot of the host, for guests.
#[doc(hidden)]
pub static SLOT_FOR_GUESTS: scope::ForGuests<Option<Process>> = scope::ForGuests::new();

own_slot! {
    impl Own for Option<Process>, in PROCESS {
        const NOTHING: Self = None;

        #[inline(always)]
        fn is_nothing(&self) -> bool {
            // No thread has a process of its own.
            true
        }

        #[inline(always)]
        fn in_force(&self) {
            let pid = self.as_ref().map(|process| process.pid);
            match HOST.get() {
                None => runs(pid),
                Some(host) => (host.runs)(pid),
            }
        }
    }
}

/// Notes that the current thread runs this process, or itself.
#[inline(always)]
fn runs(process: Option<Pid>) {
    pid_filter::runs(THREAD.get(), process);
}

/// Returns a word of the current process: 0 until it is set.
#[doc(hidden)]
pub fn word(place: usize) -> u32 {
    scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.words[place]))
        .unwrap_or_else(|| WORDS_OF_THREAD.get()[place])
}

/// The words that a process spawned by the current one inherits.
fn inherited_words() -> [u32; WORDS + 1] {
    let words = scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.words));
    let words = words.unwrap_or_else(|| WORDS_OF_THREAD.get());
    words.map(|word| if word & INHERITED != 0 { word } else { 0 })
}

/// Sets a word of the current process. Must not be called in a signal handler.
#[doc(hidden)]
pub fn set_word(place: usize, word: u32) {
    let of_task = scope::change(&PROCESS, |process| process.as_mut().map(|process| process.words[place] = word));
    if !matches!(of_task, Ok(Some(()))) {
        let mut words = WORDS_OF_THREAD.get();
        words[place] = word;
        WORDS_OF_THREAD.set(words);
    }
}

/// The token and counters that a process spawned by the current one inherits.
fn inherited_sequence() -> Sequence {
    let inherits = |era| sequence(|sequence| sequence.of_era(era).of_child()).ok();
    Some(era()).filter(|era| *era != 0).and_then(inherits).unwrap_or(Sequence::NEW)
}

/// Returns the pid of the current process.
#[inline]
pub fn current() -> Pid {
    pid_filter::alone().unwrap_or_else(asked_for)
}

fn asked_for() -> Pid {
    scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.pid)).unwrap_or_else(outside)
}

/// The running task that this crate did not start, if its runtime tells of it; else the thread. Apart from [`asked_for`], which saves
/// no registers for it.
#[inline(never)]
fn outside() -> Pid {
    match HOST.get() {
        None => runtime_tasks::pid_of_running().unwrap_or_else(of_thread),
        Some(host) => (host.of_thread)(),
    }
}

/// Returns the pid of the current process; `None` in a task that is not a process, whose thread runs other tasks too.
#[doc(hidden)]
pub fn own() -> Option<Pid> {
    let of_task = scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.pid));
    of_task.or_else(|| tokio::task::try_id().is_none().then(of_thread))
}

/// Gives the pid of the current process to an inbox, which then stands for the process. Each process gives it once: when the inbox
/// ends, other nodes learn that the pid has ended. `None` like [`own`].
#[doc(hidden)]
pub fn give() -> Option<Pid> {
    let pid = own().filter(|_| word(GIVEN) == 0);
    if pid.is_some() {
        set_word(GIVEN, !INHERITED);
    }
    pid
}

/// The pid of the current thread.
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

/// The functions of this room for guests.
#[doc(hidden)]
pub static FOR_GUESTS: ForGuests = ForGuests {
    next: Pid::next,
    of_thread: outside,
    runs,
    sequence_of_thread,
    drop_sequence_at_end,
    thread_number,
    next_operation,
    waking: waking::outside,
};

/// [`spawn`](crate::task::spawn) as process `pid`.
#[track_caller]
#[doc(hidden)]
pub fn spawn_as<F>(pid: Pid, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let process = process(pid, ProcessKind::Task, future);
    let _own = SpawnsOwn::begin();
    tokio::spawn(process)
}

/// [`spawn_local`](crate::task::spawn_local) as process `pid`.
#[track_caller]
#[doc(hidden)]
pub fn spawn_local_as<F>(pid: Pid, future: F) -> JoinHandle<F::Output>
where
    F: Future + 'static,
    F::Output: 'static,
{
    tokio::task::spawn_local(process(pid, ProcessKind::Future, future))
}

/// [`spawn_blocking`](crate::task::spawn_blocking) as process `pid`.
#[track_caller]
#[doc(hidden)]
pub fn spawn_blocking_as<F, R>(pid: Pid, closure: F) -> JoinHandle<R>
where
    F: FnOnce() -> R + Send + 'static,
    R: Send + 'static,
{
    tokio::task::spawn_blocking(blocking(pid, closure))
}

/// Makes a process of a closure.
#[track_caller]
fn blocking<F: FnOnce() -> R, R>(pid: Pid, closure: F) -> impl FnOnce() -> R {
    let tagged = tag::of_current(closure);
    let life = Life::begin::<F>(pid, ProcessKind::Blocking, || tagged.tag());
    let closure = Scoped::new(Some(Process::begin(pid)), tagged);
    let process = BlockingProcess { closure, turn: Turn::begin::<F>(pid), life };
    move || process.run()
}

/// A closure that is a process.
struct BlockingProcess<F> {
    closure: Scoped<Option<Process>, tag::OwnTags<F>>,
    turn: Turn,
    // Dropped last: it tells the end.
    life: Life,
}

impl<F> BlockingProcess<F> {
    fn run<R>(self) -> R
    where
        F: FnOnce() -> R,
    {
        let BlockingProcess { closure, turn, mut life } = self;
        turn.call(|| life.call(|| closure.run(|tagged| tagged.run(|closure| closure()))))
    }
}

pin_project_lite::pin_project! {
    /// A future that is a process.
    struct OwnProcess<F> {
        #[pin]
        future: Scoped<Option<Process>, tag::OwnTags<F>>,
        // No wake is told after the end.
        told: Option<Box<NotedWaker>>,
        // Dropped last: it tells the end.
        life: Life,
    }
}

#[track_caller]
fn process<F>(pid: Pid, kind: ProcessKind, future: F) -> OwnProcess<F> {
    let tagged = tag::of_new_process(future);
    let life = Life::begin::<F>(pid, kind, || tagged.tag());
    OwnProcess { future: Scoped::new(Some(Process::begin(pid)), tagged), told: None, life }
}

impl<F: Future> Future for OwnProcess<F> {
    type Output = F::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        this.life.poll(
            // Also into the copy for tracers: otherwise each poll is one call more.
            #[inline(always)]
            |context| {
                let task = PROCESS.task();
                this.future.within_task(
                    task,
                    #[inline(always)]
                    |tagged| {
                        tagged.within_task(
                            task,
                            #[inline(always)]
                            |future| future.poll(context),
                        )
                    },
                )
            },
            context,
            this.told,
        )
    }
}

impl Process {
    /// A process that the current one starts.
    fn begin(pid: Pid) -> Process {
        Process { pid, words: inherited_words(), sequence: inherited_sequence() }
    }
}
