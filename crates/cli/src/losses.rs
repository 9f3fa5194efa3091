//! What a trace lost, where and why: for people on standard error, for scripts as exit status.

use std::process::ExitCode;

use dyntrace_reader::{Damage, Losses};

use crate::escape;
use crate::exit;

/// Says on standard error what was lost.
pub fn say(losses: &Losses) {
    for ring in &losses.discarded {
        warn(&format!("{} lost: {}: {}", events(ring.count), escape::path(&ring.file), ring.reason()));
    }
    for lost in &losses.lost {
        let (file, reason) = (escape::path(&lost.file), escape::name(&lost.reason));
        warn(&format!("{} lost: {file} says: {reason}", events(lost.count)));
    }
    for place in &losses.damaged {
        warn(&format!("damaged: {}", self::place(place)));
    }
}

/// A damaged place: where it is, what is wrong, and how much was passed over for it.
pub fn place(place: &Damage) -> String {
    let (file, offset, reason) = (escape::path(&place.file), place.offset, escape::name(&place.reason));
    match place.bytes {
        0 => format!("{file} at byte {offset}: {reason}"),
        bytes => format!("{file} at byte {offset}: {reason}; {bytes} bytes were passed over"),
    }
}

/// The exit status that tells of the worst of it.
pub fn status(losses: &Losses) -> ExitCode {
    if !losses.damaged.is_empty() {
        exit::DAMAGED.into()
    } else if losses.events() > 0 {
        exit::LOSSY.into()
    } else {
        ExitCode::SUCCESS
    }
}

fn events(count: u64) -> String {
    if count == 1 { "1 event".to_owned() } else { format!("{count} events") }
}

/// Says one thing in that way.
pub fn warn(what: &str) {
    let style = anstyle::Style::new().fg_color(Some(anstyle::AnsiColor::Yellow.into())).bold();
    say!("{style}dyntrace:{style:#} {what}");
}
