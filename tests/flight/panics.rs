//! Caught panics, and panics that end the process.

use std::env;
use std::os::unix::process::ExitStatusExt as _;
use std::panic;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Place, alone, read_by_babeltrace, stop, values};

#[test]
fn a_panic_that_is_caught() {
    static CALLED: AtomicU32 = AtomicU32::new(0);

    let _alone = alone();
    let place = Place::new();
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        CALLED.fetch_add(1, Ordering::Relaxed);
        before(info);
    }));
    let session = place.start("on-panic,snapshots=1");
    let caught = |number| {
        dyntrace::p!(number);
        panic::catch_unwind(|| panic!("to be caught")).unwrap_err();
    };
    caught(1);
    // The panicking thread has waited for the snapshot.
    let snapshot = session.status().unwrap().snapshots.pop().unwrap();
    assert!(snapshot.to_str().unwrap().ends_with("-1-panic"), "{snapshot:?}");
    caught(2);
    let status = stop(session);
    assert_eq!((status.snapshots.len(), status.suppressed), (1, 1));
    assert_eq!(values(&snapshot, "user_trace-i4s4", "i1"), ["1"]);
    panic::catch_unwind(|| panic!("of which nobody is told")).unwrap_err();
    assert_eq!(CALLED.load(Ordering::Relaxed), 3, "the hook before is called");
}

const ROLE: &str = "DYNTRACE_TEST_ROLE";

/// The program of the tests below.
#[test]
fn role() {
    extern "C" fn cannot_unwind() {
        panic!("the end");
    }

    let Ok(role) = env::var(ROLE) else { return };
    for number in 1..=1000 {
        dyntrace::p!(number);
    }
    match role.as_str() {
        "abort" => cannot_unwind(),
        "wait" => {
            dyntrace::recorder::trigger();
            // Waits to be killed.
            std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
        }
        _ => panic!("no role {role}"),
    }
}

fn program(place: &Place, role: &str, options: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "panics::role", "--nocapture"]).env(ROLE, role);
    command.env("DYNTRACE", place.options(options)).env("XDG_RUNTIME_DIR", place.0.path()).stdin(Stdio::piped());
    command
}

#[test]
fn a_panic_that_aborts_the_program() {
    const ABORTED: i32 = 6;

    let place = Place::new();
    let output = program(&place, "abort", "on-panic").output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the end"), "{errors}");
    assert_eq!(output.status.signal(), Some(ABORTED));
    let snapshot = place.snapshot();
    assert_eq!(values(&snapshot, "user_trace-i4s4", "i1").last().unwrap(), "1000");
    read_by_babeltrace(&snapshot);
}

#[test]
fn a_snapshot_stays_when_the_program_is_killed() {
    let place = Place::new();
    let mut child = program(&place, "wait", "snapshots=1").stdout(Stdio::null()).spawn().unwrap();
    let snapshot = place.snapshot();
    child.kill().unwrap();
    child.wait().unwrap();
    let numbers = values(&snapshot, "user_trace-i4s4", "i1");
    assert_eq!(numbers, (1..=1000).map(|number| number.to_string()).collect::<Vec<_>>());
    read_by_babeltrace(&snapshot);
}
