//! One operation: its job, with the probes of its stages around it.

use std::io;
use std::marker::PhantomData;
use std::time::Duration;

use dyntrace_probes::sdt::{self, Decision, Text};
use rustix::io::Errno;

use super::command::Command;
use super::inline::Inline;
use super::observe;
use super::request::{Name, Request};
use super::timed::{self, Began};
use super::waits;
use crate::aio_pool::{Answer, Changes, Counts, Fault, Job, Lane, Pool, Port};
use dyntrace_processes::probes::efile_drv;
use dyntrace_processes::process::{self, OperationId};
use dyntrace_processes::seq_trace;
use dyntrace_processes::tag::{self, Tag};

/// An operation that was entered: the arguments of its later probes, except the command.
pub(super) struct Entered {
    id: OperationId,
    user_tag: Option<Tag>,
    began: Began,
    taken: Decision,
}

// An operation that nobody watches pays for a probe only its check: what the probe needs is computed in functions that are not inlined.
// They take the command by its address, as the compiler would load a value before the check. In tests they always run, and note the probe.
impl Entered {
    /// Enters an operation that the current task awaits, with the task's user tag.
    #[inline(always)]
    pub(super) fn enter(port: Port, request: &Request) -> Entered {
        Entered::number::<true>(tag::get_tag_data, port, request)
    }

    /// Enters an operation that may have no task.
    #[inline(always)]
    pub(super) fn enter_for(user_tag: impl FnOnce() -> Option<Tag>, port: Port, request: &Request) -> Entered {
        Entered::number::<false>(user_tag, port, request)
    }

    /// Numbers the operation and fires `efile_drv-entry`. The caller must [settle](Entered::settle) it, once.
    #[inline(always)]
    fn number<const AWAITED: bool>(user_tag: impl FnOnce() -> Option<Tag>, port: Port, request: &Request) -> Entered {
        // Field by field: a structure that a call may have written stays in memory, and is copied from there.
        let (id, user_tag, began, taken) = if observe::IS_ON || efile_drv::entry::is_enabled() {
            let Entered { id, user_tag, began, taken } = Entered::traced::<AWAITED>(user_tag(), port, request);
            (id, user_tag, began, taken)
        } else {
            let id = process::next_operation();
            // Only now: a value that lives across a call must be saved on the stack.
            (id, user_tag(), Began::UNKNOWN, Decision::UNSEEN)
        };
        Entered { id, user_tag, began, taken }
    }

    #[cold]
    #[inline(never)]
    fn traced<const AWAITED: bool>(user_tag: Option<Tag>, port: Port, request: &Request) -> Entered {
        let id = process::next_operation();
        observe::entry(id, port, request.command);
        let (mut began, mut is_seen) = (Began::UNKNOWN, false);
        efile_drv::entry(|| {
            is_seen = true;
            if AWAITED {
                waits::begin(id, request.command);
            }
            seq_trace::tell_operation(id);
            Decision::begin(sdt::sessions!(efile_drv::entry));
            began = Began::now();
            (
                id.thread,
                id.tag,
                user_tag.as_ref(),
                request.command.number(),
                request.s1.as_ref().map(Name::shown),
                request.s2.as_ref().map(Name::shown),
                request.i1,
                request.i2,
                request.i3,
                request.i4,
                Text::from(port),
            )
        });
        let taken = if is_seen { Decision::current() } else { Decision::UNSEEN };
        Entered { id, user_tag, began, taken }
    }

    /// Fires `efile_drv-int_entry`.
    #[inline(always)]
    pub(super) fn begin(&self, command: &Command) {
        if observe::IS_ON || efile_drv::int_entry::is_enabled() {
            self.fire_int_entry(command);
        }
    }

    #[cold]
    #[inline(never)]
    fn fire_int_entry(&self, command: &Command) {
        observe::int_entry(self.id);
        efile_drv::int_entry(|| {
            sdt::open_control_if_requested!(efile_drv::int_entry);
            self.internal_arguments(command)
        });
    }

    /// Fires `efile_drv-int_return`.
    #[inline(always)]
    pub(super) fn end(&self, command: &Command) {
        if observe::IS_ON || efile_drv::int_return::is_enabled() {
            self.fire_int_return(command);
        }
    }

    #[cold]
    #[inline(never)]
    fn fire_int_return(&self, command: &Command) {
        observe::int_return(self.id);
        efile_drv::int_return(|| self.internal_arguments(command));
    }

    /// The arguments of both.
    fn internal_arguments(&self, command: &Command) -> (i32, i32, i32) {
        self.taken.apply();
        (self.id.thread, self.id.tag, command.number())
    }

    /// Which sessions record it.
    pub(super) fn taken(&self) -> Decision {
        self.taken
    }

    /// Counts an operation that was answered without a job, for the pool's metrics.
    #[inline]
    pub(super) fn count_answer(&self, command: Command, pool: &Pool, succeeded: bool, bytes: u64, took: Duration) {
        let answer = Answer { name: command.counted_as(), succeeded, bytes, took };
        pool.count_answer(command.inline_number(), self.id.thread as usize, &answer);
    }

