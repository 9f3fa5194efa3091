//! One operation: its work, with the probes of its stages around it.

use std::io;
use std::marker::PhantomData;

use rustix::io::Errno;

use super::request::Name;
use super::timed::{self, Began};
use super::{Command, Request};
use crate::aio_pool::{Fault, Lane, Port, Work};
use crate::probes::efile_drv;
use crate::process::{self, OperationId};
use crate::sdt::{Decision, Text};
use crate::seq_trace;
use crate::tag::{self, Tag};

/// An operation that was entered: what the probes of its later stages need.
pub(super) struct Entered {
    id: OperationId,
    user_tag: Option<Tag>,
    command: Command,
    began: Began,
    taken: Decision,
}

/// Somebody hears of an operation that begins.
#[cold]
#[inline(never)]
fn heard(id: OperationId) -> Began {
    seq_trace::tell_operation(id);
    Decision::begin();
    Began::now()
}

impl Entered {
    /// Numbers the operation and fires `efile_drv-entry`. Whoever has the answer must [settle](Entered::settle) it, once.
    #[inline(always)]
    pub(super) fn enter(user_tag: impl FnOnce() -> Option<Tag>, port: Port, request: &Request) -> Entered {
        let id = process::next_operation();
        // Only now: what lives across a call is saved before it.
        let user_tag = user_tag();
        #[cfg(test)]
        observe::note(id, observe::Stage::Entry(port, request.command));
        // Known in the closure, so that there is nothing more to ask where nobody looks.
        let (mut began, mut is_seen) = (Began::UNKNOWN, false);
        efile_drv::entry(|| {
            is_seen = true;
            began = heard(id);
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
        let taken = if is_seen { Decision::current() } else { Decision::ALL };
        Entered { id, user_tag, command: request.command, began, taken }
    }

    /// Before the work.
    #[inline(always)]
    pub(super) fn begin(&self) {
        #[cfg(test)]
        observe::note(self.id, observe::Stage::InternalEntry);
        efile_drv::int_entry(|| self.later());
    }

    /// After it.
    #[inline(always)]
    pub(super) fn end(&self) {
        #[cfg(test)]
        observe::note(self.id, observe::Stage::InternalReturn);
        efile_drv::int_return(|| self.later());
    }

    /// The arguments of the probes around the work.
    fn later(&self) -> (i32, i32, i32) {
        self.taken.apply();
        (self.id.thread, self.id.tag, self.command.number())
    }

    /// Which sessions take it.
    pub(super) fn taken(&self) -> Decision {
        self.taken
    }

    /// With the answer.
    #[inline(always)]
    pub(super) fn settle<T>(&self, answer: Result<&T, &io::Error>) {
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
            )
        });
        if is_seen {
            timed::ended(self.began, self.id, self.user_tag.as_ref(), self.command, error);
        }
    }
}

/// An operation with its work: from [`Operation::enter`] to its settlement.
///
/// The buffer goes with it to the worker and comes back with the answer, also with that of a failure.
#[repr(C)]
pub(crate) struct Operation<F, B, T> {
    job: Option<(F, B)>,
    entered: Entered,
    request: Request,
    answer: PhantomData<fn() -> T>,
}

impl<F, B, T> Operation<F, B, T>
where
    F: FnOnce(&Request, &mut B) -> io::Result<T>,
{
    /// Enters it, on behalf of the current process. What is made here must be given to a pool, which settles it, or be
    /// answered [at once](Operation::at_once).
    #[inline(always)]
    pub(super) fn enter(port: Port, request: Request, buffer: B, work: F) -> Self {
        Operation::enter_for(tag::get_tag_data, port, request, buffer, work)
    }

    /// As [`enter`](Operation::enter), on behalf of somebody.
    #[inline(always)]
    pub(super) fn enter_for(
        user_tag: impl FnOnce() -> Option<Tag>,
        port: Port,
        request: Request,
        buffer: B,
        work: F,
    ) -> Self {
        let entered = Entered::enter(user_tag, port, &request);
        Operation { entered, request, job: Some((work, buffer)), answer: PhantomData }
    }

    /// Tries to do without the work, here and now. If there is an answer, the operation is over; else it must go its way.
    ///
    /// `attempt` must not panic.
    #[inline(always)]
    pub(super) fn at_once(
        &mut self,
        attempt: impl FnOnce(&Request, &mut B) -> Option<io::Result<T>>,
    ) -> Option<(io::Result<T>, B)> {
        let (_, buffer) = self.job.as_mut()?;
        self.entered.begin();
        let answer = attempt(&self.request, buffer);
        self.entered.end();
        let answer = answer?;
        self.entered.settle(answer.as_ref());
        Some((answer, self.reclaim()?))
    }

    /// The buffer of an operation that never ran.
    pub(super) fn reclaim(&mut self) -> Option<B> {
        self.job.take().map(|(_, buffer)| buffer)
    }
}

impl<F, B, T> Work for Operation<F, B, T>
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
        let (work, mut buffer) = self.job.take().expect("the pool runs a work once");
        self.entered.begin();
        (work(&self.request, &mut buffer), buffer)
    }

    #[inline(always)]
    fn ran(&mut self) {
        self.entered.end();
    }

    #[inline(always)]
    fn settle(&mut self, outcome: Result<&Self::Output, &Fault>) {
        match outcome {
            Ok((answer, _)) => self.entered.settle(answer.as_ref()),
            Err(fault) => self.entered.settle::<T>(Err(&fault_error(fault))),
        }
    }
}

/// The errno that `efile_drv-return` shows for an error: its own. What std refuses by itself is EINVAL, else what the system
/// does not know is EIO.
pub(super) fn errno(error: &io::Error) -> i32 {
    let unknown = if error.kind() == io::ErrorKind::InvalidInput { Errno::INVAL } else { Errno::IO };
    error.raw_os_error().unwrap_or(unknown.raw_os_error())
}

/// What the caller of an operation is told of a fault of the pool.
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

/// Where tests see the probes fire without a tracer.
#[cfg(test)]
pub(crate) mod observe {
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

    pub(super) fn note(id: OperationId, stage: Stage) {
        SEEN.lock().unwrap().push((id, stage));
    }

    /// The operations of a port, in the order of their entries: their commands, and what each fired until now after its
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
