//! The scripts about tasks, compared with the program's own count: `known_tasks` starts, ends, cancels and panics a known number.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::machine::{OLD_BPFTRACE, turn};
use crate::programs::{traced, traced_with};

/// How many of each function the program starts.
pub const COUNT: &str = "5";

/// The user tags of its function `turns`, and how many of five processes have each.
const TAGS: [(&str, u64); 2] = [("request 1", 2), ("request 2", 3)];

/// The program's counts of a function.
struct Known {
    tasks: u64,
    polls: u64,
    /// The reason of their exits, and how many ended so.
    end: (String, u64),
}

fn known(said: &str) -> BTreeMap<String, Known> {
    let said: BTreeMap<String, BTreeMap<String, Value>> = serde_json::from_str(said).expect("known_tasks prints JSON");
    let of = |(function, mut counts): (String, BTreeMap<String, Value>)| {
        let mut take = |name| counts.remove(name).and_then(|count| count.as_u64()).expect("a count");
        let (tasks, polls) = (take("tasks"), take("polls"));
        let (reason, ended) = counts.pop_first().expect("how they ended");
        (function, Known { tasks, polls, end: (reason, ended.as_u64().expect("a count")) })
    };
    said.into_iter().map(of).collect()
}

/// `spawn-exit`: a line for each start and one for each end, with the right function, user tag and reason.
pub fn spawn_exit(trace: &str, said: &str) {
    let known = known(said);
    let (mut functions, mut places, mut tags) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
    let mut exits = Vec::new();
    for line in trace.lines() {
        let (pid, rest) =
            line.strip_prefix("pid ").and_then(|line| line.split_once(' ')).unwrap_or_else(|| panic!("{line:?}"));
        if let Some(reason) = rest.strip_prefix("reason ") {
            exits.push((pid, reason));
            continue;
        }
        let (function, rest) = rest.strip_prefix("mfa ").and_then(|rest| rest.split_once(" parent ")).expect(line);
        let (parent, rest) = rest.split_once(" place ").expect(line);
        let (place, tag) = rest.split_once(" user tag ").expect(line);
        assert!(parent.starts_with("<0.") && place.contains("crates/cli/examples/known_tasks.rs:"), "{line:?}");
        assert!(functions.insert(pid, function).is_none(), "one spawn of {pid}: {trace}");
        places.insert((function, place));
        if function == "known_tasks::turns" {
            *tags.entry(tag).or_default() += 1;
        } else {
            assert_eq!(tag, "", "{line:?}");
        }
    }
    assert_eq!(tags, BTreeMap::from(TAGS));
    assert_eq!(places.len(), known.len(), "each function is started at one place: {places:?}");
    let mut ended = BTreeMap::<(&str, &str), u64>::new();
    for (pid, reason) in exits {
        // DTrace prints one processor's lines after another's.
        let function = functions.remove(pid).unwrap_or_else(|| panic!("one spawn and one exit of {pid}: {trace}"));
        *ended.entry((function, reason)).or_default() += 1;
    }
    assert_eq!(functions, BTreeMap::new(), "processes without an exit");
    let expected = known.iter().map(|(function, known)| ((function.as_str(), known.end.0.as_str()), known.end.1));
    assert_eq!(ended, expected.collect());
    assert!(known.values().all(|known| known.end.1 == known.tasks), "{said}");
}

/// `process-scheduling`: two lines for each poll.
pub fn scheduling(trace: &str, said: &str) {
    let known = known(said);
    let (mut begun, mut functions) = (BTreeMap::<&str, u64>::new(), BTreeMap::new());
    let mut outcomes = BTreeMap::<(&str, &str), u64>::new();
    let mut ends = Vec::new();
    for line in trace.lines() {
        if let Some(begin) = line.strip_prefix("  Schedule pid ") {
            let (pid, function) = begin.split_once(" mfa ").expect(line);
            *begun.entry(function).or_default() += 1;
            functions.insert(pid, function);
        } else {
            let end = line.strip_prefix("Unschedule pid ").and_then(|end| end.split_once(" polled ")).expect(line);
            let (polled, outcome) = end.1.split_once(" ns outcome ").expect(line);
            polled.parse::<u64>().expect("nanoseconds");
            ends.push((end.0, outcome));
        }
    }
    for (pid, outcome) in ends {
        *outcomes.entry((functions[pid], outcome)).or_default() += 1;
    }
    let polls = known.iter().map(|(function, known)| (function.as_str(), known.polls));
    assert_eq!(begun, polls.collect());
    let expected = known.iter().flat_map(|(function, known)| {
        let (last, pending) = match known.end.0.as_str() {
            "normal" => (Some("ready"), known.polls - known.tasks),
            "panic" => (Some("panic"), known.polls - known.tasks),
            _ => (None, known.polls),
        };
        let counts = [last.map(|last| (last, known.tasks)), (pending > 0).then_some(("pending", pending))];
        counts.into_iter().flatten().map(|(outcome, count)| ((function.as_str(), outcome), count))
    });
    assert_eq!(outcomes, expected.collect());
}

