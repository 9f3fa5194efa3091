//! `dyntrace threads`: the activity of each thread of a running tokio program.

#[cfg(test)]
mod sample;
pub mod stack;
mod text;

use std::path::PathBuf;
use std::process::ExitCode;

use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::DebugInformation;
use dyntrace_tasks::threads::Threads;
use dyntrace_terminal::exit::{Outcome, UNKNOWN};
use dyntrace_terminal::stdout;
use serde::Serialize;

use super::look::{VERSION, print};
use super::read::failure;

const HELP: &str = "\
Examples:
  dyntrace threads -p 4711
  dyntrace threads -p 4711 --all
  dyntrace threads -p 4711 --json | jq '.threads[] | select(.task)'

Each thread is held while its stack is copied, the others run on: as root for less than a millisecond, otherwise for
some milliseconds on a busy machine. A thread that sleeps in a system call leaves it for that time: most calls go on
afterwards, epoll_wait and some others return EINTR.
Functions of the runtime take one line, and of other libraries those between the program's own; --all shows each.
A thread polls the task whose cell and poll function are on its stack; where several fit, none is printed.

Exit status:
   0  the threads were read
   1  the program cannot be read
   2  wrong use
   5  threads could not be held, or it is not known what they do: a line says how many
  65  there is no such process, or it is no tokio program";

/// List the threads of a running tokio program: the task, the functions and the system call that each is in
///
/// Threads that differ in ids and times only share a block. Functions are named by symbols, and have lines where debug information
/// tells them.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The process
    #[arg(short, long)]
    pid: u32,
    /// Print JSON, an object; docs/formats.md has its fields
    #[arg(long)]
    json: bool,
    /// The file with the program's debug information, or with its split units (.dwp), if it is not where debuggers look
    #[arg(long, value_name = "FILE")]
    debug: Option<PathBuf>,
    /// All functions, also those of the runtime and the standard library
    #[arg(short, long, conflicts_with = "json")]
    all: bool,
}

#[derive(Serialize)]
struct Json<'t> {
    version: u32,
    #[serde(flatten)]
    threads: &'t Threads,
    unknown: Option<String>,
}

pub fn threads(arguments: &Arguments) -> Outcome {
    let options = Options { debug_file: arguments.debug.clone(), stop: false };
    let program = Program::attach(arguments.pid, options).map_err(failure)?;
    let information = DebugInformation::of(&program);
    let threads = program.threads(&information).map_err(failure)?;
    if arguments.json {
        stdout::write_json(&Json { version: VERSION, threads: &threads, unknown: threads.unknown() }, false)?;
    } else {
        print(&text::text(&threads, arguments.all))?;
    }
    Ok(if threads.unknown().is_some() { UNKNOWN.into() } else { ExitCode::SUCCESS })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Fields;

    #[test]
    fn the_page_has_the_fields() {
        let mut fields = Fields::new(&[]);
        let threads = sample::threads();
        for unknown in [None, threads.unknown()] {
            fields.add(&serde_json::to_value(Json { version: VERSION, threads: &threads, unknown }).unwrap());
        }
        fields.are_those_below("dyntrace threads --json");
    }
}
