//! Operations as the pool knows them, whatever their work.

use super::delivery::Addressee;
use super::work::Fault;

/// What the pool knows of an operation.
pub(super) trait Job: Send + Sync {
    /// Does the work, unless it was cancelled meanwhile. Answers whom to tell of its end.
    #[must_use]
    fn run(&self) -> Option<Addressee>;

    /// Answers with a fault instead, unless it was cancelled meanwhile.
    fn refuse(&self, fault: Fault);
}