/// `task_latency`: a row for each function and user tag, with every poll in one column of its histogram, and a line for each slow poll.
pub fn latency(trace: &str, said: &str) {
    let mut expected = BTreeMap::new();
    for (function, Known { tasks, polls, .. }) in known(said) {
        if function == "known_tasks::turns" {
            let each = polls / tasks;
            expected.extend(TAGS.map(|(tag, count)| (format!("{function} | {tag}"), [count * each, count])));
        } else {
            expected.insert(format!("{function} | "), [polls, tasks]);
        }
    }
    rows(trace, &expected);
    let slow = trace.lines().filter(|line| line.starts_with("slow: ") && line.ends_with(": known_tasks::slow | "));
    assert_eq!(slow.count() as u64, known(said)["known_tasks::slow"].tasks, "{trace}");
}

/// Compares the rows with the polls and the started processes of each function and user tag.
fn rows(trace: &str, expected: &BTreeMap<String, [u64; 2]>) {
    let (mut slow, mut last) = (BTreeMap::<&str, u64>::new(), 0);
    let mut lines = trace.lines().inspect(|line| {
        if let Some((head, of)) = line.strip_prefix("slow: ").and_then(|line| line.split_once(": ")) {
            let polled = head.split_once(" polled ").and_then(|(_, rest)| rest.split_once(" us outcome ")).expect(line);
            assert!(polled.0.parse::<u64>().expect("microseconds") >= 10_000, "{line:?}");
            *slow.entry(of).or_default() += 1;
        }
    });
    let titles = lines.find(|line| !line.starts_with("slow: ") && !line.is_empty()).expect("titles");
    let titles: Vec<&str> = titles.split_whitespace().collect();
    assert_eq!(
        titles.join(" "),
        "busy_us polls mean_us max_us slow <1us <4us <16us <64us <256us <1ms <4ms <16ms <64ms <256ms <1s more \
         started start_us start_max woken wake_us wake_max function | user tag"
    );
    let mut seen = BTreeMap::new();
    let mut slow_in_rows = BTreeMap::new();
    // DTrace may print a line of a slow poll after the table.
    for line in lines.filter(|line| !line.is_empty() && !line.starts_with("slow: ")) {
        let (numbers, of) = line.split_at(of_at(line));
        let numbers: Vec<u64> = numbers.split_whitespace().map(|word| word.parse().expect("a number")).collect();
        let [
            busy_us,
            polls,
            mean_us,
            max_us,
            slow,
            ref histogram @ ..,
            started,
            start_us,
            start_max,
            woken,
            wake_us,
            wake_max,
        ] = numbers[..]
        else {
            panic!("{line:?}")
        };
        assert_eq!((histogram.len(), histogram.iter().sum()), (12, polls), "{line:?}");
        assert!(mean_us <= max_us && max_us <= busy_us && start_us <= start_max && last <= busy_us, "{trace}");
        // Each poll but the first follows a wake: no task of the program polls another one.
        assert!(woken == polls - started && wake_us <= wake_max, "{line:?}");
        last = busy_us;
        if slow > 0 {
            slow_in_rows.insert(of, slow);
        }
        assert!(seen.insert(of.to_owned(), [polls, started]).is_none(), "one row of {of}");
    }
    assert_eq!(&seen, expected, "polls and started processes by function and user tag");
    assert_eq!(slow, slow_in_rows, "{trace}");
}

/// Where the function begins: behind its numbers and two blanks.
fn of_at(line: &str) -> usize {
    let end = line.find(|c: char| !c.is_ascii_digit() && c != ' ').expect("a function");
    assert_eq!(line[..end].split_whitespace().count(), 23, "{line:?}");
    end
}

fn every_script(tracer: &str) {
    for (script, check) in
        [("spawn-exit", spawn_exit as fn(&str, &str)), ("process-scheduling", scheduling), ("task_latency", latency)]
    {
        let (trace, said) = traced(tracer, script, "known_tasks", &[COUNT]);
        check(&trace, &said);
    }
    let tagged = |script| traced_with(&["--tag", "request 2"], 0, tracer, script, "known_tasks", &[COUNT]).0;
    let lines = tagged("spawn-exit");
    let [spawns, exits] =
        [" user tag request 2", " reason normal"].map(|end| lines.lines().filter(|line| line.ends_with(end)).count());
    assert_eq!((spawns, exits, lines.lines().count()), (3, 3, 6), "{lines}");
    rows(&tagged("task_latency"), &BTreeMap::from([("known_tasks::turns | request 2".to_owned(), [12, 3])]));
    // With a bound that every poll exceeds.
    let (trace, _) = traced_with(&["--slow", "1ns"], 0, tracer, "task_latency", "known_tasks", &[COUNT]);
    assert_eq!(trace.lines().filter(|line| line.starts_with("slow: ")).count(), 5 * 9, "{trace}");
}

#[test]
fn recorder() {
    every_script("recorder");
}

#[test]
fn bpftrace() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    every_script("bpftrace");
}

#[test]
fn old_bpftrace() {
    let Some(_turn) = turn(OLD_BPFTRACE, true) else { return };
    every_script(OLD_BPFTRACE);
}

#[test]
fn dtrace() {
    let Some(_turn) = turn("dtrace", true) else { return };
    every_script("dtrace");
}

#[test]
fn line_for_line_what_bpftrace_prints() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let [recorded, seen] = ["recorder", "bpftrace"].map(|tracer| traced(tracer, "spawn-exit", "known_tasks", &[]).0);
    assert_eq!(recorded.lines().count(), 30);
    assert_eq!(recorded, seen);
}
