//! Answers of the process, in words.

use dyntrace::recorder::control::ControlError;
use dyntrace::recorder::control::protocol::Record;
use dyntrace_terminal::exit::{self, Failure};

use crate::record::process as control;

/// The failure if the process refuses to trace: it has no such function, pattern or session.
pub fn refusal(error: ControlError) -> Failure {
    match error {
        ControlError::Refused { .. } => Failure::new(exit::NO_PROBES, error),
        other => control::refusal(other),
    }
}

/// The number of functions that these patterns name.
pub fn functions(patterns: &[Record]) -> String {
    let sum = |field| patterns.iter().filter_map(|pattern| pattern.number(field)).sum::<u64>();
    match sum("old_functions") {
        0 => count(sum("functions"), "function"),
        old => format!("{}, and {old} in old versions", count(sum("functions"), "function")),
    }
}

pub fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
