//! Starts tasks and jobs that end in each way, and prints how many, so that tests can compare the output of scripts with it:
//!
//!     dyntrace run task_latency -- target/release/examples/known_tasks [COUNT]
//!
//! It starts COUNT of each function (3 without), on one thread. It prints JSON: for each function its tasks, its polls, and how many of the
//! tasks ended in each way.

use std::future::pending;
use std::thread;
use std::time::Duration;

use tokio::task::yield_now;

/// Longer than a poll that scripts call long.
const LONG: Duration = Duration::from_millis(20);

/// Is polled four times.
async fn turns() {
    for _ in 0..3 {
        yield_now().await;
    }
}

/// Keeps its thread.
async fn slow() {
    thread::sleep(LONG);
}

async fn fails() {
    yield_now().await;
    panic!("no flour");
}

fn job() {}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let count: u64 = std::env::args().nth(1).map_or(3, |count| count.parse().expect("a count of tasks"));
    std::panic::set_hook(Box::new(|_| {}));
    let mut cancelled = 0;
    for number in 1..=count {
        let tag = format!("request {}", 1 + number % 2);
        dyntrace::with_tag(tag, async { dyntrace::spawn(turns()).await.expect("it ends") }).await;
        dyntrace::spawn(slow()).await.expect("it ends");
        dyntrace::spawn(fails()).await.expect_err("it panics");
        let waits = dyntrace::spawn(pending::<()>());
        yield_now().await;
        waits.abort();
        cancelled += u64::from(waits.await.is_err_and(|error| error.is_cancelled()));
        dyntrace::spawn_blocking(job).await.expect("it ends");
    }
    let functions = [
        ("known_tasks::turns", 4, "normal"),
        ("known_tasks::slow", 1, "normal"),
        ("known_tasks::fails", 2, "panic"),
        ("known_tasks::job", 1, "normal"),
    ];
    let mut rows: Vec<String> = functions.map(|(function, polls, end)| row(function, count, polls, end, count)).into();
    rows.push(row("core::future::pending::Pending<()>", count, 1, "cancelled", cancelled));
    println!("{{{}}}", rows.join(", "));
}

fn row(function: &str, tasks: u64, polls: u64, end: &str, ended: u64) -> String {
    format!(r#""{function}": {{"tasks": {tasks}, "polls": {}, "{end}": {ended}}}"#, tasks * polls)
}
