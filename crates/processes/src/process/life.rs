//! The probes of a process: spawn, scheduled, unscheduled, exit. [`waker`](super::waker) has the one of its wakes.

use std::mem;
use std::panic::{self, AssertUnwindSafe, Location};
use std::task::{Context, Poll};

use dyntrace_probes::clock;
use dyntrace_probes::sdt::{Text, if_any_enabled, is_only_kept};
use dyntrace_probes::text::SourcePlace;

use super::function::path;
use super::scheduling::{fire_scheduled, fire_unscheduled};
use super::waker::{NotedWaker, is_told};
use super::waking::Waking;
use super::{PROCESS, Pid, current};
use crate::panic_text::panic_text;
use crate::probes::process as probes;
use crate::scope;
use crate::tag::Tag;
use crate::task_table::{Counting, Spawned, TaskSlot};

/// A process from its spawn to its exit. Fires `process-exit` when it is dropped, so it is dropped after the future.
pub(super) struct Life {
    pid: Pid,
    /// The path of its function.
    function: &'static str,
    end: End,
    /// Whether a runtime keeps the future until it has ended, whether or not anything can wake it.
    is_owned: bool,
    /// Its slot in the table of tasks.
    slot: TaskSlot,
}

/// A kind of process.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum ProcessKind {
    /// A task of the current runtime.
    Task,
    /// A future that may be a part of a task, or be polled by another thing than a runtime.
    Future,
    /// A closure on a thread for blocking work.
    Blocking,
}

/// How the process ends if it is dropped now.
enum End {
    Cancelled,
    Normal,
    Panicked,
    /// `process-exit` has fired.
    Told,
}

impl Life {
    /// Fires `process-spawn` for a process that runs a `T`.
    #[track_caller]
    #[inline]
    pub(super) fn begin<T>(pid: Pid, kind: ProcessKind, user_tag: impl FnOnce() -> Option<Tag>) -> Life {
        let function = path::<T>();
        let slot = match probes::spawn::is_enabled() {
            true => tell_spawn(pid, function, kind, Location::caller(), user_tag()),
            false if kind == ProcessKind::Blocking => TaskSlot::NONE_OF_CLOSURE,
            false => TaskSlot::NONE,
        };
        Life { pid, function, end: End::Cancelled, is_owned: kind == ProcessKind::Task, slot }
    }

    /// Polls the process, with the probes around, with the context from outside or with one of another waker. `told`: the latter, if wakes
    /// were watched at the last poll.
    #[inline(always)]
    pub(super) fn poll<R>(
        &mut self,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
        context: &mut Context<'_>,
        told: &mut Option<Box<NotedWaker>>,
    ) -> Poll<R> {
        if is_watched() {
            return self.poll_watched(poll, context, told);
        }
        let answer = self.unwatched(|| poll(context));
        if answer.is_ready() {
            self.end = End::Normal;
        }
        answer
    }

    /// Calls the process's closure, with the probes around.
    pub(super) fn call<R>(&mut self, call: impl FnOnce() -> R) -> R {
        if is_watched() {
            return self.call_watched(call);
        }
        let answer = self.unwatched(call);
        self.end = End::Normal;
        answer
    }

    /// Notes a panic. Without a panic this costs nothing, unlike catching it, which would tell the text.
    #[inline(always)]
    fn unwatched<R>(&mut self, run: impl FnOnce() -> R) -> R {
        let panics = Panics(self);
        let answer = run();
        mem::forget(panics);
        answer
    }

    // Out of line, with its copy of the poll: the rest is small enough to be inlined into the caller. `poll` comes first: so the future is
    // in the register in which the other copy needs it.
    #[cold]
    #[inline(never)]
    fn poll_watched<R>(
        &mut self,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<R>,
        context: &Context<'_>,
        told: &mut Option<Box<NotedWaker>>,
    ) -> Poll<R> {
        let inner = context.waker();
        let outcome = |answer: &Poll<R>| if answer.is_ready() { Outcome::Ready } else { Outcome::Pending };
        let own = if is_told() { NotedWaker::of(told, inner, self.pid, tell_wake) } else { None };
        let woken_by = own.map_or(0, NotedWaker::begin_poll);
        let waker = own.map_or(inner, NotedWaker::waker);
        let answer = self.watched(
            woken_by,
            // Else both ways of watching call one copy of it.
            #[inline(always)]
            || poll(&mut Context::from_waker(waker)),
            outcome,
        );
        // A waker that nothing else has would keep alive a future that its executor drops with its last waker.
        if !self.is_owned && !told.as_ref().is_some_and(|told| told.can_wake()) {
            *told = None;
        }
        answer
    }

    #[cold]
    #[inline(never)]
    fn call_watched<R>(&mut self, call: impl FnOnce() -> R) -> R {
        self.watched(0, call, |_| Outcome::Ready)
    }

