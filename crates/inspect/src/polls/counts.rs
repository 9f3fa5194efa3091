//! The counts that the script prints: lines of JSON with numbers only.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::times::Times;

/// A task as the tracer knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Polled {
    /// The address of its vtable.
    pub kind: u64,
    pub id: u64,
    /// The thread.
    pub tid: u64,
    /// In nanoseconds: how long the poll took; of one that runs, when it began.
    pub time: u64,
}

/// The counts. Types are addresses of vtables.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Of polls, by type.
    pub times: HashMap<u64, Times>,
    /// From wakes to polls, by type.
    pub waits: HashMap<u64, Times>,
    /// By the type that was polled on the waking thread (0 for none), and the woken type.
    pub wakes: BTreeMap<(u64, u64), u64>,
    /// How many polls have returned.
    pub all_polls: u64,
    /// How many of them were woken.
    pub all_waits: u64,
    /// How many wakes there were.
    pub all_wakes: u64,
    /// Types whose tasks are jobs of the blocking pool.
    pub jobs: HashSet<u64>,
    /// Polls that had not returned at the end, those of inner tasks first.
    pub running: Vec<Polled>,
    /// Slow polls, in the order of their ends on a processor.
    pub slow: Vec<Polled>,
    /// How many slow polls there were.
    pub all_slow: u64,
    /// How many polls were not counted, as the script had no room for them.
    pub no_poll: u64,
    /// How many wakes have no wait, as the script had no room for them.
    pub no_wait: u64,
    /// When the time was over, by the clock of the script.
    pub stop: Option<u64>,
}

impl Counts {
    /// Reads the script's output.
    pub fn read(output: &str) -> Result<Counts> {
        let mut counts = Counts::default();
        let (mut tasks, mut polls) = (Vec::new(), Vec::new());
        for line in output.lines().filter(|line| !line.trim().is_empty()) {
            let cannot = || format!("cannot read a line of bpftrace: {}", dyntrace_terminal::escape::name(line));
            let record: Value = serde_json::from_str(line).with_context(cannot)?;
            let data = &record["data"];
            if record["type"] == "printf" {
                counts.slow.extend(data.as_str().and_then(slow));
                continue;
            }
            let Some((name, value)) = data.as_object().and_then(|maps| maps.iter().next()) else { continue };
            match name.as_str() {
                "@blind" => {}
                name if !name.starts_with('@') => {}
                "@stop" => counts.stop = value.as_u64(),
                "@slow" => counts.all_slow = value.as_u64().with_context(cannot)?,
                "@no_poll" => counts.no_poll = value.as_u64().with_context(cannot)?,
                "@no_wait" => counts.no_wait = value.as_u64().with_context(cannot)?,
                "@all_polls" => counts.all_polls = value.as_u64().with_context(cannot)?,
                "@all_waits" => counts.all_waits = value.as_u64().with_context(cannot)?,
                "@all_wakes" => counts.all_wakes = value.as_u64().with_context(cannot)?,
                "@task" => tasks = entries(value).with_context(cannot)?,
                "@poll" => polls = entries(value).with_context(cannot)?,
                "@jobs" => counts.jobs = entries(value).with_context(cannot)?.iter().map(|(key, _)| key[0]).collect(),
                "@wakes" => {
                    let add = |(key, value): &(Vec<u64>, Vec<u64>)| Some(((key[0], *key.get(1)?), *value.first()?));
                    counts.wakes = entries(value).with_context(cannot)?.iter().filter_map(add).collect();
                }
                name => counts.add(name, entries(value).with_context(cannot)?),
            }
        }
        counts.running = running(tasks, polls);
        // Of other types the script had no room for the rest.
        counts.times.retain(|_, times| times.is_whole());
        let is_polled =
            |kind: &u64| counts.times.contains_key(kind) || counts.running.iter().any(|poll| poll.kind == *kind);
        counts.waits.retain(|kind, waits| waits.is_whole() && is_polled(kind));
        Ok(counts)
    }

    /// Adds a map about times. There are others, which are of use to the script only.
    fn add(&mut self, name: &str, entries: Vec<(Vec<u64>, Vec<u64>)>) {
        let all = match name {
            "@times" | "@longest" | "@time" => &mut self.times,
            "@waits" | "@longest_wait" | "@wait" => &mut self.waits,
            _ => return,
        };
        for (key, value) in entries {
            let times = all.entry(key[0]).or_default();
            match (name, &key[..], &value[..]) {
                ("@times" | "@waits", _, [count, total]) => (times.count, times.total) = (*count, *total),
                ("@longest" | "@longest_wait", _, [longest]) => times.longest = *longest,
                ("@time" | "@wait", [_, step], [count]) => times.steps.add(*step, *count),
                _ => {}
            }
        }
    }
}

/// The keys and values of a map. Each key has a number at least. Values are numbers, tuples of them, or statistics: count and sum.
fn entries(map: &Value) -> Option<Vec<(Vec<u64>, Vec<u64>)>> {
    let numbers = |value: &Value| -> Option<Vec<u64>> {
        match value {
            Value::Array(values) => values.iter().map(Value::as_u64).collect(),
            Value::Object(statistics) => {
                ["count", "total"].map(|name| statistics.get(name)?.as_u64()).into_iter().collect()
            }
            // Version 0.17 prints a tuple as text.
            Value::String(tuple) => split(tuple.trim_matches(['(', ')'])),
            value => Some(vec![value.as_u64()?]),
        }
    };
    map.as_object()?.iter().map(|(key, value)| Some((split(key)?, numbers(value)?))).collect()
}

