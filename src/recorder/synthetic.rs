//! Traces for tests: whole packets, with the metadata that describes them.

use std::path::Path;
use std::process::Command;
use std::ptr;
use std::sync::atomic::AtomicU32;

use dyntrace_folders::Folder;
use dyntrace_metadata::Format;

use super::metadata::{self, Description};
pub(crate) use super::packets::{UUID, create, event, finish, packets, place, write_packet};
use dyntrace_probes::clock::{self, Calibration};
use dyntrace_probes::rings::descriptor::{Argument, Descriptor, RecordedKind};
use dyntrace_probes::rings::mode::Mode;

static EVERY_KIND: Descriptor = Descriptor::new(
    "made",
    "by__hand",
    &[
        Argument { name: "small", kind: RecordedKind::I32 },
        Argument { name: "count", kind: RecordedKind::U32 },
        Argument { name: "large", kind: RecordedKind::I64 },
        Argument { name: "bits", kind: RecordedKind::U64 },
        Argument { name: "event", kind: RecordedKind::Text },
    ],
    ptr::null::<AtomicU32>,
);
static NOTHING: Descriptor = Descriptor::new("made", "nothing", &[], ptr::null::<AtomicU32>);

/// Event 0 has a field of every kind, event 1 has none.
pub(crate) static EVENTS: [&Descriptor; 2] = [&EVERY_KIND, &NOTHING];

/// Describes a trace of [`EVENTS`] by a program of that name, as CTF 1.8.
pub(crate) fn describe(dir: &Path, procname: &str) {
    describe_as(dir, procname, Format::Ctf1);
}

/// The same in any format.
pub(crate) fn describe_as(dir: &Path, procname: &str, format: Format) {
    let description = Description {
        uuid: UUID,
        hostname: &metadata::hostname(),
        procname,
        pid: std::process::id(),
        mode: Mode::Stream,
        format,
        clock: Calibration::start(),
        clock_name: clock::name(),
        events: &EVENTS,
    };
    metadata::write(&Folder::open(dir).unwrap(), &description).unwrap();
}

/// The lines that babeltrace2 prints for a trace, which it must read without a line on stderr. None where there is no
/// babeltrace2; that is said.
pub(crate) fn babeltrace(dir: &Path) -> Option<Vec<String>> {
    let Ok(output) = Command::new("babeltrace2").arg(dir).output() else {
        let required = std::env::var("DYNTRACE_REQUIRE").unwrap_or_default();
        assert!(!required.contains("babeltrace2"), "babeltrace2: not installed, and DYNTRACE_REQUIRE asks for it");
        eprintln!("SKIPPED: reading a trace with babeltrace2: it is not installed");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "babeltrace2: {}: {errors}", output.status);
    Some(String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect())
}
