//! A tokio program whose threads the tests of this crate read. It prints their activities:
//!
//! `sleeps TID`, `spins TID TASK`, `reads TID JOB`, then `ready`. With `churn` it begins and ends threads all the time; with
//! `quiet` nothing spins.

use std::hint::black_box;
use std::io::Read;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

fn tid() -> u32 {
    // The link is `PID/task/TID`.
    let link = std::fs::read_link("/proc/thread-self").expect("/proc");
    link.file_name().and_then(|name| name.to_str()?.parse().ok()).expect("a thread's id")
}

#[inline(never)]
fn sleeps_for_long() {
    std::thread::sleep(Duration::from_secs(100_000));
    black_box(());
}

#[inline(never)]
fn spins() {
    let mut number = 1_u64;
    loop {
        number = inlined(number);
        // Without it the compiler may remove the loop.
        black_box(&mut number);
    }
}

#[inline(always)]
fn inlined(number: u64) -> u64 {
    black_box(number).wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)
}

async fn spinner(lines: Sender<String>) {
    // After an await the task is polled by a worker, not at its place of birth.
    tokio::task::yield_now().await;
    lines.send(format!("spins {} {}", tid(), tokio::task::id())).expect("main receives");
    spins();
}

#[inline(never)]
fn reads_input(lines: &Sender<String>) {
    lines.send(format!("reads {} {}", tid(), tokio::task::id())).expect("main receives");
    let _ = std::io::stdin().read(&mut [0]);
    std::process::exit(0);
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let (lines, told) = channel();
    let (of_job, of_spinner) = (lines.clone(), lines.clone());
    std::thread::Builder::new()
        .name("sleeper".into())
        .spawn(move || {
            lines.send(format!("sleeps {}", tid())).expect("main receives");
            sleeps_for_long();
        })
        .expect("a thread");
    tokio::task::spawn_blocking(move || reads_input(&of_job));
    let argument = std::env::args().nth(1).unwrap_or_default();
    if argument != "quiet" {
        tokio::spawn(spinner(of_spinner));
    }
    for line in told.iter().take(if argument == "quiet" { 2 } else { 3 }) {
        println!("{line}");
    }
    if argument == "churn" {
        std::thread::spawn(|| {
            loop {
                let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(|| black_box(1))).collect();
                threads.into_iter().for_each(|thread| drop(thread.join()));
            }
        });
    }
    println!("ready");
    std::future::pending().await
}
