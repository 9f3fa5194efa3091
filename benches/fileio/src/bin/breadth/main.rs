//! One use of the file API, as a program writes it, run repeatedly from concurrent tasks: with `dyntrace::fs`, with `tokio::fs`, and with the
//! bare calls on one thread. Prints one line of JSON.

mod bare;
#[path = "../../files.rs"]
mod files;
mod latency;
#[path = "../../meter.rs"]
mod meter;
mod task;

use std::future::Future;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use serde_json::json;
use tokio::runtime::Builder;
use tokio::task::JoinSet;

use crate::files::Files;
use crate::latency::Latencies;
use crate::meter::Meter;
use crate::task::{Task, Use};

/// The same text with each API. Uses without a counterpart in `tokio::fs` stand beside it.
mod of_dyntrace {
    use dyntrace::fs;

    include!("uses.rs");

    async fn read_at(file: &mut File, block: Vec<u8>, offset: u64) -> io::Result<Vec<u8>> {
        let (count, block) = file.read_at(block, offset).await;
        count.map(|_| block)
    }

    async fn write_at(file: &mut File, block: Vec<u8>, offset: u64) -> io::Result<Vec<u8>> {
        let (count, block) = file.write_at(block, offset).await;
        count.map(|_| block)
    }
}

mod of_tokio {
    use tokio::fs;

    include!("uses.rs");

    async fn read_at(file: &mut File, mut block: Vec<u8>, offset: u64) -> io::Result<Vec<u8>> {
        file.seek(SeekFrom::Start(offset)).await?;
        file.read_exact(&mut block).await?;
        Ok(block)
    }

    async fn write_at(file: &mut File, block: Vec<u8>, offset: u64) -> io::Result<Vec<u8>> {
        file.seek(SeekFrom::Start(offset)).await?;
        file.write_all(&block).await?;
        file.flush().await?;
        Ok(block)
    }
}

mod of_bare {
    use crate::bare::{self as fs, read_at, write_at};

    include!("uses.rs");
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Api {
    Dyntrace,
    Tokio,
    /// The calls themselves, which never yield: one task on one thread.
    Bare,
}

#[derive(Parser)]
struct Options {
    #[arg(long)]
    api: Api,
    #[arg(long = "use")]
    used: Use,
    /// Number of concurrent tasks, each of which runs one use at a time.
    #[arg(long, default_value_t = 1)]
    in_flight: usize,
    /// Worker threads of the runtime; 0 is a current-thread runtime.
    #[arg(long, default_value_t = 0)]
    workers: usize,
    /// Directory of the files. Files for reading stay for the next run.
    #[arg(long)]
    dir: PathBuf,
    /// Measured seconds, after a warm-up of a fifth of them.
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let files = Files::prepare(&options.dir).with_context(|| format!("files in {}", options.dir.display()))?;
    task::prepare(&options.dir)?;
    let phase = Arc::default();
    let tasks = if options.api == Api::Bare { 1 } else { options.in_flight };
    let tasks = (0..tasks).map(|number| Task::new(options.used, number, &files, &options.dir, &phase));
    let meter = Meter::start(&phase, Duration::from_secs_f64(options.seconds));
    let latencies = match options.api {
        Api::Dyntrace => run(&options, tasks, of_dyntrace::run),
        Api::Tokio => run(&options, tasks, of_tokio::run),
        Api::Bare => run(&options, tasks, of_bare::run),
    }?;
    let reading = meter.reading();
    // At least one, if the disk was stuck the whole time.
    let operations = latencies.count().max(1) as f64;
    println!(
        "{}",
        json!({
            "operations": operations,
            "per_second": operations / reading.wall.as_secs_f64(),
            "cpu_us": 1e6 * reading.cpu.as_secs_f64() / operations,
            "p99_us": latencies.at(0.99).as_secs_f64() * 1e6,
            "switches": reading.switches,
            "threads": reading.threads,
        })
    );
    Ok(())
}

fn run<F>(options: &Options, tasks: impl Iterator<Item = Task>, work: fn(Task) -> F) -> io::Result<Latencies>
where
    F: Future<Output = io::Result<Task>> + Send + 'static,
{
    let mut builder = match options.workers {
        0 => Builder::new_current_thread(),
        _ => Builder::new_multi_thread(),
    };
    let runtime = builder.worker_threads(options.workers.max(1)).enable_all().build()?;
    let done = runtime.block_on(async { tasks.map(work).collect::<JoinSet<_>>().join_all().await });
    let mut all = Latencies::default();
    for task in done {
        all.add(&task?.latencies);
    }
    Ok(all)
}
