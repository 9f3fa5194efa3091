//! A program records itself.
#![cfg(any(target_os = "linux", target_os = "freebsd"))]

#[path = "common/missing.rs"]
mod missing;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace::recorder::{Glob, Mode, Options, Session};

/// Returns the events of a trace as babeltrace2 reads them; `None` without that tool.
fn read_by_babeltrace(trace: &Path) -> Option<Vec<String>> {
    let output = match Command::new("babeltrace2").arg(trace).output() {
        Ok(output) => output,
        Err(_) => {
            missing::skip("babeltrace2", "not installed");
            return None;
        }
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "babeltrace2: {errors}");
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

/// One test at a time, as a session records the whole process.
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
    // After the stop, nothing is recorded.
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

#[test]
fn a_snapshot_holds_the_last_events() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::new(directory.path().join("circles"));
    options.mode = Mode::Overwrite;
    options.size = Some(Options::SMALLEST);
    let session = Session::start(options).unwrap();
    for event in 1..=5000 {
        dyntrace::p!(event, "some text");
    }
    let snapshot = session.snapshot(directory.path().join("snapshot")).unwrap().unwrap();
    assert!(snapshot.packets > 0 && snapshot.overwritten == 0, "{snapshot:?}");
    assert!(session.snapshot("/proc/no/such/folder").unwrap().is_err());
    session.stop().unwrap();
    let Some(lines) = read_by_babeltrace(&directory.path().join("snapshot")) else { return };
    let events = of_probe(&lines, "user_trace-i4s4");
    assert!(events.len() > 100 && events.len() < 5000, "{}", events.len());
    assert!(events.last().unwrap().contains("i1 = 5000"), "{}", events.last().unwrap());
}

#[test]
fn a_forked_child_leaves_the_files_alone() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(directory.path())).unwrap();
    dyntrace::p!(1, "parent");
    // SAFETY: the child only fires a probe, which takes no lock, and ends.
    let child = unsafe { libc::fork() };
    if child == 0 {
        dyntrace::p!(2, "child");
        // SAFETY: ends this process, which needs no clean-up.
        unsafe { libc::_exit(i32::from(session.status().is_some())) };
    }
    let mut status = 0;
    // SAFETY: waits for the child made above.
    unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(status, 0);
    dyntrace::p!(3, "parent");
    session.stop().unwrap();
    let Some(lines) = read_by_babeltrace(directory.path()) else { return };
    let events = of_probe(&lines, "user_trace-i4s4");
    assert_eq!(events.len(), 2, "{events:?}");
}

#[test]
fn sessions_come_and_go_beside_each_other() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    dyntrace::p!(1, "text");
                }
            });
        }
        for round in 0..3 {
            let options = |number| {
                let mut options = Options::new(directory.path().join(format!("{round}-{number}")));
                options.mode = Mode::Discard;
                options.size = Some(Options::SMALLEST);
                options
            };
            let sessions: Vec<_> = (0..32).map(|number| Session::start(options(number)).unwrap()).collect();
            assert!(Session::start(options(32)).is_err(), "32 are all there can be");
            for session in sessions {
                assert!(session.stop().unwrap().errors.is_empty());
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