    #[inline(always)]
    fn is_settlement_seen() -> bool {
        observe::IS_ON || efile_drv::r#return::is_enabled()
    }

    /// Fires `efile_drv-return`. `outcome` returns the errno of a failure, and how many bytes the operation moved.
    #[inline(always)]
    pub(super) fn settle(&self, command: &Command, outcome: impl FnOnce() -> (Option<i32>, u64)) {
        if Entered::is_settlement_seen() {
            let (error, moved) = outcome();
            self.fire_return(*command, error, moved);
        }
    }

    #[cold]
    #[inline(never)]
    fn fire_return(&self, command: Command, error: Option<i32>, moved: u64) {
        observe::r#return(self.id, error);
        let mut is_seen = false;
        efile_drv::r#return(|| {
            is_seen = true;
            self.taken.apply();
            (
                self.id.thread,
                self.id.tag,
                self.user_tag.as_ref(),
                command.number(),
                i32::from(error.is_none()),
                error.unwrap_or(0),
                moved as i64,
            )
        });
        if is_seen {
            waits::end(self.id);
            timed::ended(self.began, self.id, self.user_tag.as_ref(), command, error, moved);
        }
    }
}

/// The job of an operation, from its entry to its settlement.
///
/// The buffer goes with it to the worker and comes back with the result, also with an error.
#[repr(C)]
pub(crate) struct FileJob<F, B, T> {
    /// Until it runs.
    work: Option<(F, B)>,
    entered: Entered,
    request: Request,
    answer: PhantomData<fn() -> T>,
}

impl<F, B, T> FileJob<F, B, T>
where
    F: FnOnce(&Request, &mut B) -> io::Result<T>,
{
    /// Makes the job of an operation that was entered with `request`. The caller must submit it to a pool, which settles it.
    #[inline(always)]
    pub(super) fn new(entered: Entered, request: Request, buffer: B, work: F) -> Self {
        FileJob { entered, request, work: Some((work, buffer)), answer: PhantomData }
    }

    /// Takes the buffer of an operation that never ran.
    pub(super) fn reclaim(&mut self) -> Option<B> {
        self.work.take().map(|(_, buffer)| buffer)
    }

    /// The values of `efile_drv-return`.
    #[cold]
    #[inline(never)]
    fn settled(&self, outcome: Result<&(io::Result<T>, B), &Fault>) -> (Option<i32>, u64) {
        let error = match outcome {
            Ok((answer, _)) => failure(answer),
            Err(fault) => Some(errno(&fault_error(fault))),
        };
        (error, self.request.moved())
    }
}

impl<F, B, T> Job for FileJob<F, B, T>
where
    F: FnOnce(&Request, &mut B) -> io::Result<T> + Send + 'static,
    B: Send + 'static,
    T: Send + 'static,
{
    type Output = (io::Result<T>, B);

    fn lane(&self) -> Lane {
        self.request.command.lane()
    }

    fn changes(&self) -> Changes {
        self.request.changes()
    }

    /// Not where `DYNTRACE_INLINE` is off: then sandboxes see no calls but those of the standard library.
    fn may_be_bound(&self) -> bool {
        Inline::by_default().is_on()
    }

    fn taken(&self) -> Decision {
        self.entered.taken()
    }

    #[inline(always)]
    fn run(&mut self) -> Self::Output {
        self.entered.begin(&self.request.command);
        let (work, mut buffer) = self.work.take().expect("the pool runs a job once");
        (work(&self.request, &mut buffer), buffer)
    }

    #[inline(always)]
    fn ran(&mut self) {
        self.entered.end(&self.request.command);
    }

    #[inline(always)]
    fn count(&self, output: Option<&Self::Output>, counts: &mut Counts) {
        self.request.command.count(counts, matches!(output, Some((Ok(_), _))), self.request.moved());
    }

    #[inline(always)]
    fn settle(&mut self, outcome: Result<&Self::Output, &Fault>) {
        self.entered.settle(&self.request.command, || self.settled(outcome));
    }

    #[inline(always)]
    fn hears_outcome() -> bool {
        Entered::is_settlement_seen()
    }
}

/// Returns the [errno](errno()) of an answer that is an error.
pub(super) fn failure<T>(answer: &io::Result<T>) -> Option<i32> {
    answer.as_ref().err().map(errno)
}

/// Returns the errno that `efile_drv-return` shows for an error: its own; without one, EINVAL for input that std refuses, else EIO.
pub(super) fn errno(error: &io::Error) -> i32 {
    let unknown = if error.kind() == io::ErrorKind::InvalidInput { Errno::INVAL } else { Errno::IO };
    error.raw_os_error().unwrap_or(unknown.raw_os_error())
}

/// Converts a fault of the pool into the error of the operation.
pub(super) fn fault_error(fault: &Fault) -> io::Error {
    match fault {
        Fault::Cancelled | Fault::ShutDown => Errno::CANCELED.into(),
        Fault::Panicked => Errno::IO.into(),
        Fault::NoThread(error) => match error.raw_os_error() {
            Some(errno) => io::Error::from_raw_os_error(errno),
            None => io::Error::new(error.kind(), error.to_string()),
        },
    }
}
