//! Gives the blocking pool jobs that end in each way, and prints how many, so that tests can compare the output of scripts with it:
//!
//!     dyntrace run blocking_pool -- target/release/examples/known_waits [COUNT]
//!
//! The pool has one thread. While a job keeps it, COUNT jobs of each function (3 without) wait in the queue. It prints JSON: for each
//! function how its jobs ended, and the longest queue.

use std::mem;
use std::sync::mpsc;
use std::thread;

use serde_json::{Map, Value, json};
use tokio::runtime::Builder;
use tokio::sync::oneshot;

fn reads() {}

fn fails() {
    panic!("no flour");
}

fn given_up() {}

/// Keeps its thread until the program ends.
fn stays(runs: oneshot::Sender<()>) {
    runs.send(()).expect("the program waits");
    loop {
        thread::park();
    }
}

/// Returns how the jobs of each function ended.
async fn jobs(count: u64) -> Map<String, Value> {
    let (runs, begins) = oneshot::channel();
    let (end, ends) = mpsc::channel::<()>();
    let holds = dyntrace::spawn_blocking(move || {
        runs.send(()).expect("the program waits");
        ends.recv().expect("the program ends it");
    });
    begins.await.expect("the job runs");
    let (mut read, mut failed, mut cancelled) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=count {
        let _entered = dyntrace::enter_tag(format!("request {}", 1 + number % 2));
        read.push(dyntrace::spawn_blocking(reads));
    }
    for _ in 0..count {
        failed.push(dyntrace::spawn_blocking(fails));
    }
    for _ in 0..count {
        let job = dyntrace::spawn_blocking(given_up);
        job.abort();
        cancelled.push(job);
    }
    end.send(()).expect("the job waits");
    holds.await.expect("it ends");
    for job in read {
        job.await.expect("it ends");
    }
    for job in failed {
        assert!(job.await.is_err_and(|error| error.is_panic()));
    }
    for job in cancelled {
        assert!(job.await.is_err_and(|error| error.is_cancelled()));
    }
    let (runs, begins) = oneshot::channel();
    drop(dyntrace::spawn_blocking(|| stays(runs)));
    begins.await.expect("the job runs");
    for _ in 0..count {
        drop(dyntrace::spawn_blocking(|| ()));
    }
    let functions = json!({
        "known_waits::jobs::{{closure}}": {"jobs": 1, "running": 1, "queued": count, "length": count},
        "known_waits::reads": {"jobs": count, "length": count},
        "known_waits::fails": {"jobs": count, "panicked": count, "length": 2 * count},
        "known_waits::given_up": {"cancelled": count, "length": 3 * count},
    });
    functions.as_object().expect("an object").clone()
}

fn main() {
    let count: u64 = std::env::args().nth(1).map_or(3, |count| count.parse().expect("a count of jobs"));
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().expect("a runtime");
    let functions = runtime.block_on(jobs(count));
    println!("{}", json!({"jobs": functions}));
    // Its end would wait for the job that stays.
    mem::forget(runtime);
}
