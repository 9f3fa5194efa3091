//! The same counts as JSON. `--help` documents the names.

use std::time::Duration;

use dyntrace_metrics::{Figures, Times};
use serde_json::{Map, Value, json};

/// The version of the object, as docs/formats.md has it.
const VERSION: u32 = 1;

pub fn object(pid: u32, figures: &Figures) -> Value {
    let lanes = figures.lanes.iter().map(|of| {
        json!({
            "lane": of.lane, "queued": of.queued, "threads": of.threads, "idle": of.idle, "blocked": of.blocked,
            "jobs": of.operations, "wait": times(&of.wait), "service": times(&of.service),
        })
    });
    let commands = figures.commands.iter().map(|of| {
        json!({
            "driver": of.driver, "command": of.command, "operations": of.operations, "errors": of.errors,
            "bytes": of.bytes, "service_ns": nanoseconds(of.service),
        })
    });
    let sessions = figures.sessions.iter().flatten();
    let sessions =
        sessions.map(|of| json!({ "session": of.session, "bytes": of.bytes, "lost": of.lost, "removed": of.removed }));
    let monitor = figures.monitor.as_ref().map(|of| {
        let events = of.events.iter().map(|&(kind, count)| (kind.to_owned(), count.into()));
        json!({ "events": events.collect::<Map<_, _>>(), "left_out": of.left_out, "panics": of.panics })
    });
    json!({
        "version": VERSION, "pid": pid, "waiting": figures.waiting, "left_out": figures.left_out,
        "lanes": lanes.collect::<Value>(), "commands": commands.collect::<Value>(), "sessions": sessions.collect::<Value>(),
        "monitor": monitor,
    })
}

fn times(times: &Times) -> Value {
    let bound = |bound| (bound != Duration::MAX).then(|| nanoseconds(bound));
    let buckets = times.buckets.iter().map(|&(end, count)| json!({ "below_ns": bound(end), "count": count }));
    json!({ "count": times.count(), "sum_ns": nanoseconds(times.sum), "buckets": buckets.collect::<Value>() })
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}