    /// `woken_by`: the process or thread that woke it, as the table of tasks has it; 0 if it is not known.
    #[inline(always)]
    fn watched<R>(&mut self, woken_by: u64, run: impl FnOnce() -> R, outcome: impl FnOnce(&R) -> Outcome) -> R {
        if is_traced() { self.traced(woken_by, run, outcome) } else { self.kept(woken_by, run, outcome) }
    }

    fn traced<R>(&mut self, woken_by: u64, run: impl FnOnce() -> R, outcome: impl FnOnce(&R) -> Outcome) -> R {
        clock::prepare_once();
        // The table, the monitor and both probes share two readings of the clock.
        let now = clock::now();
        let running = self.slot.run(self.pid.number(), woken_by, || now);
        let began = fire_scheduled(self.pid, self.function, now);
        // The panic resumes below, so no code sees a value that it left half changed.
        let answer = panic::catch_unwind(AssertUnwindSafe(run));
        let now = clock::now();
        if let Some(running) = running {
            running.end(now);
        }
        let outcome = answer.as_ref().map_or(Outcome::Panic, outcome);
        fire_unscheduled(self.pid, began, now, outcome.text());
        if let Outcome::Ready = outcome {
            self.end = End::Normal;
        }
        answer.unwrap_or_else(|payload| {
            self.tell_panic(panic_text(&*payload));
            panic::resume_unwind(payload)
        })
    }

    /// For the table of tasks alone, or for wakes alone.
    #[inline(always)]
    fn kept<R>(&mut self, woken_by: u64, run: impl FnOnce() -> R, outcome: impl FnOnce(&R) -> Outcome) -> R {
        let _running = self.slot.run(self.pid.number(), woken_by, clock::now);
        let answer = self.unwatched(run);
        if let Outcome::Ready = outcome(&answer) {
            self.end = End::Normal;
        }
        answer
    }

    #[cold]
    fn tell_panic(&mut self, text: &str) {
        let reason = format!("panic: {text}");
        probes::exit(|| (self.pid, &reason));
        self.end = End::Told;
    }
}

impl Drop for Life {
    fn drop(&mut self) {
        let reason = match self.end {
            End::Cancelled => "cancelled",
            End::Normal => "normal",
            End::Panicked => "panic",
            End::Told => return self.slot.leave(self.pid.number()),
        };
        probes::exit(|| (self.pid, reason));
        self.slot.leave(self.pid.number());
    }
}

/// Notes that the process panicked.
struct Panics<'l>(&'l mut Life);

impl Drop for Panics<'_> {
    #[cold]
    fn drop(&mut self) {
        self.0.end = End::Panicked;
    }
}

/// How a poll or call ended.
#[derive(Clone, Copy)]
enum Outcome {
    Pending,
    Ready,
    Panic,
}

impl Outcome {
    fn text(self) -> &'static str {
        match self {
            Outcome::Pending => "pending",
            Outcome::Ready => "ready",
            Outcome::Panic => "panic",
        }
    }
}

/// Whether a tracer looks at polls or at wakes, or there is a table of tasks.
#[inline(always)]
#[allow(named_asm_labels, reason = "the words of the probes, which the assembly of each use defines")]
pub(super) fn is_watched() -> bool {
    if_any_enabled!(
        (probes::scheduled "process__scheduled"),
        (probes::unscheduled "process__unscheduled"),
        (probes::wake "process__wake"),
        { return true }
    );
    false
}

/// Whether a tracer looks at the probes around each poll.
#[inline(always)]
fn is_traced() -> bool {
    probes::unscheduled::is_enabled() || probes::scheduled::is_enabled() && !is_only_kept!(probes::scheduled)
}

#[cold]
#[inline(never)]
fn tell_wake(woken: Pid) {
    let running = scope::read(&PROCESS, |process| process.as_ref().map(|process| &process.pid));
    Waking::now(running).tell(|waker| probes::wake(|| (waker, woken)));
}

#[cold]
#[inline(never)]
fn tell_spawn(
    pid: Pid,
    function: &'static str,
    kind: ProcessKind,
    at: &'static Location<'static>,
    user_tag: Option<Tag>,
) -> TaskSlot {
    let parent = current();
    if !is_only_kept!(probes::spawn) {
        let place = SourcePlace::new(at);
        probes::spawn(|| (pid, Text::plain(function), parent, place.text(), user_tag.as_ref()));
    }
    let counting = if kind == ProcessKind::Task { Counting::current() } else { None };
    let slot = TaskSlot::take(&Spawned {
        pid: pid.number(),
        is_blocking: kind == ProcessKind::Blocking,
        is_counted: counting.is_some(),
        task: None,
        parent: parent.number(),
        function,
        place: at,
        tag: user_tag.as_deref(),
    });
    // After the slot, which the count has, too.
    if let Some(counting) = counting {
        counting.count_with_next();
    }
    slot
}
