//! The counts with names, as the command shows them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use dyntrace_tasks::polls::PolledType;
use serde::Serialize;

use super::counts::{Counts, Polled};
use super::own::OwnFunctions;
use super::times::{self, Times};
use crate::words;

/// A program's polls.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// How long they were counted, in nanoseconds.
    pub time: u64,
    pub functions: Vec<Function>,
    pub wakes: Vec<Wakes>,
    /// Polls that began and had not returned at the end.
    pub running: Vec<Poll>,
    pub slow: Vec<Poll>,
    pub lost: Lost,
    /// Tasks whose polls were not counted.
    pub unknown: Option<String>,
    pub notes: Vec<String>,
    #[serde(skip)]
    pub own: OwnFunctions,
}

impl Summary {
    /// Whether no poll was seen of a program of which some polls could not be.
    pub fn is_unknown(&self) -> bool {
        self.unknown.is_some() && self.functions.is_empty() && self.running.is_empty()
    }
}

/// The polls of the tasks that a function makes.
#[derive(Debug, Serialize)]
pub struct Function {
    pub function: String,
    /// The program's own functions that its tasks were seen in, if it is none itself.
    pub own: Vec<String>,
    /// Whether its tasks are jobs of the blocking pool.
    pub job: bool,
    pub polls: u64,
    pub poll: times::Summary,
    /// Polls whose wake was seen.
    pub woken: u64,
    /// The times from these wakes to the polls.
    pub wait: times::Summary,
}

/// Wakes of a function's tasks.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Wakes {
    /// The function whose task the waking thread polled, if it polled one.
    pub by: Option<String>,
    pub woken: String,
    pub count: u64,
}

/// A poll.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Poll {
    pub task: u64,
    pub function: String,
    /// Whether the task is a job of the blocking pool.
    pub job: bool,
    pub tid: u64,
    /// The thread's name, if it still runs.
    pub thread: Option<String>,
    /// In nanoseconds.
    pub time: u64,
}

/// Losses: the tracer had no room.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lost {
    /// Polls that were not counted.
    pub polls: u64,
    /// Wakes without a wait.
    pub waits: u64,
    /// Polls that the percentiles leave out.
    pub percentiles: u64,
    /// Wakes that are in no row.
    pub wakes: u64,
    /// Slow polls that are not shown.
    pub slow: u64,
}

impl Lost {
    pub fn is_some(&self) -> bool {
        *self != Lost::default()
    }
}

/// The time that was counted, by the clock of the script.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// When all functions had their probes.
    pub ready: u64,
    pub end: u64,
}

/// Names of types.
struct Names(HashMap<u64, String>);

impl Names {
    fn of(types: &[PolledType]) -> Names {
        let name = |kind: &PolledType| {
            kind.function.as_ref().map_or_else(|| words::named(&kind.name), |function| words::of_job(function))
        };
        Names(types.iter().map(|kind| (kind.vtable, name(kind))).collect())
    }

    fn get(&self, kind: u64) -> String {
        self.0.get(&kind).cloned().unwrap_or_else(|| "a type that was not found".to_owned())
    }

    /// Whether it is the job in which a worker of tokio's runs: between polls it is in no task.
    fn is_worker(&self, kind: u64) -> bool {
        self.0.get(&kind).is_some_and(|name| name.contains("scheduler::multi_thread::worker"))
    }
}

/// Names the counts. `thread` returns the name of a thread.
pub fn summary(
    counts: &Counts,
    types: &[PolledType],
    window: Window,
    thread: impl Fn(u64) -> Option<String>,
    [gaps, notes]: [Vec<String>; 2],
    own: OwnFunctions,
) -> Summary {
    let names = Names::of(types);
    let poll = |polled: &Polled, time| Poll {
        task: polled.id,
        function: names.get(polled.kind),
        job: counts.jobs.contains(&polled.kind),
        tid: polled.tid,
        thread: thread(polled.tid),
        time,
    };
    // An earlier begin may be one of a poll whose return could not be seen yet.
    let running = counts.running.iter().filter(|polled| polled.time >= window.ready && !names.is_worker(polled.kind));
    let all = counts.times.values().chain(counts.waits.values());
    Summary {
        time: window.end.saturating_sub(window.ready),
        functions: functions(counts, &names, &own),
        wakes: wakes(counts, &names),
        running: running.map(|polled| poll(polled, window.end.saturating_sub(polled.time))).collect(),
        slow: counts.slow.iter().map(|polled| poll(polled, polled.time)).collect(),
        lost: Lost {
            polls: counts.no_poll.saturating_add(missing(counts.all_polls, &counts.times)),
            waits: counts.no_wait.saturating_add(missing(counts.all_waits, &counts.waits)),
            percentiles: all.map(Times::without_step).sum(),
            wakes: counts.all_wakes.saturating_sub(counts.wakes.values().sum()),
            slow: counts.all_slow.saturating_sub(counts.slow.len() as u64),
        },
        unknown: (!gaps.is_empty()).then(|| gaps.join("; ")),
        notes,
        own,
    }
}

/// How many durations are in no row.
fn missing(all: u64, rows: &HashMap<u64, Times>) -> u64 {
    rows.values().fold(all, |rest, times| rest.saturating_sub(times.count))
}

