//! On systems without a recorder no session refuses an operation: there is no recorder.

/// By every session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision;

impl Decision {
    pub(crate) const BY_ALL: Decision = Decision;

    pub(crate) fn decide() {}

    pub(crate) fn decided() -> Decision {
        Decision
    }

    pub(crate) fn say(self) {}
}
