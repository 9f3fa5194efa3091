//! One operation: its job, with the probes of its stages around it.

use std::io;
use std::marker::PhantomData;
use std::time::Duration;

use rustix::io::Errno;

use super::command::Command;
use super::request::{Name, Request};
use super::timed::{self, Began};
use super::waits;
use crate::aio_pool::{Answer, Counts, Fault, Job, Lane, Pool, Port};
use crate::probes::efile_drv;
use crate::process::{self, OperationId};
use crate::sdt::{self, Decision, Text};
use crate::seq_trace;
use crate::tag::{self, Tag};

/// An operation that was entered: the arguments of its later probes.
pub(super) struct Entered {
    id: OperationId,
    user_tag: Option<Tag>,
    command: Command,
    began: Began,
    taken: Decision,
}

/// Called when `efile_drv-entry` is enabled. `awaited`: the command, if the current task awaits the operation.
#[cold]
#[inline(never)]
fn traced_entry(id: OperationId, awaited: Option<Command>) -> Began {
    if let Some(command) = awaited {
        waits::begin(id, command);
    }
    seq_trace::tell_operation(id);
    Decision::begin();
    Began::now()
}

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
        let id = process::next_operation();
        // Only now: a value that lives across a call must be saved on the stack.
        let user_tag = user_tag();
        #[cfg(test)]
        observe::note(id, observe::Stage::Entry(port, request.command));
        // Set in the closure, so that a disabled probe costs no second check.
        let (mut began, mut is_seen) = (Began::UNKNOWN, false);
        efile_drv::entry(
            // A call of the closure would have the disabled probe store all its captured references.
            #[inline(always)]
            || {
                is_seen = true;
                began = traced_entry(id, if AWAITED { Some(request.command) } else { None });
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
            },
        );
        let taken = if is_seen { Decision::current() } else { Decision::ALL };
        Entered { id, user_tag, command: request.command, began, taken }
    }

    /// Fires `efile_drv-int_entry`.
    #[inline(always)]
    pub(super) fn begin(&self) {
        #[cfg(test)]
        observe::note(self.id, observe::Stage::InternalEntry);
        efile_drv::int_entry(|| {
            sdt::open_control_if_requested!(efile_drv::int_entry);
            self.internal_arguments()
        });
    }

    /// Fires `efile_drv-int_return`.
    #[inline(always)]
    pub(super) fn end(&self) {
        #[cfg(test)]
        observe::note(self.id, observe::Stage::InternalReturn);
        efile_drv::int_return(|| self.internal_arguments());
    }

    /// The arguments of both.
    fn internal_arguments(&self) -> (i32, i32, i32) {
        self.taken.apply();
        (self.id.thread, self.id.tag, self.command.number())
    }

    /// Which sessions record it.
    pub(super) fn taken(&self) -> Decision {
        self.taken
    }

    /// Counts an operation that was answered without a job, for the pool's metrics.
    #[inline]
    pub(super) fn count_answer(&self, pool: &Pool, succeeded: bool, bytes: u64, took: Duration) {
        let answer = Answer { name: self.command.counted_as(), succeeded, bytes, took };
        pool.count_answer(self.command.inline_number(), self.id.thread as usize, &answer);
    }

    /// Fires `efile_drv-return`. `moved` returns how many bytes the operation moved.
    #[inline(always)]
    pub(super) fn settle<T>(&self, answer: Result<&T, &io::Error>, moved: impl Fn() -> u64) {
        let error = answer.err().map(errno);
        #[cfg(test)]
        observe::note(self.id, observe::Stage::Return(error.unwrap_or(0)));
        let mut is_seen = false;
        efile_drv::r#return(|| {
            is_seen = true;
            self.taken.apply();
            (
                self.id.thread,
                self.id.tag,
                self.user_tag.as_ref(),
                self.command.number(),
                i32::from(error.is_none()),
                error.unwrap_or(0),
                moved() as i64,
            )
        });
        if is_seen {
            waits::end(self.id);
            timed::ended(self.began, self.id, self.user_tag.as_ref(), self.command, error, moved());
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
    /// Makes the job of an operation that was entered with `request`. The caller must submit it to a pool, which settles it, or complete
    /// it [at once](FileJob::at_once).
    #[inline(always)]
    pub(super) fn new(entered: Entered, request: Request, buffer: B, work: F) -> Self {
        FileJob { entered, request, work: Some((work, buffer)), answer: PhantomData }
    }

    /// Attempts the operation on this thread. If `attempt` returns a result, the operation is settled; otherwise the job must be submitted.
    ///
    /// `attempt` must not panic.
    #[inline(always)]
    pub(super) fn at_once(
        &mut self,
        attempt: impl FnOnce(&Request, &mut B) -> Option<io::Result<T>>,
    ) -> Option<(io::Result<T>, B)> {
        let (_, buffer) = self.work.as_mut()?;
        self.entered.begin();
        let answer = attempt(&self.request, buffer)?;
        self.entered.end();
        self.entered.settle(answer.as_ref(), || self.request.moved());
        Some((answer, self.reclaim()?))
    }

    /// Counts the operation, which was answered [at once](FileJob::at_once), for the pool's metrics.
    #[inline]
    pub(super) fn count_answer(&self, pool: &Pool, succeeded: bool, took: Duration) {
        self.entered.count_answer(pool, succeeded, self.request.moved(), took);
    }

    /// Takes the buffer of an operation that never ran.
    pub(super) fn reclaim(&mut self) -> Option<B> {
        self.work.take().map(|(_, buffer)| buffer)
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

    fn taken(&self) -> Decision {
        self.entered.taken()
    }

    #[inline(always)]
    fn run(&mut self) -> Self::Output {
        self.entered.begin();
        let (work, mut buffer) = self.work.take().expect("the pool runs a job once");
        (work(&self.request, &mut buffer), buffer)
    }

    #[inline(always)]
    fn ran(&mut self) {
        self.entered.end();
    }

    #[inline(always)]
    fn count(&self, output: Option<&Self::Output>, counts: &mut Counts) {
        self.request.command.count(counts, matches!(output, Some((Ok(_), _))), self.request.moved());
    }

    #[inline(always)]
    fn settle(&mut self, outcome: Result<&Self::Output, &Fault>) {
        match outcome {
            Ok((answer, _)) => self.entered.settle(answer.as_ref(), || self.request.moved()),
            Err(fault) => self.entered.settle::<T>(Err(&fault_error(fault)), || self.request.moved()),
        }
    }
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

/// Records the probes that fire, for tests without a tracer.
#[cfg(test)]
pub(crate) mod observe {
    use std::cell::Cell;
    use std::sync::Mutex;

    use crate::aio_pool::Port;
    use crate::efile::Command;
    use crate::process::OperationId;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) enum Stage {
        Entry(Port, Command),
        InternalEntry,
        InternalReturn,
        /// With the errno, 0 for success.
        Return(i32),
    }

    /// An operation id is never used twice in one test run.
    static SEEN: Mutex<Vec<(OperationId, Stage)>> = Mutex::new(Vec::new());

    std::thread_local! {
        static ENTERED: Cell<usize> = const { Cell::new(0) };
    }

    /// Returns how many operations this thread has entered.
    pub(crate) fn entered() -> usize {
        ENTERED.get()
    }

    pub(super) fn note(id: OperationId, stage: Stage) {
        if matches!(stage, Stage::Entry(..)) {
            ENTERED.set(ENTERED.get() + 1);
        }
        SEEN.lock().unwrap().push((id, stage));
    }

    /// Returns the operations of a port, in the order of their entries: their commands, and the probes that each has fired after its
    /// entry.
    pub(crate) fn operations(of: Port) -> Vec<(Command, Vec<Stage>)> {
        let seen = SEEN.lock().unwrap();
        let entries = seen.iter().filter_map(|&(id, stage)| match stage {
            Stage::Entry(port, command) if port == of => Some((id, command)),
            _ => None,
        });
        let rest = |of| seen.iter().filter(move |(id, stage)| *id == of && !matches!(stage, Stage::Entry(..)));
        entries.map(|(id, command)| (command, rest(id).map(|&(_, stage)| stage).collect())).collect()
    }
}
