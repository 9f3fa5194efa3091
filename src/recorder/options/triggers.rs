//! Triggers of snapshots.

use std::time::Duration;

/// When a session in [`Mode::Overwrite`](crate::recorder::Mode::Overwrite) takes snapshots by itself: a flight recorder.
///
/// Each snapshot is a trace of its own, in a folder beside the session's: a session that records into `trace` writes snapshots into
/// `trace-snapshots`, with names such as `server-4711-1-slow`: process, number of the snapshot, cause. A folder of that name is complete.
/// The maintenance thread writes it; firing threads do not wait for it.
///
/// So that many requests in a row do not fill the disk, each cause gets at most [`snapshots`](Triggers::snapshots) snapshots, at least ten
/// seconds apart. [`Status::suppressed`](crate::recorder::Status::suppressed) counts the requests without one.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # #[cfg(target_os = "linux")] {
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path().join("trace");
/// use std::time::Duration;
///
/// use dyntrace::recorder::{Mode, Options, Session};
///
/// let mut options = Options::new(directory);
/// options.mode = Mode::Overwrite;
/// options.triggers.slower = Some(Duration::from_millis(100));
/// options.triggers.on_panic = true;
/// let session = Session::start(options)?;
/// assert_eq!(session.status().unwrap().snapshots.len(), 0);
/// # }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Triggers {
    /// Panics, including caught ones. The panicking thread waits for the snapshot, for ten seconds at most.
    ///
    /// The session installs a panic hook when it starts, which calls the previous one. A program that sets a hook of its own later must
    /// call the previous one, too.
    pub on_panic: bool,
    /// File operations that take longer, from `efile_drv-entry` to `efile_drv-return`, and whose `efile_drv-return` the session records.
    /// At most [`LONGEST`](Triggers::LONGEST).
    pub slower: Option<Duration>,
    /// The most snapshots for each cause.
    pub snapshots: u32,
}

impl Default for Triggers {
    /// None, and 10 snapshots.
    fn default() -> Triggers {
        Triggers { on_panic: false, slower: None, snapshots: Triggers::SNAPSHOTS }
    }
}

impl Triggers {
    /// The default of `snapshots`.
    pub(in crate::recorder) const SNAPSHOTS: u32 = 10;

    /// The longest time of `slower`: the clock of operations wraps after more than that.
    pub const LONGEST: Duration = Duration::from_secs(600);

    /// Whether any trigger is set.
    pub(crate) fn any(&self) -> bool {
        self.on_panic || self.slower.is_some()
    }
}
