//! Losses of a trace: lines for people, and the exit status.

use std::process::ExitCode;

use dyntrace_reader::{Damage, Empty, Losses};
use dyntrace_terminal::{escape, exit, say};

/// A line for each loss: of rings, of other events, and of damaged places.
pub fn lines(losses: &Losses) -> [Vec<String>; 3] {
    let ring = losses.discarded.iter();
    let ring = ring.map(|ring| format!("{} lost: {}: {}", events(ring.count), escape::path(&ring.file), ring.reason()));
    let overwritten = losses.overwritten.iter().map(|ring| {
        let (packets, file) = (ring.packets, escape::path(&ring.file));
        format!("events lost: {file}: {packets} packets of 32 KiB were overwritten before they were read")
    });
    let lost = losses.lost.iter().map(|lost| {
        let (file, reason) = (escape::path(&lost.file), escape::name(&lost.reason));
        format!("{} lost: {file} says: {reason}", events(lost.count))
    });
    let damaged = losses.damaged.iter().map(|damage| format!("damaged: {}", place(damage)));
    [ring.chain(overwritten).collect(), lost.collect(), damaged.collect()]
}

/// Reports the losses on standard error.
pub fn say(losses: &Losses) {
    empty(losses).iter().chain(lines(losses).iter().flatten()).for_each(|line| warn(line));
}

/// A line for each trace without an event: none is shown as if it were complete.
pub fn empty(losses: &Losses) -> Vec<String> {
    let line = |trace: &Empty| {
        let why = match trace.is_ended {
            true => "the program fired no probe that was recorded",
            false => "the recording was not ended, so it is not known whether the program fired none",
        };
        format!("{} has no event: {why}", escape::path(&trace.path))
    };
    losses.empty.iter().map(line).collect()
}

/// Describes a damaged place: file, offset, problem, and how many bytes were skipped.
pub fn place(damage: &Damage) -> String {
    let (file, offset, reason) = (escape::path(&damage.file), damage.offset, escape::name(&damage.reason));
    match damage.bytes {
        0 => format!("{file} at byte {offset}: {reason}"),
        bytes => format!("{file} at byte {offset}: {reason}; {bytes} bytes were skipped"),
    }
}

/// The exit status for the worst of the losses.
pub fn status(losses: &Losses) -> ExitCode {
    worst([losses])
}

/// The exit status for the worst of the losses of all traces.
pub fn worst<'l>(losses: impl IntoIterator<Item = &'l Losses> + Clone) -> ExitCode {
    if losses.clone().into_iter().any(|losses| !losses.damaged.is_empty()) {
        exit::DAMAGED.into()
    } else if losses.clone().into_iter().any(|losses| losses.events() > 0 || !losses.overwritten.is_empty()) {
        exit::LOSSY.into()
    } else if losses.into_iter().any(Losses::are_unknown) {
        exit::UNKNOWN.into()
    } else {
        ExitCode::SUCCESS
    }
}

fn events(count: u64) -> String {
    if count == 1 { "1 event".to_owned() } else { format!("{count} events") }
}

/// Reports one loss on standard error.
pub fn warn(what: &str) {
    let style = anstyle::Style::new().fg_color(Some(anstyle::AnsiColor::Yellow.into())).bold();
    say!("{style}dyntrace:{style:#} {what}");
}
