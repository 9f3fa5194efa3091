//! `dyntrace trace`: calls of functions of a running process.

mod arguments;
pub mod event;
mod orders;
mod output;
mod reply;
mod table;

use std::env;
use std::io;
use std::process::ExitCode;

use anyhow::Error;
use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace_terminal::exit::{self, Outcome};
use dyntrace_terminal::{escape, say};
use jiff::tz::TimeZone;
use terminal_size::{Height, terminal_size_of};

use crate::record::process::{self as control, connect, end_by_signal, hear};

use output::Output;
use reply::{count, functions, refusal};

pub use arguments::Arguments;

/// Traces the process and prints the events until the trace ends; or carries out an order to a running trace.
pub fn trace(arguments: &Arguments) -> Outcome {
    if let Some(order) = &arguments.order {
        arguments.check_order()?;
        return orders::carry_out(arguments, order);
    }
    let wish = arguments.wish()?;
    let mut connection = connect(arguments.pid)?;
    let set = connection.request_within(&Request::Trace(wish.record()), control::PATIENCE).map_err(refusal)?;
    // From here on there is something to end.
    end_by_signal(connection.ender().map_err(control::refusal)?)?;
    let later = if arguments.later { ", and what is loaded later," } else { "" };
    let session = set.first().and_then(|pattern| pattern.get("session")).map(escape::name).unwrap_or_default();
    say!("{}{later} traced in session {session}; an interrupt ends it", functions(&set));
    let mut output = Output::new(io::stdout().lock(), height_of_terminal, arguments.json, arguments.pid);
    output.intervals = arguments.interval.is_some();
    let mut events: u64 = 0;
    let end = loop {
        let Some(records) = hear(&mut connection)? else { break None };
        let Some(first) = records.first() else { continue };
        match first.get("told").unwrap_or_default() {
            "counts" => output.counts(&records).map_err(Error::new)?,
            "lost" => {
                output.clear().map_err(Error::new)?;
                say!("dyntrace: so far {}", losses(first));
            }
            "end" => break Some(first.clone()),
            _ => {
                events += 1;
                output.event(first).map_err(Error::new)?;
            }
        }
    };
    output.end().map_err(Error::new)?;
    Ok(summarize(arguments.pid, end.as_ref(), events))
}

/// `None` if standard output is no terminal, or one without cursor control.
fn height_of_terminal() -> Option<usize> {
    let draws = env::var_os("TERM").is_some_and(|terminal| terminal != "dumb");
    let (_, Height(lines)) = terminal_size_of(io::stdout()).filter(|_| draws)?;
    Some(lines.into())
}

fn summarize(pid: u32, end: Option<&Record>, events: u64) -> ExitCode {
    let Some(end) = end else {
        say!("process {pid} has ended; {}", count(events, "event"));
        return ExitCode::SUCCESS;
    };
    let removed = count(end.number("patterns").unwrap_or_default(), "pattern");
    let told = count(end.number("events").unwrap_or(events), "event");
    say!("{removed} removed, {told}, {}, {}", losses(end), waits(end, &TimeZone::system()));
    if end.number("dropped").unwrap_or_default() > 0 { exit::LOSSY.into() } else { ExitCode::SUCCESS }
}

fn losses(record: &Record) -> String {
    let dropped = format!("{} dropped", record.number("dropped").unwrap_or_default());
    let others =
        [("limited", "left out by --limit"), ("unended", "nested too deeply to have an end")].map(|(field, why)| {
            let number = record.number(field).unwrap_or_default();
            if number > 0 { format!(", {number} {why}") } else { String::new() }
        });
    dropped + &others.concat()
}

/// The thread that held up the change of trace settings, for which only this command waits.
fn waits(end: &Record, zone: &TimeZone) -> String {
    let Some(time) = end.number("held_up") else { return "no thread waited".to_owned() };
    let by = end.get("held_up_by").filter(|by| !by.is_empty()).map_or_else(|| "the system".to_owned(), escape::name);
    let since = event::time_of_day(end.number("held_up_since").unwrap_or_default(), zone);
    format!("held up for {} ms by {by}, since {since}", time / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thread_that_held_the_settings_up_is_named() {
        for (end, said) in [
            ("told=end", "no thread waited"),
            (
                "held_up=12999999\theld_up_since=1795255201204311999\theld_up_by=thread 7 (worker-2)",
                "held up for 12 ms by thread 7 (worker-2), since 10:00:01.204311",
            ),
            ("held_up=1000000\theld_up_by=", "held up for 1 ms by the system, since 00:00:00.000000"),
        ] {
            assert_eq!(waits(&end.parse().unwrap(), &TimeZone::UTC), said);
        }
    }
}