/// The busiest function first. Types of the same name share a row.
fn functions(counts: &Counts, names: &Names, own: &OwnFunctions) -> Vec<Function> {
    let mut rows: BTreeMap<(String, bool), (Times, Times)> = BTreeMap::new();
    for kind in counts.times.keys().chain(counts.waits.keys().filter(|kind| !counts.times.contains_key(kind))) {
        let (times, waits) = rows.entry((names.get(*kind), counts.jobs.contains(kind))).or_default();
        counts.times.get(kind).into_iter().for_each(|more| times.add(more));
        counts.waits.get(kind).into_iter().for_each(|more| waits.add(more));
    }
    let row = |((function, job), (times, waits)): ((String, bool), (Times, Times))| Function {
        own: own.of(&function),
        function,
        job,
        polls: times.count,
        poll: times.summary(),
        woken: waits.count,
        wait: waits.summary(),
    };
    let mut functions: Vec<Function> = rows.into_iter().map(row).collect();
    functions.sort_by_key(|function| Reverse(function.poll.total));
    functions
}

/// The most frequent first.
fn wakes(counts: &Counts, names: &Names) -> Vec<Wakes> {
    let mut rows: BTreeMap<(Option<String>, String), u64> = BTreeMap::new();
    for ((by, woken), count) in &counts.wakes {
        let by = Some(*by).filter(|by| *by != 0 && !names.is_worker(*by)).map(|by| names.get(by));
        *rows.entry((by, names.get(*woken))).or_default() += count;
    }
    let mut wakes: Vec<Wakes> = rows.into_iter().map(|((by, woken), count)| Wakes { by, woken, count }).collect();
    wakes.sort_by_key(|wakes| Reverse(wakes.count));
    wakes
}

#[cfg(test)]
pub mod tests {
    use dyntrace_analysis::figures::Steps;
    use dyntrace_tasks::listing::Name;

    use super::super::own::tests::carried;
    use super::*;

    fn times(count: u64, time: u64) -> Times {
        // Step 40 ends at 63.
        Times { count, total: count * time, longest: time, steps: [(40, count)].into() }
    }

    pub fn counts() -> Counts {
        Counts {
            times: [(1, times(3, 60)), (2, times(10, 50)), (3, times(1, 40)), (4, times(1, 61))].into(),
            waits: [(1, times(2, 60))].into(),
            wakes: [((0, 1), 4), ((9, 1), 1), ((1, 2), 7), ((2, 77), 1)].into(),
            all_polls: 15,
            all_waits: 2,
            all_wakes: 13,
            jobs: [4, 9].into(),
            running: vec![
                Polled { kind: 1, id: 5, tid: 20, time: 1_500_000 },
                Polled { kind: 1, id: 6, tid: 21, time: 900 },
                Polled { kind: 9, id: 1, tid: 21, time: 1_200_000 },
            ],
            slow: vec![Polled { kind: 2, id: 7, tid: 20, time: 3_000_000 }],
            all_slow: 1,
            no_poll: 0,
            no_wait: 0,
            stop: None,
        }
    }

    pub fn sample(counts: &Counts) -> Summary {
        let kind = |vtable, name: &str, function: Option<&str>| PolledType {
            vtable,
            name: Name::Type { name: name.into() },
            function: function.map(Into::into),
        };
        let types = [
            kind(1, "app::serve::{async_fn_env#0}", Some("app::serve")),
            kind(2, "app::serve\x1b::{async_fn_env#0}<u8>", None),
            // The same function under another scheduler.
            kind(3, "app::serve::{async_fn_env#0}", Some("app::serve")),
            kind(4, "BlockingTask<app::hash::{closure_env#0}>", None),
            kind(9, "BlockingTask<tokio::runtime::scheduler::multi_thread::worker::{impl#0}::launch>", None),
        ];
        let mut own = OwnFunctions::default();
        own.add(&carried("app::serve", "shop::order"));
        let window = Window { ready: 1_000_000, end: 2_001_000_000 };
        summary(
            counts,
            &types,
            window,
            |tid| (tid == 20).then(|| "worker\n".to_owned()),
            [Vec::new(), vec!["a\x1bnote".to_owned()]],
            own,
        )
    }

    #[test]
    fn functions_of_the_same_name_share_a_row() {
        let summary = sample(&counts());
        let rows: Vec<_> =
            summary.functions.iter().map(|row| (&*row.function, row.job, row.polls, row.woken)).collect();
        assert_eq!(
            rows,
            [
                (r"app::serve\x1b::{async fn}<u8>", false, 10, 0),
                ("app::serve", false, 4, 2),
                ("app::hash::{closure}", true, 1, 0)
            ]
        );
        assert_eq!(summary.functions[1].poll.p50, Some(60));
        assert_eq!((summary.time, summary.lost.is_some()), (2_000_000_000, false));
    }

    #[test]
    fn a_worker_between_polls_is_outside_of_tasks() {
        let told: Vec<_> =
            sample(&counts()).wakes.into_iter().map(|wakes| (wakes.by, wakes.woken, wakes.count)).collect();
        let (serve, other) = ("app::serve".to_owned(), r"app::serve\x1b::{async fn}<u8>".to_owned());
        assert_eq!(
            told,
            [
                (Some(serve.clone()), other.clone(), 7),
                (None, serve, 5),
                (Some(other), "a type that was not found".to_owned(), 1)
            ]
        );
    }

    #[test]
    fn running_polls_began_after_all_probes_were_set() {
        let summary = sample(&counts());
        let running: Vec<_> = summary.running.iter().map(|poll| (poll.task, poll.time)).collect();
        assert_eq!(running, [(5, 1_999_500_000)]);
    }

    #[test]
    fn losses_are_counted() {
        let mut counts = counts();
        (counts.no_poll, counts.no_wait) = (8, 9);
        (counts.all_polls, counts.all_waits) = (17, 3);
        counts.all_slow = 3;
        counts.all_wakes = 18;
        counts.times.get_mut(&1).unwrap().steps = Steps::default();
        assert_eq!(sample(&counts).lost, Lost { polls: 10, waits: 10, percentiles: 3, wakes: 5, slow: 2 });
    }
}
