//! The output of the script `aio_pool` for a `file_storm`, compared with the program's operations.

use std::collections::BTreeMap;

use crate::programs::Done;

/// The commands that wait for a disk, or are always slow.
const SLOW: [&str; 4] = ["COPY", "FDATASYNC", "FSYNC", "RMDIR_ALL"];

/// The table of workers, and that of queue lengths.
pub struct Tables<'t> {
    /// The number of jobs of each kind, from the lines of single seconds.
    by_second: BTreeMap<&'t str, u64>,
    /// The lines of `all`: the number of jobs of each kind, and the rest of the line.
    pub all: BTreeMap<&'t str, (u64, Vec<u64>)>,
    /// In the order of the lines.
    pub workers: Vec<Worker<'t>>,
}

/// A thread that took jobs.
pub struct Worker<'t> {
    lane: &'t str,
    pub name: &'t str,
    pub thread: u64,
    pub jobs: u64,
    busy_us: u64,
}

/// Parses the output of the script.
pub fn read(trace: &str) -> Tables<'_> {
    let (mut by_second, mut all, mut workers) = (BTreeMap::new(), BTreeMap::new(), Vec::new());
    let mut lines = trace.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(lines.next().unwrap_or_default().join(" "), "lane worker thread jobs busy_us");
    for words in lines.by_ref() {
        let [lane, name, thread, jobs, busy_us] = words[..] else {
            assert_eq!(words.join(" "), "second jobs count mean max =1 <8 <64 more");
            break;
        };
        let [thread, jobs, busy_us] = [thread, jobs, busy_us].map(|number| number.parse().expect("a number"));
        workers.push(Worker { lane, name, thread, jobs, busy_us });
    }
    for words in lines {
        let [second, jobs, numbers @ ..] = words.as_slice() else { panic!("{words:?}") };
        let numbers: Vec<u64> = numbers.iter().map(|number| number.parse().expect("a number")).collect();
        let [count, mean, max, histogram @ ..] = numbers.as_slice() else { panic!("{words:?}") };
        assert_eq!((histogram.len(), histogram.iter().sum()), (4, *count), "{words:?}");
        assert!(1 <= *mean && mean <= max, "{words:?}");
        match *second {
            "all" => drop(all.insert(*jobs, (*count, numbers[1..].to_vec()))),
            second => {
                second.parse::<u64>().expect("a number of seconds");
                *by_second.entry(*jobs).or_default() += count;
            }
        }
    }
    Tables { by_second, all, workers }
}

/// Like [`check`], for a recorded run: threads that started when the program ended may have no name.
pub fn check_recorded(trace: &str, done: &Done) {
    check_but(trace, done, |name| name == "?");
}

/// Every operation is one job, added once and taken once, by a thread of its lane.
pub fn check(trace: &str, done: &Done) {
    check_but(trace, done, |_| false);
}

fn check_but(trace: &str, done: &Done, is_unknown: impl Fn(&str) -> bool) {
    let Tables { by_second, all, workers } = read(trace);
    let jobs = |is_counted: &dyn Fn(&str) -> bool| -> u64 {
        done.iter().filter(|(name, _)| is_counted(name)).map(|(_, (ok, failed))| ok + failed).sum()
    };
    let slow = |name: &str| SLOW.contains(&name);
    let expected = [("added", jobs(&|_| true)), ("fast", jobs(&|name| !slow(name))), ("slow", jobs(&slow))];
    assert_eq!(by_second, expected.into(), "jobs by second: traced, and as file_storm counted:\n{trace}");
    let all: BTreeMap<&str, u64> = all.into_iter().map(|(jobs, (count, _))| (jobs, count)).collect();
    assert_eq!(all, expected.into(), "jobs in all: traced, and as file_storm counted:\n{trace}");

    assert!(workers.is_sorted_by_key(|worker| worker.jobs), "the busiest at the end:\n{trace}");
    let mut busy = 0;
    let mut taken = BTreeMap::from([("added", all["added"])]);
    for Worker { lane, name, jobs, busy_us, .. } in workers {
        *taken.entry(lane).or_default() += jobs;
        let prefix = if lane == "slow" { "dyntrace-slow-" } else { "dyntrace-io-" };
        assert!(name.starts_with(prefix) || is_unknown(name), "{name} of {lane}:\n{trace}");
        busy += busy_us;
    }
    assert!(busy > 0, "work that took no time:\n{trace}");
    assert_eq!(taken, all, "jobs by worker and in all:\n{trace}");
}
