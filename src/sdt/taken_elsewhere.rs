//! On systems without a recorder no session refuses an operation: there is no recorder.

/// By every session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken;

impl Taken {
    pub(crate) const BY_ALL: Taken = Taken;

    pub(crate) fn decide() {}

    pub(crate) fn decided() -> Taken {
        Taken
    }

    pub(crate) fn say(self) {}
}
