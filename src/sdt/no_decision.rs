//! Systems without a recorder: no session rejects an operation.

/// Nothing to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision;

impl Decision {
    pub(crate) const ALL: Decision = Decision;

    pub(crate) const UNSEEN: Decision = Decision;

    pub(crate) fn begin(_: u32) {}

    pub(crate) fn current() -> Decision {
        Decision
    }

    pub(crate) fn apply(self) {}
}
