//! Jobs whose outcome goes to a callback, because nothing may be awaiting it.

use std::io;

use dyntrace_probes::sdt::Decision;

use super::operation::fault_error;
use crate::aio_pool::{Changes, Counts, Fault, Job, Lane};

/// A job that keeps its output until it is settled, and only then passes it on. So the receiver gets the output of a settled job.
/// The callback also gets the job: one that never ran still has its buffer.
pub(super) struct Detached<J: Job, C> {
    job: J,
    output: Option<J::Output>,
    callback: Option<C>,
}

impl<J: Job, C> Detached<J, C> {
    pub(super) fn new(job: J, callback: C) -> Detached<J, C> {
        Detached { job, output: None, callback: Some(callback) }
    }
}

impl<J, C> Job for Detached<J, C>
where
    J: Job,
    C: FnOnce(io::Result<J::Output>, &mut J) + Send + 'static,
{
    type Output = ();

    fn lane(&self) -> Lane {
        self.job.lane()
    }

    fn changes(&self) -> Changes {
        self.job.changes()
    }

    fn may_be_bound(&self) -> bool {
        self.job.may_be_bound()
    }

    fn taken(&self) -> Decision {
        self.job.taken()
    }

    fn run(&mut self) {
        self.output = Some(self.job.run());
    }

    fn ran(&mut self) {
        self.job.ran();
    }

    fn count(&self, _: Option<&()>, counts: &mut Counts) {
        self.job.count(self.output.as_ref(), counts);
    }

    fn settle(&mut self, outcome: Result<&(), &Fault>) {
        let result = match outcome {
            Ok(()) => {
                let output = self.output.take().expect("run left an output");
                self.job.settle(Ok(&output));
                Ok(output)
            }
            Err(fault) => {
                self.job.settle(Err(fault));
                Err(fault_error(fault))
            }
        };
        if let Some(callback) = self.callback.take() {
            callback(result, &mut self.job);
        }
    }
}
