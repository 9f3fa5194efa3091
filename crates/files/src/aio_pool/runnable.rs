//! A submitted job as the pool's queues hold it, without its type.

use super::counts::Counts;
use super::delivery::TaskWaker;
use super::job::Fault;

pub(super) trait Runnable: Send + Sync {
    /// Runs and counts the job unless its operation was cancelled. Returns the task to wake, if one awaits the outcome.
    #[must_use]
    fn run(&self, counts: &mut Counts) -> Option<TaskWaker>;

    /// Ends the operation with `fault` unless it was cancelled. The job does not run.
    fn refuse(&self, fault: Fault);
}
