//! The summary of an export: spans sent, operations left out, losses.

use std::process::ExitCode;

use dyntrace_analysis::losses;
use dyntrace_reader::Losses;
use dyntrace_terminal::{escape, say};

use super::queue::Sent;

/// Reports it on standard error, and returns the exit status for it. `kept` operations became spans, the rules have `left_out` others, and
/// the return of those `given_up` was not waited for: too many were in flight.
pub fn say([kept, left_out, given_up]: [u64; 3], losses: &Losses, sent: &Sent) -> ExitCode {
    losses::say(losses);
    if given_up > 0 {
        losses::warn(&format!("{given_up} operations left out: too many were in flight at once"));
    }
    if sent.refused > 0 {
        losses::warn(&format!("the collector refused {} spans: {}", sent.refused, escape::name(&sent.reason)));
    }
    if sent.dropped > 0 {
        losses::warn(&format!("{} spans dropped: the collector was away or busy, and too many waited", sent.dropped));
    }
    if sent.left > 0 {
        losses::warn(&format!("{} spans not sent: the collector is away or busy", sent.left));
    }
    let packets = losses.overwritten.iter().map(|ring| ring.packets).fold(0, u64::saturating_add);
    let packets = if packets == 0 { String::new() } else { format!(" and {packets} packets of 32 KiB") };
    say!(
        "{} spans of {kept} operations sent, {left_out} operations left out by the rules; {} events{packets} lost, {} spans refused, \
         {} dropped",
        sent.sent,
        losses.events(),
        sent.refused,
        sent.dropped + sent.left
    );
    if sent.refused + sent.dropped + sent.left > 0 { ExitCode::FAILURE } else { losses::status(losses) }
}
