//! A tokio program with several runtimes whose memory is full of remains, for the tests of this crate.
//!
//! Threads that have ended leave cells on their stacks; tasks that have ended leave cells in the heap, some of them
//! half overwritten. The program prints the tasks that each of its owners really has, and the jobs that wait, and waits until its standard
//! input ends.

use std::io::Read;
use std::time::Duration;

use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::LocalSet;

async fn sleeper(seconds: u64) -> u64 {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    seconds
}

/// Jobs that spawn jobs and tasks, on threads that end afterwards.
fn burst(runtime: &Runtime) {
    let job = |number: u64| {
        move || {
            let handle = Handle::current();
            handle.spawn(async move {
                tokio::task::yield_now().await;
                number
            });
            handle.spawn_blocking(move || number);
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    let jobs: Vec<_> = (0..100).map(|number| runtime.spawn_blocking(job(number))).collect();
    runtime.block_on(async {
        for job in jobs {
            job.await.unwrap();
        }
    });
    std::thread::sleep(Duration::from_millis(60));
}

/// Polls its tasks once, and keeps them.
fn current_thread(tasks: u64) -> Runtime {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    for number in 0..tasks {
        runtime.spawn(sleeper(100_000 + number));
    }
    runtime.block_on(tokio::task::yield_now());
    runtime
}

/// Runs a `LocalSet` that keeps its tasks.
fn local(runtime: Runtime, tasks: u64) {
    std::thread::spawn(move || {
        LocalSet::new().block_on(&runtime, async move {
            for number in 0..tasks {
                tokio::task::spawn_local(sleeper(100_000 + number));
            }
            std::future::pending::<()>().await;
        });
    });
}

/// Keeps the only thread for jobs, so that further jobs wait.
fn jobs(waiting: u64) -> Runtime {
    let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    runtime.spawn_blocking(|| std::thread::sleep(Duration::from_secs(100_000)));
    (0..waiting).for_each(|number| drop(runtime.spawn_blocking(move || number)));
    runtime
}

fn main() {
    let keep = Duration::from_millis(20);
    let many = Builder::new_multi_thread().worker_threads(2).enable_all().thread_keep_alive(keep).build().unwrap();
    for number in 0..15 {
        many.spawn(sleeper(100_000 + number));
    }
    for _ in 0..4 {
        burst(&many);
    }
    local(current_thread(7), 4);
    local(current_thread(0), 1);
    let _idle = current_thread(1);
    let _jobs = jobs(5);
    std::thread::sleep(Duration::from_millis(100));
    println!("15 7 4 1 1 5");
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}
