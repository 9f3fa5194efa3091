//! The scripts about waits, compared with the program's own count: `known_waits` waits a known number of times in each way, and gives the
//! blocking pool a known number of jobs.

use std::collections::{BTreeMap, BTreeSet};

use crate::machine::{OLD_BPFTRACE, turn};
use crate::programs::{traced, traced_with};

/// How many of each kind the program has.
pub const COUNT: &str = "5";

const HISTOGRAM: &str = "<1us <4us <16us <64us <256us <1ms <4ms <16ms <64ms <256ms <1s more";
const OF_JOBS: &str =
    "busy_us jobs mean_us max_us HISTOGRAM panicked running taken queue_us queue_max length cancelled queued";
const OF_WAITS: &str = "waited_us waits mean_us max_us HISTOGRAM cancelled panicked waiting";
const OF_RESOURCES: &str = "process waited_us waits max_us waiting";
const OF_WAITERS: &str = "process waited_us waits max_us";

/// The numbers of a row by their titles, except those that are 0.
type Numbers = BTreeMap<String, u64>;

/// A row: the names behind its numbers, and the numbers.
struct Row<'t> {
    names: Vec<&'t str>,
    numbers: Numbers,
}

impl Row<'_> {
    fn number(&self, title: &str) -> u64 {
        self.numbers.get(title).copied().unwrap_or(0)
    }

    /// The row has `count` times, each in one column of its histogram.
    fn check_times(&self, count: &str, [sum, mean, max]: [&str; 3], said: &str) {
        let [count, sum, mean, max] = [count, sum, mean, max].map(|title| self.number(title));
        let columns: u64 = HISTOGRAM.split(' ').map(|title| self.number(title)).sum();
        assert_eq!(columns, count, "{said}");
        assert!(mean <= max && max <= sum && mean * count <= sum, "{said}");
    }
}

/// Reads a table whose rows have these numbers before their names.
fn table<'t>(trace: &'t str, numbers: &str, names: &str) -> Vec<Row<'t>> {
    let numbers = numbers.replace("HISTOGRAM", HISTOGRAM);
    let mut lines = trace.lines().filter(|line| !line.is_empty());
    let titles: Vec<&str> = lines.next().expect("titles").split_whitespace().collect();
    assert_eq!(titles.join(" "), format!("{numbers} {names}"));
    let row = |line: &'t str| {
        let end = line.find(|c: char| !c.is_ascii_digit() && c != ' ').expect("a name");
        let words: Vec<&str> = line[..end].split_whitespace().collect();
        let titles: Vec<&str> = numbers.split(' ').collect();
        assert_eq!(words.len(), titles.len(), "{line:?}");
        let number = |(title, word): (&&str, &&str)| ((*title).to_owned(), word.parse().expect("a number"));
        let mut numbers: Numbers = titles.iter().zip(&words).map(number).collect();
        numbers.retain(|_, number| *number > 0);
        let found: Vec<&str> = line[end..].split(" | ").collect();
        assert_eq!(found.len(), names.split(" | ").count(), "{line:?}");
        Row { names: found, numbers }
    };
    let rows: Vec<Row<'t>> = lines.map(row).collect();
    let places: BTreeSet<&Vec<&str>> = rows.iter().map(|row| &row.names).collect();
    assert_eq!(places.len(), rows.len(), "each row has names of its own: {trace}");
    rows
}

/// The program's counts.
fn known(said: &str, of: &str) -> BTreeMap<String, Numbers> {
    let mut said: BTreeMap<String, BTreeMap<String, Numbers>> =
        serde_json::from_str(said).expect("known_waits prints JSON");
    said.remove(of).expect("its counts")
}

/// `blocking_pool`: a row for each function and place, in the order of their times.
pub fn blocking_pool(trace: &str, said: &str) {
    jobs(trace, &known(said, "jobs"));
}

fn jobs(trace: &str, expected: &BTreeMap<String, Numbers>) {
    let (mut seen, mut last) = (BTreeMap::<String, Numbers>::new(), 0);
    for row in table(trace, OF_JOBS, "function | place") {
        row.check_times("jobs", ["busy_us", "mean_us", "max_us"], trace);
        assert!(row.number("queue_us") <= row.number("queue_max") && last <= row.number("busy_us"), "{trace}");
        last = row.number("busy_us");
        assert_eq!(row.number("taken"), row.number("jobs") + row.number("running"), "{trace}");
        let [function, place] = row.names[..] else { panic!("{:?}", row.names) };
        assert!(place.contains("crates/cli/examples/known_waits.rs:"), "{place:?}");
        // Closures have one name, and places of their own.
        let counts = seen.entry(function.to_owned()).or_default();
        for title in ["jobs", "panicked", "running", "cancelled", "queued"] {
            *counts.entry(title.to_owned()).or_default() += row.number(title);
        }
        let length = counts.entry("length".to_owned()).or_default();
        *length = row.number("length").max(*length);
        counts.retain(|_, count| *count > 0);
    }
    assert_eq!(&seen, expected, "{trace}");
}

/// `task_waits`: its three tables, each in the order of their times.
pub fn task_waits(trace: &str, said: &str) {
    waits(trace, &known(said, "waits"), &known(said, "waiters"));
}

