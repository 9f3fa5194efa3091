//! Runs one file operation of one peer repeatedly from concurrent tasks, and prints one line of JSON.

mod files;
mod meter;
mod peers;
mod task;
mod threads;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use clap::{Parser, ValueEnum};
use serde_json::json;

use files::Files;
use meter::Meter;
use peers::Peer;
use task::{Operation, Task};
use threads::side_by_side;

#[derive(Parser)]
struct Options {
    #[arg(long)]
    peer: Peer,
    #[arg(long)]
    operation: Operation,
    /// Number of concurrent tasks, each of which runs one operation at a time.
    #[arg(long, default_value_t = 16)]
    in_flight: usize,
    /// Number of runtimes, each on a thread of its own, that share the tasks.
    #[arg(long, default_value_t = 1)]
    runtimes: usize,
    /// Directory of the files. Files for reading stay for the next run.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    dir: PathBuf,
    /// Measured time, after a warm-up of a fifth of it.
    #[arg(long, default_value = "1", value_parser = seconds)]
    seconds: Duration,
}

fn seconds(text: &str) -> anyhow::Result<Duration> {
    Ok(Duration::try_from_secs_f64(text.parse()?)?)
}

fn main() -> anyhow::Result<()> {
    let options = Options::parse();
    let files = Files::prepare(&options.dir).with_context(|| format!("files in {}", options.dir.display()))?;
    let phase = Arc::default();
    let task = |number| Task::new(options.operation, number, &files, &phase);
    let tasks = (0..options.in_flight).map(task).collect::<io::Result<Vec<_>>>()?;
    options.peer.prepare();
    let meter = Meter::start(&phase, options.seconds);
    // At least one: avoids a division by zero if the disk was stuck the whole time.
    let operations = on_runtimes(options.runtimes, options.peer, tasks)?.max(1);
    let reading = meter.reading();

    let cpu = reading.cpu.as_secs_f64();
    println!(
        "{}",
        json!({
            "peer": name(options.peer),
            "operation": name(options.operation),
            "in_flight": options.in_flight,
            "runtimes": options.runtimes,
            "operations": operations,
            "wall_s": reading.wall.as_secs_f64(),
            "cpu_s": cpu,
            "per_second": operations as f64 / reading.wall.as_secs_f64(),
            "cpu_us": 1e6 * cpu / operations as f64,
            "switches": reading.switches,
            "threads": reading.threads,
        })
    );
    Ok(())
}

/// Runs the tasks on so many runtimes, and returns the number of measured operations.
fn on_runtimes(runtimes: usize, peer: Peer, mut tasks: Vec<Task>) -> io::Result<u64> {
    // On this thread, as a program with one runtime has it.
    if runtimes == 1 {
        return peer.run(tasks);
    }
    let each = tasks.len().div_ceil(runtimes).max(1);
    let mut shares = Vec::new();
    while !tasks.is_empty() {
        shares.push(tasks.split_off(tasks.len().saturating_sub(each)));
    }
    side_by_side(shares.into_iter(), |tasks| peer.run(tasks))
}

fn name(value: impl ValueEnum) -> String {
    value.to_possible_value().expect("none is hidden").get_name().to_owned()
}