/// The numbers of a list with commas.
fn split(list: &str) -> Option<Vec<u64>> {
    list.split(',').map(|number| number.trim().parse().ok()).collect()
}

/// `slow TYPE ID THREAD TIME`
fn slow(line: &str) -> Option<Polled> {
    let numbers: Vec<u64> =
        line.trim().strip_prefix("slow ")?.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [kind, id, tid, time] = numbers[..] else { return None };
    Some(Polled { kind, id, tid, time })
}

/// The polls that run, from the threads' tasks and from the begins of polls: each has the task around it.
fn running(tasks: Vec<(Vec<u64>, Vec<u64>)>, mut polls: Vec<(Vec<u64>, Vec<u64>)>) -> Vec<Polled> {
    // The innermost first: the stack grows down.
    polls.sort_unstable();
    let mut innermost: HashMap<u64, (u64, u64)> = HashMap::new();
    for (key, value) in tasks {
        if let [kind, id, _] = value[..] {
            innermost.insert(key[0], (kind, id));
        }
    }
    let mut running = Vec::new();
    for (key, value) in polls {
        let tid = key[0];
        if let (Some(task), [began, outer, outer_id, _]) = (innermost.get_mut(&tid), &value[..]) {
            let (kind, id) = std::mem::replace(task, (*outer, *outer_id));
            if kind != 0 {
                running.push(Polled { kind, id, tid, time: *began });
            }
        }
    }
    running
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = r#"
{"type": "attached_probes", "data": {"probes": 7}}
{"type": "printf", "data": "slow 96 7 4711 3000000\n"}
{"type": "map", "data": {"@all_polls": 10}}
{"type": "map", "data": {"@all_waits": 8}}
{"type": "map", "data": {"@all_wakes": 12}}
{"type": "map", "data": {"@blind": 1}}
{"type": "map", "data": {"@jobs": {"64": 1}}}
{"type": "map", "data": {"@longest": {"96": 3000000, "104": 7}}}
{"type": "map", "data": {"@longest_wait": {"96": 50, "104": 8, "112": 9}}}
{"type": "map", "data": {"@no_poll": 3}}
{"type": "map", "data": {"@no_wait": 4}}
{"type": "map", "data": {"@poll": {"20,1000": [500,96,3,2000], "20,2000": [400,0,0,0], "21,1000": [600,0,0,0]}}}
{"type": "map", "data": {"@slow": 2}}
{"type": "map", "data": {"@stop": 9000}}
{"type": "map", "data": {"@task": {"20": [64,4,1000], "21": [0,0,0]}}}
{"type": "map", "data": {"@time": {"96,8": 2, "96,150": 1}}}
{"type": "stats", "data": {"@times": {"96": {"count": 3, "average": 1000005, "total": 3000016}, "120": {"count": 1, "average": 4, "total": 4}}}}
{"type": "map", "data": {"@wait": {"96,40": 1}}}
{"type": "stats", "data": {"@waits": {"96": {"count": 1, "average": 50, "total": 50}, "112": {"count": 1, "average": 9, "total": 9}}}}
{"type": "map", "data": {"@wakes": {"0,96": 5, "64,96": 6}}}
{"type": "map", "data": {"@woken": {"1234": 10}}}
"#;

    #[test]
    fn reads_what_the_script_prints() {
        let counts = Counts::read(OUTPUT).unwrap();
        assert_eq!(
            counts.times[&96],
            Times { count: 3, total: 3_000_016, longest: 3_000_000, steps: [(8, 2), (150, 1)].into() }
        );
        assert_eq!(counts.waits[&96], Times { count: 1, total: 50, longest: 50, steps: [(40, 1)].into() });
        assert_eq!(counts.wakes, [((0, 96), 5), ((64, 96), 6)].into());
        assert_eq!((counts.jobs, counts.all_slow, counts.stop), ([64].into(), 2, Some(9000)));
        assert_eq!(counts.slow, [Polled { kind: 96, id: 7, tid: 4711, time: 3_000_000 }]);
        let inner = Polled { kind: 64, id: 4, tid: 20, time: 500 };
        assert_eq!((counts.all_polls, counts.all_waits, counts.all_wakes), (10, 8, 12));
        assert_eq!((counts.no_poll, counts.no_wait), (3, 4));
        // Other types have no count, no longest time or no poll: the maps were full.
        assert_eq!((counts.times.len(), counts.waits.len()), (1, 1));
        assert_eq!(counts.running, [inner, Polled { kind: 96, id: 3, tid: 20, time: 400 }]);
    }

    #[test]
    fn tuples_are_text_in_old_versions() {
        let new = r#"{"type": "map", "data": {"@task": {"20": [64,4,1000]}}}"#;
        let old = r#"{"type": "map", "data": {"@task": {"20": "(64, 4, 1000)"}}}"#;
        let poll = r#"{"type": "map", "data": {"@poll": {"20,1000": [500,0,0,0]}}}"#;
        let [new, old] = [new, old].map(|task| Counts::read(&format!("{task}\n{poll}")).unwrap());
        assert_eq!(new, old);
        assert_eq!(new.running.len(), 1);
    }

    #[test]
    fn torn_output_is_an_error() {
        for torn in [
            "{",
            r#"{"type": "map", "data": {"@time": {"a": 1}}}"#,
            r#"{"type": "map", "data": {"@times": {"1": null}}}"#,
        ] {
            assert!(Counts::read(torn).is_err(), "{torn}");
        }
        for odd in [
            r#"{"type": "map", "data": {"@wakes": {"1": 2}}}"#,
            r#"{"type": "map", "data": {"@time": {"1": 2}}}"#,
            "[]",
            "7",
        ] {
            Counts::read(odd).unwrap();
        }
    }
}
