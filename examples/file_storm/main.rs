//! A workload of file operations that says what it did, so that a trace can be checked against it.
//!
//! Each task has a user tag, `req-1` and up, and a directory of its own. On stdout comes one line of JSON:
//! `{"commands": {"OPEN": {"ok": n, "failed": n}, ...}, "total": n}`, with every operation submitted counted once:
//! `ok` and `failed` are the success 1 and 0 of `efile_drv-return`.

mod all_commands;
mod mix;
mod tally;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;
use clap::Parser;

use mix::Action;
use tally::Tally;

#[derive(Parser)]
#[command(about = "A workload of file operations that says what it did", long_about = None)]
struct Arguments {
    /// How many tasks run side by side.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..))]
    tasks: u32,
    /// How long each task begins new actions.
    #[arg(long, default_value = "1", value_parser = seconds)]
    seconds: Duration,
    /// How many actions each task does, whatever the time.
    #[arg(long, conflicts_with_all = ["seconds", "all_commands"])]
    operations: Option<usize>,
    /// Where to make a directory for the files; it is removed in the end.
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    dir: PathBuf,
    /// The actions, done in turn.
    #[arg(long, value_enum, value_delimiter = ',', default_values_t = mix::default())]
    mix: Vec<Action>,
    /// Each command once with success and, where that can be had, once with failure.
    #[arg(long, conflicts_with_all = ["seconds", "mix"])]
    all_commands: bool,
}

fn seconds(text: &str) -> anyhow::Result<Duration> {
    Ok(Duration::try_from_secs_f64(text.parse()?)?)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let place = || format!("a directory for the files in {}", arguments.dir.display());
    let directory = tempfile::Builder::new().prefix("file_storm-").tempdir_in(&arguments.dir).with_context(place)?;
    // What tasks do to the current directory must not change what their paths mean.
    let root = directory.path().canonicalize().with_context(place)?;
    let end = Instant::now() + arguments.seconds;

    let tasks = (1..=arguments.tasks).map(|number| {
        let directory = root.join(number.to_string());
        let (mix, operations, all_commands) = (arguments.mix.clone(), arguments.operations, arguments.all_commands);
        dyntrace::spawn(async move {
            dyntrace::put_tag(format!("req-{number}"))?;
            // Set up past the driver: only what is counted is traced.
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
