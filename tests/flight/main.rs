//! The flight recorder: the causes that make an overwrite session take a snapshot.
#![cfg(target_os = "linux")]

#[path = "../common/missing.rs"]
mod missing;
mod panics;
mod slow;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace::recorder::{Session, Status};
use dyntrace_reader::{Trace, Value};
use tempfile::TempDir;

/// One test at a time, as a session records the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A folder for a trace and its snapshots.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        Place(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn options(&self, options: &str) -> String {
        format!("record:{},mode=overwrite,{options}", self.path("trace").display())
    }

    fn start(&self, options: &str) -> Session {
        Session::start(self.options(options).parse().unwrap()).unwrap()
    }

    /// Returns the complete snapshots.
    fn snapshots(&self) -> Vec<PathBuf> {
        let entries = self.path("trace-snapshots").read_dir().into_iter().flatten().map(|entry| entry.unwrap().path());
        entries.filter(|path| !path.file_name().unwrap().as_encoded_bytes().starts_with(b".")).collect()
    }

    /// Waits for the only snapshot.
    fn snapshot(&self) -> PathBuf {
        loop {
            match self.snapshots().as_mut_slice() {
                [] => std::thread::yield_now(),
                [one] => return std::mem::take(one),
                several => panic!("{several:?}"),
            }
        }
    }
}

/// Stops a session that must not have errors.
fn stop(session: Session) -> Status {
    let summary = session.stop().unwrap();
    assert!(summary.errors.is_empty() && summary.status.discarded == 0, "{summary:?}");
    summary.status
}

/// Returns the value of a field for each event of a probe.
fn values(trace: &Path, probe: &str, field: &str) -> Vec<String> {
    let trace = Trace::open(trace).unwrap();
    let events = trace.events().filter(|event| event.class.probe() == probe);
    let value = |value| match value {
        Value::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        Value::Signed(number) => number.to_string(),
        Value::Unsigned(number) => number.to_string(),
    };
    let values = events.map(|event| value(event.field(field).unwrap())).collect();
    let mut losses = trace.losses();
    // A snapshot may have no event.
    losses.empty.clear();
    assert!(losses.is_empty(), "{losses:?}");
    values
}

/// Has babeltrace2 read the trace.
fn read_by_babeltrace(trace: &Path) {
    let Ok(output) = Command::new("babeltrace2").args(["-o", "dummy"]).arg(trace).output() else {
        return missing::skip("babeltrace2", "not installed");
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "babeltrace2 {}: {errors}", trace.display());
}

#[test]
fn a_condition_of_the_programs_own() {
    let _alone = alone();
    let place = Place::new();
    let session = place.start("snapshots=1");
    dyntrace::recorder::trigger();
    assert_eq!(values(&place.snapshot(), "user_trace-i4s4", "i1").len(), 0);
    dyntrace::recorder::trigger();
    let status = stop(session);
    assert_eq!((status.snapshots.len(), status.suppressed), (1, 1));
    assert!(status.snapshots[0].to_str().unwrap().ends_with("-1-asked"), "{status:?}");
    // There is no session.
    dyntrace::recorder::trigger();
}

/// Snapshots are separate traces, not parts of one, although they share events.
#[test]
fn several_snapshots_can_be_read_together() {
    let _alone = alone();
    let place = Place::new();
    let session = place.start("on-panic,snapshots=1");
    dyntrace::p!(1);
    dyntrace::recorder::trigger();
    place.snapshot();
    dyntrace::p!(2);
    let by_hand = session.snapshot(place.path("trace-snapshots/by-hand")).unwrap().unwrap();
    assert!(by_hand.folder.starts_with(place.path("trace-snapshots")));
    stop(session);
    read_by_babeltrace(&place.path("trace-snapshots"));
    assert_eq!(values(&place.path("trace-snapshots"), "user_trace-i4s4", "i1"), ["1", "1", "2"]);
}

#[test]
fn only_circles_have_snapshots() {
    let _alone = alone();
    let place = Place::new();
    let mut options = dyntrace::recorder::Options::new(place.path("trace"));
    options.triggers.on_panic = true;
    let error = Session::start(options).unwrap_err().to_string();
    assert!(error.contains("only a session in mode=overwrite takes snapshots"), "{error}");
    assert!(!place.path("trace").exists());
}

/// An impossible snapshot folder is an error at the start, not a lost snapshot later.
#[test]
fn no_folder_for_snapshots() {
    let _alone = alone();
    let place = Place::new();
    std::fs::write(place.path("trace-snapshots"), "").unwrap();
    let error = Session::start(place.options("on-panic").parse().unwrap()).unwrap_err().to_string();
    assert!(error.contains("trace-snapshots"), "{error}");
}
