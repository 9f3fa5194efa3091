//! The comparison as JSON. `Arguments` documents it.

use serde_json::{Map, Value, json};

use super::compare::{Diff, Pair, State};
use super::condition::Checked;
use super::confidence::{self, Estimate};
use super::figure::{Percentile, Time};
use super::side::Side;
use super::text::figure;
use crate::figures::Row;
use crate::losses;

/// Counted up when a field changes or goes.
const VERSION: u32 = 1;

pub fn json(diff: &Diff, checked: &[Checked<'_>]) -> Value {
    let groups = diff.tables.iter().flat_map(|table| table.pairs.iter().map(|pair| (table.by.name(), pair)));
    let groups = groups.map(|(by, pair)| {
        let mut object = group(pair, diff);
        object.insert("by".to_owned(), by.into());
        object.insert("name".to_owned(), pair.name.as_deref().map(String::from_utf8_lossy).into());
        Value::from(object)
    });
    json!({
        "version": VERSION,
        "a": trace(&diff.a),
        "b": trace(&diff.b),
        "all": group(&diff.all, diff),
        "groups": groups.collect::<Vec<_>>(),
        "conditions": checked.iter().map(condition).collect::<Vec<_>>(),
    })
}

fn trace(side: &Side) -> Value {
    json!({
        "trace": side.name,
        "events": side.events,
        "length_ns": side.length,
        "lost_events": side.losses.events(),
        "losses": losses::lines(&side.losses).concat(),
        "unmatched_events": side.unmatched,
        "operations_without_end": side.given_up,
        "unanswered_operations": side.unanswered,
    })
}

fn group(pair: &Pair, diff: &Diff) -> Map<String, Value> {
    let state = match pair.state() {
        State::New => "new",
        State::Gone => "gone",
        State::Both => "both",
    };
    let changes = pair.changes.iter().map(|change| {
        json!({ "figure": figure(change.of), "a": estimate(&change.a), "b": estimate(&change.b), "apart": change.apart })
    });
    let mut object = Map::new();
    object.insert("state".to_owned(), state.into());
    object.insert("changes".to_owned(), changes.collect());
    object.insert("a".to_owned(), pair.a.as_ref().map(|row| figures(row, &diff.a)).into());
    object.insert("b".to_owned(), pair.b.as_ref().map(|row| figures(row, &diff.b)).into());
    object
}

fn figures(row: &Row, side: &Side) -> Value {
    let mut object = json!({
        "count": row.count,
        "rate": side.rate(row.count),
        "errors": row.errors,
        "error_share": confidence::share(row.errors, row.count).map(|share| estimate(&share)),
        "bytes": row.bytes,
    });
    for time in Time::ALL {
        let spread = time.of(row);
        if spread.len() == 0 {
            continue;
        }
        let mut times = json!({ "count": spread.len(), "mean": spread.mean(), "max": spread.longest() });
        for percentile in Percentile::ALL {
            times[percentile.name()] =
                confidence::percentile(spread, percentile.part()).map(|each| estimate(&each)).into();
        }
        object[format!("{}_ns", time.name())] = times;
    }
    object
}

fn estimate(estimate: &Estimate) -> Value {
    json!({ "value": estimate.value, "low": estimate.low, "high": estimate.high })
}

fn condition(checked: &Checked<'_>) -> Value {
    let groups = checked.groups.iter().map(|group| {
        json!({
            "name": group.name.map(String::from_utf8_lossy),
            "a": group.a.as_ref().map(estimate),
            "b": group.b.as_ref().map(estimate),
        })
    });
    json!({ "condition": checked.text, "verdict": checked.verdict.name(), "groups": groups.collect::<Vec<_>>() })
}
