//! What a program records of itself.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace::recorder::{Glob, Mode, Options, Session};

/// The events of a trace as another tool reads them; `None` without that tool.
fn read_by_babeltrace(trace: &Path) -> Option<Vec<String>> {
    let output = match Command::new("babeltrace2").arg(trace).output() {
        Ok(output) => output,
        Err(_) => {
            eprintln!("SKIPPED: babeltrace2 is not here to read the trace");
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "babeltrace2: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// A session sees the whole process: one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn of_probe<'l>(lines: &'l [String], probe: &str) -> Vec<&'l str> {
    lines.iter().map(String::as_str).filter(|line| line.contains(&format!(" dyntrace:{probe}: "))).collect()
}

#[test]
fn threads_record_into_files_of_their_own() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(directory.path())).unwrap();
    let threads = (1..=4).map(|thread| {
        std::thread::spawn(move || {
            for event in 0..1000 {
                dyntrace::p!(thread, event, "text");
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| thread.join().unwrap());
    let summary = session.stop().unwrap();
    assert_eq!((summary.status.discarded, summary.errors.len()), (0, 0));
    // Stopped, nothing is recorded.
    dyntrace::p!(5, "after the end");
    let Some(lines) = read_by_babeltrace(directory.path()) else { return };
    assert_eq!(of_probe(&lines, "user_trace-i4s4").len(), 4000, "{lines:?}");
}

#[test]
fn a_full_file_counts_what_it_loses() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::new(directory.path());
    options.mode = Mode::Discard;
    options.size = Some(Options::SMALLEST);
    let session = Session::start(options).unwrap();
    for event in 0..5000 {
        dyntrace::p!(event, "some text");
    }
    let summary = session.stop().unwrap();
    assert!(summary.status.discarded > 1000, "{summary:?}");
    let ring = fs::read(summary.status.folder.join("ring-1")).unwrap();
    assert_eq!(ring.len() as u64, Options::SMALLEST);
}

#[test]
fn a_filter_lets_others_pass_by() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::new(directory.path());
    options.filter.tag = Some(Glob::from("some-*"));
    let session = Session::start(options).unwrap();
    dyntrace::put_tag("some-user-tag").unwrap();
    dyntrace::p!(1);
    dyntrace::put_tag("another").unwrap();
    dyntrace::p!(2);
    session.stop().unwrap();
    let Some(lines) = read_by_babeltrace(directory.path()) else { return };
    assert_eq!(of_probe(&lines, "user_trace-i4s4").len(), 1, "{lines:?}");
}