fn waits(trace: &str, kinds: &BTreeMap<String, Numbers>, waiters: &BTreeMap<String, Numbers>) {
    // DTrace may print empty lines before the first.
    let (all, tables) = trace.trim_start().split_once('\n').expect("lines");
    let lines: Vec<&str> = tables.lines().filter(|line| !line.is_empty()).collect();
    let begin = |name: &str| lines.iter().position(|line| line.ends_with(name)).expect("titles");
    let [of_resources, of_waiters] = ["  resource | kind", "  function | user tag"].map(begin);
    let [first, second, third] =
        [&lines[..of_resources], &lines[of_resources..of_waiters], &lines[of_waiters..]].map(|lines| lines.join("\n"));
    let [of_kinds, of_resources, of_waiters] = [
        table(&first, OF_WAITS, "kind | place"),
        table(&second, OF_RESOURCES, "resource | kind"),
        table(&third, OF_WAITERS, "function | user tag"),
    ];
    let sum = |title: &str| kinds.values().filter_map(|numbers| numbers.get(title)).sum::<u64>();
    let [ended, last] = ["waits", "waiting"].map(sum);
    assert_eq!(all, format!("waits: {ended} ended, {last} last, 0 not followed"));
    for rows in [&of_kinds, &of_resources, &of_waiters] {
        let times: Vec<u64> = rows.iter().map(|row| row.number("waited_us")).collect();
        assert!(times.is_sorted() && rows.iter().all(|row| row.number("max_us") <= row.number("waited_us")), "{trace}");
    }
    for row in &of_kinds {
        row.check_times("waits", ["waited_us", "mean_us", "max_us"], trace);
        assert!(row.names[1].contains("crates/cli/examples/known_waits.rs:"), "{trace}");
    }
    let counted = ["waits", "cancelled", "panicked", "waiting"];
    assert_eq!(&by_name(&of_kinds, 0, &counted), kinds, "{trace}");
    let mut of_each_kind = kinds.clone();
    of_each_kind.values_mut().for_each(|numbers| numbers.retain(|title, _| ["waits", "waiting"].contains(&&**title)));
    assert_eq!(by_name(&of_resources, 1, &["waits", "waiting"]), of_each_kind, "{trace}");
    for row in &of_resources {
        let is_numbered = row.names[0].starts_with("#Ref<0.");
        assert_eq!(is_numbered, row.names[1].contains("::") && row.names[1] != "time::sleep", "{trace}");
        assert!(is_numbered || ["timer", "oven", "closing time"].contains(&row.names[0]), "{trace}");
    }
    assert_eq!(&by_name(&of_waiters, 0, &["waits"]), waiters, "{trace}");
    let programs: BTreeSet<u64> = of_resources.iter().chain(&of_waiters).map(|row| row.number("process")).collect();
    assert_eq!(programs.len(), 1, "{trace}");
}

/// The sums of these numbers of the rows, by one of their names.
fn by_name(rows: &[Row<'_>], name: usize, titles: &[&str]) -> BTreeMap<String, Numbers> {
    let mut sums = BTreeMap::<String, Numbers>::new();
    for row in rows {
        let sums = sums.entry(row.names[name].to_owned()).or_default();
        for title in titles {
            *sums.entry((*title).to_owned()).or_default() += row.number(title);
        }
        sums.retain(|_, sum| *sum > 0);
    }
    sums
}

fn every_script(tracer: &str) {
    let (trace, said) = traced(tracer, "task_waits", "known_waits", &[COUNT]);
    task_waits(&trace, &said);
    let (trace, _) = traced_with(&["--tag", "request 2"], 0, tracer, "task_waits", "known_waits", &[COUNT]);
    // Three of the five tasks of each function have the tag.
    let of = |counts: &[&str]| -> Numbers { counts.iter().map(|title| ((*title).to_owned(), 3)).collect() };
    let named = |rows: &[(&str, &[&str])]| rows.iter().map(|(name, counts)| ((*name).to_owned(), of(counts))).collect();
    let kinds = named(&[
        ("Mutex::lock", &["waits"]),
        ("time::sleep", &["waits"]),
        ("Notify::notified", &["waits", "cancelled"]),
        ("wait", &["waits", "panicked"]),
        ("Semaphore::acquire", &["waiting"]),
    ]);
    let functions = ["locks", "naps", "rings", "burns"].map(|name| (format!("known_waits::{name}"), of(&["waits"])));
    waits(&trace, &kinds, &functions.into());
    let (trace, said) = traced(tracer, "blocking_pool", "known_waits", &[COUNT]);
    blocking_pool(&trace, &said);
    assert_eq!(table(&trace, OF_JOBS, "function | place").len(), 6, "{trace}");
    let (trace, _) = traced_with(&["--tag", "request 2"], 0, tracer, "blocking_pool", "known_waits", &[COUNT]);
    let of_tag = [("jobs".to_owned(), 3), ("length".to_owned(), 5)];
    jobs(&trace, &BTreeMap::from([("known_waits::reads".to_owned(), of_tag.into())]));
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
