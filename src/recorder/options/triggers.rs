//! What has a session that overwrites write out what it holds.

use std::time::Duration;

/// What has a session in [`Mode::Overwrite`] take snapshots by itself: a flight recorder.
///
/// Each snapshot is a trace of its own, in a folder beside that of the session: a session that records into `trace` has them in
/// `trace-snapshots`, as `server-4711-1-slow`, which names the process, the snapshot's number and its cause. A folder of that name
/// is whole. The program's maintenance thread writes it; no thread that fires waits for it.
///
/// So that many causes in a row do not fill the disk, each kind of cause has at most [`snapshots`](Triggers::snapshots) of them, ten
/// seconds apart. What got none is counted in [`Status::suppressed`](crate::recorder::Status::suppressed).
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
    /// A panic, also one that is caught. The thread that panics goes on when the snapshot is there, or after ten seconds.
    ///
    /// It takes a panic hook, which calls the one before it, and is there from the start of the session. A program that sets
    /// a hook of its own later has to call the one before, too.
    pub on_panic: bool,
    /// A file operation that took longer, from `efile_drv-entry` to `efile_drv-return`; of those only whose `efile_drv-return` the
    /// session records. Ten minutes at most: longer times are not told from shorter ones.
    pub slower: Option<Duration>,
    /// The most snapshots for each kind of cause.
    pub snapshots: u32,
}

impl Default for Triggers {
    /// None, and 10 snapshots.
    fn default() -> Triggers {
        Triggers { on_panic: false, slower: None, snapshots: Triggers::SNAPSHOTS }
    }
}

impl Triggers {
    /// How many snapshots there can be if nothing is said of it.
    pub(in crate::recorder) const SNAPSHOTS: u32 = 10;

    /// The longest time of `slower`: what an operation carries goes round after more than that.
    pub const LONGEST: Duration = Duration::from_secs(600);

    /// Whether there is any.
    pub(crate) fn any(&self) -> bool {
        self.on_panic || self.slower.is_some()
    }
}
