//! A run that bpftrace traces while it records itself: the summarizing scripts print the same for both.

use std::fs;

use crate::answers::{self, SIZES};
use crate::machine::{self, turn};
use crate::pool;
use crate::programs::{Done, STORMS, done, example};

/// The output of a script for one run, by bpftrace and from the recording, and the program's own count.
fn both(script: &str) -> ([String; 2], Done) {
    let folder = tempfile::tempdir().expect("a directory for the traces");
    let [seen, recorded] = ["seen", "recorded"].map(|name| folder.path().join(name));
    let dyntrace = || machine::command(env!("CARGO_BIN_EXE_dyntrace"));
    let mut run = dyntrace();
    run.args(["run", "--tracer", "bpftrace", script, "-o"]).arg(&seen).arg("--").arg(example("file_storm"));
    let said = machine::stdout(run.args(STORMS[1]).env("DYNTRACE", format!("record:{}", recorded.display())));
    let seen = fs::read_to_string(seen).expect("dyntrace writes the trace");
    ([seen, machine::stdout(dyntrace().args(["view", "--script", script]).arg(recorded))], done(&said))
}

/// The words at `places` of its lines, in any order.
fn columns<'t>(trace: &'t str, places: &[usize]) -> Vec<Vec<&'t str>> {
    let words = trace.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let mut lines: Vec<_> = words.map(|words| places.iter().map(|&at| words[at]).collect()).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn the_same_operations_in_each_phase() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let (traces, done) = both("efile_latency");
    answers::latency(&traces[0], &done);
    // `in queue` and `to answer` are two words each.
    let [seen, recorded] = traces.map(|trace| trace.replace("in queue", "queue").replace("to answer", "answer"));
    assert_eq!(columns(&seen, &[0, 1, 2]), columns(&recorded, &[0, 1, 2]));
}

#[test]
fn the_same_sums_for_each_tag() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let ([seen, recorded], done) = both("efile_by_tag");
    answers::by_tag(&seen, &done, SIZES[1]);
    // All but time_us.
    assert_eq!(columns(&seen, &[0, 1, 2, 3, 5]), columns(&recorded, &[0, 1, 2, 3, 5]));
}

#[test]
fn the_same_queues_and_workers() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let (traces, done) = both("aio_pool");
    pool::check(&traces[0], &done);
    let [seen, recorded] = traces.each_ref().map(|trace| pool::read(trace));
    // The recorder has no name of a thread that started when the program ended.
    if recorded.workers.iter().all(|worker| worker.name != "?") {
        assert_eq!(seen.all, recorded.all, "{traces:#?}");
    }
    let jobs = |tables: &pool::Tables<'_>| {
        let mut jobs: Vec<_> = tables.workers.iter().map(|worker| (worker.thread, worker.jobs)).collect();
        jobs.sort_unstable();
        jobs
    };
    assert_eq!(jobs(&seen), jobs(&recorded), "{traces:#?}");
}
