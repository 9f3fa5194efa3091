//! The tracers: their names, their places on this machine, and the features that they lack for a script.

mod fitness;
mod identify;

use std::env;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

pub use fitness::{get_one, lacks};

/// A tracer that runs scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TracerKind {
    /// DTrace, of illumos, FreeBSD, macOS, and on Linux DTrace 2
    Dtrace,
    /// SystemTap
    Stap,
    /// bpftrace
    Bpftrace,
}

impl TracerKind {
    /// All of them.
    pub const ALL: &[TracerKind] = &[TracerKind::Dtrace, TracerKind::Stap, TracerKind::Bpftrace];

    /// The tracers that exist on this system, the preferred one first.
    ///
    /// bpftrace starts at once; DTrace needs three seconds and has no eleventh argument; SystemTap compiles a kernel module.
    pub const PREFERRED: &[TracerKind] = if cfg!(target_os = "linux") {
        &[TracerKind::Bpftrace, TracerKind::Dtrace, TracerKind::Stap]
    } else {
        &[TracerKind::Dtrace]
    };

    /// The name of its command.
    pub fn command(self) -> &'static str {
        match self {
            TracerKind::Dtrace => "dtrace",
            TracerKind::Stap => "stap",
            TracerKind::Bpftrace => "bpftrace",
        }
    }

    /// The file extension of its scripts.
    pub fn extension(self) -> &'static str {
        match self {
            TracerKind::Dtrace => "d",
            TracerKind::Stap => "stp",
            TracerKind::Bpftrace => "bt",
        }
    }
}

impl fmt::Display for TracerKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.command())
    }
}

/// A version: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32, pub u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

impl Version {
    /// The first thing in `text` that looks like a version: two or three numbers with dots.
    pub fn find(text: &str) -> Option<Version> {
        text.split(|c: char| !c.is_ascii_digit() && c != '.').find_map(|word| {
            let mut numbers = word.split('.').map(str::parse);
            let (major, minor) = (numbers.next()?.ok()?, numbers.next()?.ok()?);
            Some(Version(major, minor, numbers.next().and_then(Result::ok).unwrap_or(0)))
        })
    }
}

/// A tracer of this machine.
#[derive(Clone, Debug)]
pub struct Tracer {
    /// Its kind.
    pub kind: TracerKind,
    /// Its program.
    pub path: PathBuf,
    /// Its version.
    pub version: Version,
}

/// From this version on it is certain that bpftrace knows the probe `self:signal`.
const SELF_SIGNAL: Version = Version(0, 24, 0);

/// The habit of a bpftrace whose scripts compare the numbers of processes themselves.
pub const NAMES_OUTSIDE: &str = "names processes by their numbers outside of this container";

/// The first bpftrace whose option `-p` limits uprobes to the process.
const UPROBE_PID: Version = Version(0, 20, 0);

/// The oldest bpftrace that was tested with scripts that read registers.
const REG: Version = Version(0, 17, 0);

impl Tracer {
    /// Whether it can print a probe's arguments, even if it lacks other features.
    pub fn prints_events(&self) -> bool {
        self.kind == TracerKind::Bpftrace && self.version >= REG
    }

    /// Whether a script's probes also fire in other processes of a file than the one that the tracer is given.
    pub fn mixes_processes(&self) -> bool {
        match self.kind {
            TracerKind::Bpftrace => self.version < UPROBE_PID,
            TracerKind::Stap => true,
            TracerKind::Dtrace => false,
        }
    }

    /// Whether SIGUSR1 can run a clause of its script.
    pub fn ends_when_asked(&self) -> bool {
        self.kind == TracerKind::Bpftrace && self.version >= SELF_SIGNAL
    }
}

/// The result of a search for a tracer.
#[derive(Debug)]
pub enum Search {
    /// It was found.
    Found(Tracer),
    /// A program has its name, but is another one.
    Unfit {
        /// The program that was found.
        path: PathBuf,
        /// Why it is not the tracer.
        why: String,
    },
    /// No program in `PATH` has its name.
    Missing,
}

/// Looks for a tracer in `PATH`. SystemTap brings a program called `dtrace` too; the search continues after it.
pub fn search(kind: TracerKind) -> Search {
    let mut unfit = Search::Missing;
    for path in in_path(OsStr::new(kind.command())) {
        match identify::version(kind, &path) {
            Ok(version) => return Search::Found(Tracer { kind, path, version }),
            Err(why) if matches!(unfit, Search::Missing) => unfit = Search::Unfit { path, why },
            Err(_) => {}
        }
    }
    unfit
}

/// The programs called `name` in `PATH`, in its order.
pub fn in_path(name: &OsStr) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
    let folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let name = name.to_owned();
    folders.into_iter().map(move |folder| folder.join(&name)).filter(|file| is_executable(file))
}

/// Whether `file` is a regular file that any user may execute.
pub fn is_executable(file: &Path) -> bool {
    file.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_real_tracers() {
        assert_eq!(Version::find("bpftrace v0.27.1"), Some(Version(0, 27, 1)));
        assert_eq!(Version::find("dtrace: D 2.0.7"), Some(Version(2, 0, 7)));
        assert_eq!(Version::find("dtrace: Sun D 1.13"), Some(Version(1, 13, 0)));
        let stap = "Systemtap translator/driver (version 4.8/0.188, Debian version 4.8-2)";
        assert_eq!(Version::find(stap), Some(Version(4, 8, 0)));
        assert_eq!(Version::find("6.18.44-fc-v669"), Some(Version(6, 18, 44)));
        assert_eq!(Version::find("no version"), None);
        assert!(Version(0, 9, 0) < Version(0, 24, 0));
    }
}
