//! A tokio program that knows how many tasks it has, for the tests of this crate.
//!
//! `tasks_truth TASKS [churn|fork]` spawns the tasks, then frees equally many others, and prints their number. It waits
//! until its standard input ends. With `churn` it goes on to spawn and free tasks. With `fork` a child does so with three further tasks, in a
//! runtime of its own, and prints their number and its id.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinSet;

async fn sleeper(seconds: u64, padding: [u64; 8]) -> u64 {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    padding[0]
}

async fn waiter(notify: Arc<Notify>) {
    notify.notified().await;
}

async fn short(number: u64) -> u64 {
    tokio::task::yield_now().await;
    number
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let mut arguments = std::env::args().skip(1);
    let tasks: u64 = arguments.next().and_then(|tasks| tasks.parse().ok()).expect("tasks_truth TASKS [churn|fork]");
    let mode = arguments.next();
    let notify = Arc::new(Notify::new());
    let mut first = 0;
    for number in 0..tasks {
        let task = if number % 2 == 0 {
            tokio::spawn(sleeper(100_000 + number, [number; 8])).id()
        } else {
            tokio::spawn(waiter(notify.clone())).id()
        };
        if number == 0 {
            first = task.to_string().parse().unwrap();
        }
    }
    let mut freed = JoinSet::new();
    for number in 0..tasks {
        freed.spawn(short(number));
    }
    while freed.join_next().await.is_some() {}
    // A task that has completed and whose `JoinHandle` is kept.
    let complete = tokio::spawn(short(0));
    let job = tokio::task::spawn_blocking(end);
    while !complete.is_finished() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    if mode.as_deref() == Some("fork") && fork() == 0 {
        std::thread::spawn(child).join().unwrap();
        std::process::exit(0);
    }
    if mode.as_deref() == Some("churn") {
        tokio::spawn(churn(4));
        tokio::spawn(churn(64));
        tokio::spawn(churn(512));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    if mode.as_deref() != Some("fork") {
        println!("{tasks} {first} {} {}", complete.id(), job.id());
    }
    job.await.unwrap();
    std::process::exit(0);
}

unsafe extern "C" {
    safe fn fork() -> i32;
}

#[tokio::main(worker_threads = 1)]
async fn child() {
    for number in 0..3 {
        tokio::spawn(sleeper(200_000 + number, [number; 8]));
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    println!("3 {}", std::process::id());
    // The parent's thread that reads standard input has its lock.
    let end = || std::fs::File::open("/dev/stdin").and_then(|mut input| input.read(&mut [0]));
    let _ = tokio::task::spawn_blocking(end).await;
}

/// Blocks until the test closes standard input.
fn end() {
    let _ = std::io::stdin().read(&mut [0]);
}

async fn churn(at_once: u64) {
    loop {
        let mut tasks = JoinSet::new();
        for number in 0..at_once {
            tasks.spawn(short(number));
        }
        while tasks.join_next().await.is_some() {}
    }
}
