//! How long the threads of a runtime stand in file operations: many tasks on two threads, with files that are cached and files that are not,
//! directories under rename, and threads that take the processors away.
//!
//! Half of the tasks measure each poll of an operation, the others each of their own polls, a *turn* of the thread. Not both, as measuring
//! lengthens a turn. Operations that are ready at their first poll were answered inline. The others went to the pool, whose lock a thread
//! may have to wait for, with or without an attempt before. Time in which the scheduler had taken the processor from the thread says
//! nothing about file operations: such polls are counted apart, unless the thread also slept.

mod beside;
mod lists;
mod load;
mod stood;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::{Parser, ValueEnum};
use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Driver, Inline};
use serde_json::json;
use tokio::task::JoinSet;

use crate::load::{Files, Task};
use crate::stood::Stood;

#[global_allocator]
static LISTS: lists::Lists = lists::Lists;

#[derive(Clone, Copy, ValueEnum)]
enum Mode {
    Off,
    Adaptive,
    Always,
}

#[derive(Parser)]
struct Options {
    /// Which operations are tried on the runtime's threads.
    #[arg(long)]
    mode: Mode,
    /// Where the files are made.
    #[arg(long)]
    dir: PathBuf,
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    #[arg(long, default_value_t = 64)]
    tasks: usize,
    /// Threads that only compute.
    #[arg(long, default_value_t = 1)]
    busy: usize,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let mode = match options.mode {
        Mode::Off => Inline::Off,
        Mode::Adaptive => Inline::Adaptive,
        Mode::Always => Inline::Always,
    };
    let driver = Driver::new(Pool::builder().build()).inline(mode);
    Driver::install(driver).ok().context("no file operation ran before")?;
    let files = Arc::new(Files::prepare(&options.dir).with_context(|| format!("files in {}", options.dir.display()))?);
    let is_over = Arc::new(AtomicBool::new(false));
    let beside = beside::start(&files, options.busy, &is_over);

    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let [answered, submitted, turns] = runtime.block_on(storm(&options, &files, &is_over))?;
    for thread in beside {
        thread.join().expect("no thread beside panics")?;
    }
    println!("{}", json!({ "answered": answered.report(), "submitted": submitted.report(), "turns": turns.report() }));
    Ok(())
}

/// Returns the times of operations that were answered at once, of the polls of others, and of tasks' polls.
async fn storm(options: &Options, files: &Arc<Files>, is_over: &Arc<AtomicBool>) -> Result<[Stood; 3]> {
    let mut tasks = JoinSet::new();
    for number in 0..options.tasks {
        let (task, is_over) = (Task::new(number, files), Arc::clone(is_over));
        let is_measured = number % 2 == 0;
        tasks.spawn(async move {
            if is_measured {
                let [answered, submitted] = task.run(&is_over, true).await?;
                return anyhow::Ok([answered, submitted, Stood::default()]);
            }
            let [mut unused, mut turns] = [Stood::default(), Stood::default()];
            stood::watch(&mut unused, &mut turns, task.run(&is_over, false)).await?;
            Ok([Stood::default(), Stood::default(), turns])
        });
    }
    tokio::time::sleep(Duration::from_secs_f64(options.seconds)).await;
    is_over.store(true, Ordering::Relaxed);
    let mut all = [Stood::default(), Stood::default(), Stood::default()];
    while let Some(task) = tasks.join_next().await {
        all.iter_mut().zip(&task??).for_each(|(all, one)| all.add(one));
    }
    Ok(all)
}
