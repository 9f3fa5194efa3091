//! The probes of processes, as a recording has them.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder"))]

use std::future::pending;

use dyntrace::{JoinSetExt, process};
use tokio::runtime::Builder;
use tokio::task::{JoinSet, yield_now};

#[path = "common/events.rs"]
mod events;

/// Returns the events of processes that `body` has left, without the word `process`.
fn seen(probes: &[&str], body: impl AsyncFnOnce()) -> Vec<String> {
    let lines = events::seen(probes, || Builder::new_current_thread().enable_time().build().unwrap().block_on(body()));
    lines.iter().filter_map(|line| line.strip_prefix("process-")).map(str::to_owned).collect()
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
            &*format!("wait B A task::JoinHandle tests/processes.rs:{line}"),
            "scheduled A processes::turns",
            "unscheduled A TIME pending",
            // The runtime is on the thread of the test, whose name is cut.
            "wake runtime thread from_the_spawn_ A",
            "scheduled A processes::turns",
            "unscheduled A TIME ready",
            "exit A normal",
            &*format!("resume B A TIME ready task::JoinHandle tests/processes.rs:{line}"),
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
    assert_eq!(probes(&[]), "spawn wait exit resume");
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
    assert_eq!(order, ["spawn A", "wait B", "spawn C", "exit C", "exit A", "resume B"]);
}
