//! A workload that reports its file operations, so that a trace can be compared with the report.
//!
//! Each task has a user tag, `req-1` and up, and a directory of its own. It prints one line of JSON to stdout:
//! `{"commands": {"OPEN": {"ok": n, "failed": n}, ...}, "total": n}`, with every operation submitted counted once:
//! `ok` and `failed` are the success 1 and 0 of `efile_drv-return`.
//!
//! All operations go to the pool, so that each has all the events of its job, unless `--inline` leaves the driver as it is in other
//! programs.

mod all_commands;
mod mix;
mod tally;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;
use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Driver, Inline};

use mix::Action;
use tally::Tally;

#[derive(Parser)]
#[command(about = "A workload of file operations that says what it did", long_about = None)]
struct Arguments {
    /// Number of concurrent tasks.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    tasks: u32,
    /// Time during which each task starts new actions.
    #[arg(long, default_value = "1", value_parser = seconds)]
    seconds: Duration,
    /// Number of actions of each task, without a time limit.
    #[arg(long, conflicts_with_all = ["seconds", "all_commands"])]
    operations: Option<usize>,
    /// Where to create a directory for the files, which is removed at the end.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    dir: PathBuf,
    /// The actions, done in turn.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = mix::default())]
    mix: Vec<Action>,
    /// Run each command once with success and, if possible, once with failure.
    #[arg(long, conflicts_with_all = ["seconds", "mix"])]
    all_commands: bool,
    /// Let the calling thread answer cached reads and look-ups.
    #[arg(long)]
    inline: bool,
}

fn seconds(text: &str) -> anyhow::Result<Duration> {
    Ok(Duration::try_from_secs_f64(text.parse()?)?)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    if !arguments.inline {
        let driver = Driver::new(Pool::builder().build()).inline(Inline::Off);
        Driver::install(driver).ok().context("a driver has been used before")?;
    }
    let place = || format!("a directory for the files in {}", arguments.dir.display());
    let directory = tempfile::Builder::new().prefix("file_storm-").tempdir_in(&arguments.dir).with_context(place)?;
    // Absolute, as tasks change the current directory.
    let root = directory.path().canonicalize().with_context(place)?;
    let end = Instant::now() + arguments.seconds;

    let tasks = (1..=arguments.tasks).map(|number| {
        let directory = root.join(number.to_string());
        let (mix, operations, all_commands) = (arguments.mix.clone(), arguments.operations, arguments.all_commands);
        dyntrace::spawn(async move {
            dyntrace::put_tag(format!("req-{number}"))?;
            // Set up without the driver, so that traces show only counted operations.
            std::fs::create_dir(&directory)?;
            let mut tally = Tally::default();
            if all_commands {
                all_commands::run(&directory, &mut tally).await;
                return Ok(tally);
            }
            for (done, action) in mix.iter().cycle().enumerate() {
                let over = match operations {
                    Some(limit) => done >= limit,
                    None => Instant::now() >= end,
                };
                if over {
                    break;
                }
                action.run(&directory, &mut tally).await;
            }
            anyhow::Ok(tally)
        })
    });

    let mut total = Tally::default();
    for task in tasks.collect::<Vec<_>>() {
        total.add(task.await??);
    }
    println!("{}", total.to_json());
    Ok(())
}
