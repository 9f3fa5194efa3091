//! No runtime tells of its tasks: hooks of tasks need `tokio_unstable`.

/// Nothing.
pub(super) struct SpawnsOwn;

impl SpawnsOwn {
    pub(super) fn begin() -> SpawnsOwn {
        SpawnsOwn
    }
}

/// None.
pub(super) fn pid_of_running() -> Option<super::Pid> {
    None
}
