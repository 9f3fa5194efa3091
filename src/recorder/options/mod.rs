//! Options of sessions: the probes, filters and files of a recording. The environment and the control socket take them as text.
//!
//! ```text
//! record:DIRECTORY,probes=efile_drv*+aio_pool*,mode=overwrite,size=16M,tag=req-*,command=12,failed
//! record:DIRECTORY,format=ctf2
//! record:DIRECTORY,mode=overwrite,on-panic,slower=100ms,snapshots=10
//! ```
//!
//! Everything after the directory is optional. A comma or a backslash in a value is escaped by a backslash.

pub(super) mod text;
pub(super) mod triggers;

use std::fs;
use std::path::PathBuf;

use dyntrace_metadata::Format;
use dyntrace_probes::rings::descriptor::Descriptor;
use dyntrace_probes::rings::mode::Mode;

use super::filter::Filter;
use crate::glob::Glob;
use triggers::Triggers;

/// Options of a session: its probes, filters and files.
///
/// ```
/// # #[cfg(target_os = "linux")] {
/// use dyntrace::recorder::{Mode, Options};
///
/// let mut options = Options::new("/var/tmp/trace");
/// options.mode = Mode::Overwrite;
/// options.filter.failed = true;
/// assert_eq!(options.to_string(), "record:/var/tmp/trace,mode=overwrite,failed");
/// assert_eq!(options.to_string().parse(), Ok(options));
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Options {
    /// The folder of the trace. Each process creates a folder of its own in it.
    pub directory: PathBuf,
    /// The behavior when files are full.
    pub mode: Mode,
    /// The probes to record: those whose name, `efile_drv-entry` or `dyntrace:efile_drv-entry`, matches one of the patterns. If there
    /// is no pattern, all except `process-scheduled`, `process-unscheduled` and `process-wake`: these fire at each poll, and are
    /// recorded if a pattern matches them.
    pub probes: Vec<Glob>,
    /// The largest size of a thread's file, in bytes, from [`Options::SMALLEST`] to [`Options::LARGEST`]; by default that of the mode.
    pub size: Option<u64>,
    /// Which events of these probes are recorded.
    pub filter: Filter,
    /// The format of the metadata. Events are the same bytes in each.
    pub format: Format,
    /// When the session takes snapshots by itself, in [`Mode::Overwrite`].
    pub triggers: Triggers,
}

impl Options {
    /// The smallest file of a thread: two sub-buffers.
    pub const SMALLEST: u64 = 64 << 10;
    /// The largest file of a thread: a full one is mapped whole, and there may be thousands.
    pub const LARGEST: u64 = 64 << 30;

    /// Options to record everything into `directory`.
    pub fn new(directory: impl Into<PathBuf>) -> Options {
        Options {
            directory: directory.into(),
            mode: Mode::default(),
            probes: Vec::new(),
            size: None,
            filter: Filter::default(),
            format: Format::default(),
            triggers: Triggers::default(),
        }
    }

    /// The size of a thread's file, in bytes: whole sub-buffers; for a circular file, a power of two.
    pub(crate) fn file_size(&self) -> u64 {
        let size = self.size.unwrap_or(self.mode.default_size()).clamp(Options::SMALLEST, Options::LARGEST);
        match self.mode {
            Mode::Stream | Mode::Discard => size.next_multiple_of(Options::SMALLEST / 2),
            Mode::Overwrite => size.next_power_of_two(),
        }
    }

    /// The folder for snapshots of [`triggers`](Options::triggers): beside the folder of the trace.
    pub fn snapshots_directory(&self) -> PathBuf {
        // Without symbolic links, if it exists.
        let directory = fs::canonicalize(&self.directory).unwrap_or_else(|_| self.directory.clone());
        let mut name = directory.file_name().unwrap_or_default().to_owned();
        name.push("-snapshots");
        directory.with_file_name(name)
    }

    /// Returns why these triggers can never take a snapshot, if they cannot.
    pub(crate) fn idle_triggers(&self) -> Option<&'static str> {
        let records = |probe| names(&self.probes, "dyntrace", probe);
        if self.triggers.any() && self.mode != Mode::Overwrite {
            Some("only a session in mode=overwrite takes snapshots for on-panic and slower")
        } else if self.triggers.slower.is_some_and(|slower| slower > Triggers::LONGEST) {
            Some("the clock of operations wraps: slower can be 600s at most")
        } else if self.triggers.slower.is_some() && !(records("efile_drv-entry") && records("efile_drv-return")) {
            Some("slower needs efile_drv-entry and efile_drv-return: have them among the probes")
        } else {
            None
        }
    }

    /// Whether the session records the probe.
    pub(crate) fn takes(&self, probe: &Descriptor) -> bool {
        names(&self.probes, probe.provider, &probe.tool_name())
    }
}

/// Probes that fire at each poll of a process, or at each wake: half of a file server's events. Without a pattern they are not recorded.
const OF_EACH_POLL: [&str; 3] = ["dyntrace:process-scheduled", "dyntrace:process-unscheduled", "dyntrace:process-wake"];

/// Whether one of the patterns matches the probe. If there is no pattern, whether it is recorded by default.
fn names(probes: &[Glob], provider: &str, name: &str) -> bool {
    let long = format!("{provider}:{name}");
    if probes.is_empty() {
        return !OF_EACH_POLL.contains(&&*long);
    }
    probes.iter().any(|glob| glob.matches(name.as_bytes()) || glob.matches(long.as_bytes()))
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    static ENTRY: Descriptor = Descriptor::new("dyntrace", "efile_drv__int_entry", &[], ptr::null);

    #[test]
    fn probes_by_short_and_by_long_name() {
        let takes = |globs: &[&str]| {
            let mut options = Options::new("/t");
            options.probes = globs.iter().map(|&glob| glob.into()).collect();
            options.takes(&ENTRY)
        };
        assert!(takes(&[]));
        assert!(takes(&["aio_pool*", "efile_drv-int_*"]));
        assert!(takes(&["dyntrace:*"]));
        assert!(!takes(&["aio_pool*", "shop:*", "efile_drv"]));
    }

    #[test]
    fn sizes_are_of_whole_sub_buffers() {
        let size = |mode, size| Options { mode, size, ..Options::new("/t") }.file_size();
        assert_eq!(size(Mode::Stream, None), 1 << 30);
        assert_eq!(size(Mode::Stream, Some(100_000)), 4 * 32768);
        assert_eq!(size(Mode::Discard, Some(1)), Options::SMALLEST);
        assert_eq!(size(Mode::Overwrite, Some(3 << 20)), 4 << 20);
        assert_eq!(size(Mode::Overwrite, Some(u64::MAX)), Options::LARGEST);
    }
}
