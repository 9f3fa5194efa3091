//! The clocks as JSON.

use serde_json::{Value, json};

use super::read::ClockInputs;
use super::solve::{LeftOut, Solved};
use super::state::hosts;

/// Counted up when a field changes or goes.
const VERSION: u32 = 1;

pub fn object(found: &ClockInputs, solved: &Solved, drift: u32) -> Value {
    json!({
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
        "hosts": hosts(found, solved).collect::<Vec<_>>(),
        "contradictions": solved.left_out.iter().map(|out| contradiction(out, found)).collect::<Vec<_>>(),
    })
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
