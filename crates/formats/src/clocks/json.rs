//! The clocks as JSON.

use anyhow::Context as _;
use dyntrace_terminal::escape;
use serde_json::{Value, json};

use super::read::ClockInputs;
use super::solve::{LeftOut, Solved};
use super::state::hosts;

/// Counted up when a field changes or goes.
const VERSION: u32 = 1;

pub fn text(found: &ClockInputs, solved: &Solved, drift: u32) -> anyhow::Result<String> {
    let hosts = hosts(found, solved).map(|host| {
        json!({
            "hostname": host.name,
            "state": host.state.name(),
            "messages": host.messages,
            "ahead_ns": host.ahead,
            "error_ns": host.error,
            "pieces": host.pieces,
        })
    });
    let object = json!({
        "version": VERSION,
        "reference": found.hosts[solved.reference],
        "drift_ppm": drift,
        "messages": found.messages.len(),
        "ambiguous": found.ambiguous,
        "unreceived": found.unreceived,
        "ntp": found.ntp.as_ref().map(|ntp| json!({
            "estimates": ntp.estimates(),
            "skipped": ntp.skipped,
            "unknown": ntp.unknown,
        })),
        "hosts": hosts.collect::<Vec<_>>(),
        "contradictions": solved.left_out.iter().map(|out| contradiction(out, found)).collect::<Vec<_>>(),
    });
    Ok(escape::json(serde_json::to_string_pretty(&object).context("cannot make JSON")?) + "\n")
}

fn contradiction(out: &LeftOut, found: &ClockInputs) -> Value {
    let messages = out.messages.iter().map(|message| {
        json!({
            "from": found.hosts[message.from],
            "sent_ns": message.sent,
            "to": found.hosts[message.to],
            "received_ns": message.received,
        })
    });
    json!({ "hostname": found.hosts[out.host], "messages": messages.collect::<Vec<_>>() })
}
