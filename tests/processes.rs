//! The probes of processes, as a recording has them.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder"))]

use std::future::pending;
use std::sync::{Mutex, PoisonError};

use dyntrace::recorder::{Options, Session};
use dyntrace::{JoinSetExt, process};
use dyntrace_reader::{Trace, Value};
use tokio::runtime::Builder;
use tokio::task::{JoinSet, yield_now};

/// One test at a time, as a session records the whole program.
static ALONE: Mutex<()> = Mutex::new(());

/// Returns the events of processes that `body` has left, one a line: without the word `process`, and with `A`, `B`, ... for the pids
/// in the order in which they appear.
fn seen(probes: &[&str], body: impl AsyncFnOnce()) -> Vec<String> {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::new(directory.path());
    options.probes = probes.iter().map(|&glob| glob.into()).collect();
    let session = Session::start(options).unwrap();
    Builder::new_current_thread().enable_time().build().unwrap().block_on(body());
    session.stop().unwrap();
    let mut pids = Vec::new();
    let mut show = |value| match value {
        Value::Text(text) if text.starts_with(b"<0.") => {
            let at = pids.iter().position(|pid| *pid == *text).unwrap_or_else(|| {
                pids.push(text.to_vec());
                pids.len() - 1
            });
            char::from(b'A' + u8::try_from(at).unwrap()).to_string()
        }
        Value::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        Value::Unsigned(_) => "TIME".to_owned(),
        Value::Signed(number) => number.to_string(),
    };
    let trace = Trace::open(directory.path()).unwrap();
    let mut lines = Vec::new();
    for event in trace.events() {
        if let Some(probe) = event.class.name.strip_prefix("dyntrace:process-") {
            let fields: Vec<String> = event.fields().map(|(_, value)| show(value)).collect();
            lines.push(format!("{probe} {}", fields.join(" ")));
        }
    }
    lines
}

async fn turns(count: usize) {
    for _ in 0..count {
        yield_now().await;
    }
}

#[test]
fn from_the_spawn_to_the_exit() {
    let mut line = 0;
    let lines = seen(&["process-*"], async || {
        line = line!() + 1;
        dyntrace::with_tag("request 7", async { dyntrace::spawn(turns(1)).await.unwrap() }).await;
    });
    assert_eq!(
        lines,
        [
            &*format!("spawn A processes::turns B tests/processes.rs:{line} request 7"),
            "scheduled A processes::turns",
            "unscheduled A TIME pending",
            "scheduled A processes::turns",
            "unscheduled A TIME ready",
            "exit A normal",
        ]
    );
}

#[test]
fn each_way_to_end() {
    let reasons = |probes: &[&str]| {
        let lines = seen(probes, async || {
            let waits = dyntrace::spawn(pending::<()>());
            yield_now().await;
            waits.abort();
            waits.await.unwrap_err();
            dyntrace::spawn(async { panic!("no {}", "flour") }).await.unwrap_err();
            drop(process::child(turns(1)));
            dyntrace::spawn_blocking(|| panic!("no {}", "salt")).await.unwrap_err();
            dyntrace::spawn_blocking(|| {}).await.unwrap();
            let mut set = JoinSet::new();
            set.spawn_process(turns(2));
            set.spawn_blocking_process(|| {});
            set.join_all().await;
        });
        let exits = lines.iter().filter_map(|line| line.strip_prefix("exit "));
        let mut reasons: Vec<String> = exits.map(|line| line.split_once(' ').unwrap().1.to_owned()).collect();
        assert_eq!(lines.iter().filter(|line| line.starts_with("spawn")).count(), reasons.len());
        // The set's two end in any order, both normally.
        reasons.truncate(5);
        reasons
    };
    assert_eq!(reasons(&["process-*"]), ["cancelled", "panic: no flour", "cancelled", "panic: no salt", "normal"]);
    // Without the probes around each poll nobody catches the panic.
    assert_eq!(reasons(&[]), ["cancelled", "panic", "cancelled", "panic", "normal"]);
}

#[test]
fn polls_are_recorded_if_they_are_asked_for() {
    let probes = |asked: &[&str]| {
        let mut lines = seen(asked, async || dyntrace::spawn(turns(1)).await.unwrap());
        lines.iter_mut().for_each(|line| line.truncate(line.find(' ').unwrap()));
        lines.dedup();
        lines.join(" ")
    };
    assert_eq!(probes(&[]), "spawn exit");
    assert_eq!(probes(&["process-unscheduled"]), "unscheduled");
}

/// Destructors of a process's future still run in the process.
#[test]
fn the_exit_comes_last() {
    struct Witness;
    impl Drop for Witness {
        fn drop(&mut self) {
            drop(process::child(async {}));
        }
    }
    let lines = seen(&[], async || {
        let witness = Witness;
        let task = dyntrace::spawn(async move {
            let _witness = witness;
            pending::<()>().await;
        });
        task.abort();
        task.await.unwrap_err();
    });
    let order: Vec<_> = lines.iter().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    assert_eq!(order, ["spawn A", "spawn C", "exit C", "exit A"]);
}
