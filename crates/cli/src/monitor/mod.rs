//! `dyntrace monitor`: prints when a limit of a running process is crossed.

mod arguments;
mod output;
mod stack;
mod unseen;

use std::cell::OnceCell;
use std::process::ExitCode;

use anyhow::Context as _;
use dyntrace::monitor::Kind;
use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace::recorder::control::{ControlError, Ender};
use dyntrace_tasks::program::Program;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::{escape, say, stdout};
use jiff::tz::TimeZone;

use crate::record::process::{PATIENCE, connect, end, end_by_signal, hear, refusal};

pub use arguments::Arguments;
use stack::Stacks;
use unseen::Unseen;

/// Prints events until an interrupt, the end of the time, or the end of the process.
pub fn monitor(arguments: &Arguments) -> Outcome {
    let limits = arguments.limits();
    let mut connection = connect(arguments.pid)?;
    let request = Request::Monitor(Record::default().with("limits", &limits));
    let zone = TimeZone::system();
    // Debug information is read before events come.
    let (end, unseen) =
        Stacks::open(arguments).with(|stacks| -> Result<(Option<Record>, Option<String>), Failure> {
            connection.request_within(&request, PATIENCE).map_err(wrong)?;
            // From here on there is something to end.
            end_by_signal(connection.ender().map_err(refusal)?)?;
            if let Some(time) = arguments.length {
                end_after(connection.ender().map_err(refusal)?, time)?;
            }
            say!("monitors process {} by {limits}; an interrupt ends it", arguments.pid);
            let unseen = OnceCell::new();
            let told = |kinds: &[Kind]| told(arguments, stacks.program(), &unseen, kinds);
            let of_waits: Vec<Kind> = arguments.kinds_of_tasks().filter(|kind| *kind != Kind::LongSchedule).collect();
            if let Some(unseen) = told(&of_waits) {
                say!("note: {unseen}");
            }
            loop {
                let Some(records) = hear(&mut connection)? else { return Ok((None, None)) };
                let Some(event) = records.first() else { continue };
                if event.get("told") == Some("end") {
                    let silent: Vec<Kind> =
                        arguments.kinds_of_tasks().filter(|kind| events(event, *kind) == 0).collect();
                    return Ok((Some(event.clone()), told(&silent)));
                }
                let stack = stacks.of(event);
                let text = match arguments.json {
                    true => escape::json(output::object(event, stack.as_ref())) + "\n",
                    false => output::lines(event, stack.as_ref(), arguments.all, &zone),
                };
                stdout::write(&text)?;
            }
        })?;
    if let Some(unseen) = unseen.as_ref().filter(|_| arguments.json) {
        stdout::write(&(escape::json(output::unknown(unseen)) + "\n"))?;
    }
    Ok(summarize(arguments.pid, end.as_ref(), unseen.as_deref()))
}

/// The tasks of which events of these kinds tell nothing, in words. The process's tasks are looked at once.
fn told(
    arguments: &Arguments,
    program: Option<&Program>,
    unseen: &OnceCell<Result<Unseen, String>>,
    kinds: &[Kind],
) -> Option<String> {
    let unseen = (!kinds.is_empty()).then(|| unseen.get_or_init(|| Unseen::of(arguments.pid, program)))?;
    unseen.as_ref().map_or_else(|error| Some(error.clone()), |unseen| unseen.told(kinds, arguments.too_many_tasks))
}

/// The failure if the process refuses.
fn wrong(error: ControlError) -> Failure {
    match error {
        ControlError::Protocol { .. } => Failure::new(exit::NO_PROBES, error),
        other => refusal(other),
    }
}

fn end_after(ender: Ender, time: std::time::Duration) -> anyhow::Result<()> {
    let wait = move || {
        std::thread::sleep(time);
        end(&ender);
    };
    std::thread::Builder::new().spawn(wait).map(drop).context("cannot start the thread that ends the monitor")
}

fn summarize(pid: u32, end: Option<&Record>, unseen: Option<&str>) -> ExitCode {
    let Some(end) = end else {
        say!("process {pid} has ended");
        return ExitCode::SUCCESS;
    };
    let of = if unseen.is_some() { " among the tasks in the table" } else { "" };
    say!("{}{of}", output::summary(end));
    let left_out = end.number("left_out").unwrap_or_default();
    match unseen {
        _ if left_out > 0 => exit::LOSSY.into(),
        None => ExitCode::SUCCESS,
        Some(unseen) => {
            say!("unknown: {unseen}");
            exit::UNKNOWN.into()
        }
    }
}

/// The events of a kind, of the last message.
fn events(end: &Record, kind: Kind) -> u64 {
    end.number(kind.name()).unwrap_or_default()
}
