//! Causes of snapshots.

/// Why a snapshot is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    /// An operation took too long.
    Slow,
    /// A thread panicked.
    Panic,
    /// The program asked for it.
    Asked,
}

/// The number of causes.
pub(crate) const CAUSES: usize = Cause::ALL.len();

impl Cause {
    pub const ALL: [Cause; 3] = [Cause::Slow, Cause::Panic, Cause::Asked];

    /// Its name, as names of snapshots have it.
    pub fn name(self) -> &'static str {
        match self {
            Cause::Slow => "slow",
            Cause::Panic => "panic",
            Cause::Asked => "asked",
        }
    }
}
