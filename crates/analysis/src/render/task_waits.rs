//! The script `task_waits`: waits by kind and place, by resource, and by the function and user tag of the process that waits.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::Event;
use dyntrace_terminal::escape;

use super::operation::{Process, number, plain_text, process, text};
use super::times::{TITLES, Times};
use super::way::{Printer, Way};

pub const WAY: Way = Way::Summary {
    probes: &["dyntrace:process-spawn", "dyntrace:process-exit", "dyntrace:process-wait", "dyntrace:process-resume"],
    begin: |_| Box::<Waits>::default(),
};

/// The most waits that are followed at once, if no process waits for a resource twice.
const FOLLOWED: usize = 16384;
/// The most rows of a table that can grow with the program's requests; [`OTHERS`] has the rest.
const ROWS: usize = 1000;
const OTHERS: &[u8] = b"others";

/// The kind and the place of a wait.
type Key = (Vec<u8>, Vec<u8>);

/// The pid of the program, and the two names of a row.
type Row = (u64, Vec<u8>, Vec<u8>);

/// The waits of a row.
#[derive(Default)]
struct Sums {
    ended: Times,
    cancelled: u64,
    panicked: u64,
    waiting: u64,
}

impl Sums {
    fn add(&mut self, waited: i64, outcome: &[u8]) {
        self.ended.add(waited);
        self.cancelled += u64::from(outcome == b"cancelled");
        self.panicked += u64::from(outcome == b"panic");
    }
}

#[derive(Default)]
struct Waits {
    /// The functions and user tags of processes whose spawn was seen.
    of: HashMap<Process, (Vec<u8>, Vec<u8>)>,
    /// How many waits of a process for a resource last.
    lasting: HashMap<(Process, Vec<u8>), u64>,
    all: Sums,
    unfollowed: u64,
    kinds: BTreeMap<Key, Sums>,
    resources: BTreeMap<Row, Sums>,
    waiters: BTreeMap<Row, Sums>,
}

/// The sums of a row, or, of a new one that the table has no room for, those of `others`.
fn sums(table: &mut BTreeMap<Row, Sums>, row: Row, others: impl FnOnce(Row) -> Row) -> &mut Sums {
    let row = if table.len() < ROWS || table.contains_key(&row) { row } else { others(row) };
    table.entry(row).or_default()
}

impl Waits {
    fn resource(&mut self, program: u64, name: &[u8], kind: &[u8]) -> &mut Sums {
        let other = |(program, _, kind)| (program, OTHERS.to_vec(), kind);
        sums(&mut self.resources, (program, name.to_vec(), kind.to_vec()), other)
    }

    fn began(&mut self, event: &Event<'_>, process: Process) {
        let [name, kind, place] = ["resource", "kind", "place"].map(|field| plain_text(event, field));
        let program = process.0;
        let wait = (process, name.to_vec());
        if self.lasting.len() >= FOLLOWED && !self.lasting.contains_key(&wait) {
            self.unfollowed += 1;
            return;
        }
        *self.lasting.entry(wait).or_default() += 1;
        self.all.waiting += 1;
        self.kinds.entry((kind.to_vec(), place.to_vec())).or_default().waiting += 1;
        self.resource(program, name, kind).waiting += 1;
    }

    fn ended(&mut self, event: &Event<'_>, process: Process) {
        let [name, kind, place] = ["resource", "kind", "place"].map(|field| plain_text(event, field));
        let (waited, outcome) = (number(event, "waited"), plain_text(event, "outcome"));
        let program = process.0;
        let (function, tag) = self.of.get(&process).cloned().unwrap_or_else(|| (process.1.clone(), Vec::new()));
        let other = |(program, _, _)| (program, OTHERS.to_vec(), Vec::new());
        sums(&mut self.waiters, (program, function, tag), other).add(waited, outcome);
        // Other waits began before the trace.
        let is_followed = self.is_followed((process, name.to_vec()));
        let kinds = self.kinds.entry((kind.to_vec(), place.to_vec())).or_default();
        kinds.add(waited, outcome);
        kinds.waiting = kinds.waiting.saturating_sub(u64::from(is_followed));
        let resource = self.resource(program, name, kind);
        resource.add(waited, outcome);
        resource.waiting = resource.waiting.saturating_sub(u64::from(is_followed));
        self.all.add(waited, outcome);
        self.all.waiting -= u64::from(is_followed);
    }

    /// Whether the beginning of the wait that ends was seen.
    fn is_followed(&mut self, wait: (Process, Vec<u8>)) -> bool {
        let Some(lasting) = self.lasting.get_mut(&wait) else { return false };
        *lasting -= 1;
        if *lasting == 0 {
            self.lasting.remove(&wait);
        }
        true
    }

    fn print_kinds(&self, out: &mut Vec<u8>) {
        let titles = format!(
            "\n{:>10} {:>8} {:>9} {:>9} {TITLES} {:>9} {:>8} {:>7}  kind | place\n",
            "waited_us", "waits", "mean_us", "max_us", "cancelled", "panicked", "waiting"
        );
        out.extend_from_slice(titles.as_bytes());
        for ((kind, place), sums) in in_order(&self.kinds) {
            let Sums { ended, cancelled, panicked, waiting } = sums;
            let row = format!(
                "{}{} {cancelled:>9} {panicked:>8} {waiting:>7}  {} | {}\n",
                ended.sums(),
                ended.columns(),
                escape::name(kind),
                escape::name(place)
            );
            out.extend_from_slice(row.as_bytes());
        }
    }
}

/// The rows, the longest waits last.
fn in_order<K: Ord>(table: &BTreeMap<K, Sums>) -> Vec<(&K, &Sums)> {
    let mut rows: Vec<_> = table.iter().collect();
    rows.sort_by_key(|(_, sums)| sums.ended.sum);
    rows
}

/// Appends a table; `waiting` has a column if it is counted.
fn print(titles: &str, table: &BTreeMap<Row, Sums>, counts_waiting: bool, out: &mut Vec<u8>) {
    let column = |text: &str| if counts_waiting { format!(" {text:>7}") } else { String::new() };
    let titles = format!(
        "\n{:>7} {:>10} {:>8} {:>9}{}  {titles}\n",
        "process",
        "waited_us",
        "waits",
        "max_us",
        column("waiting")
    );
    out.extend_from_slice(titles.as_bytes());
    for ((program, name, of), sums) in in_order(table) {
        let row = format!(
            "{program:>7} {:>10} {:>8} {:>9}{}  {} | {}\n",
            sums.ended.sum / 1000,
            sums.ended.count,
            sums.ended.max_us,
            column(&sums.waiting.to_string()),
            escape::name(name),
            escape::name(of)
        );
        out.extend_from_slice(row.as_bytes());
    }
}

impl Printer for Waits {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        let process = process(event, "proc");
        match event.class.probe() {
            "process-spawn" => {
                let of = (plain_text(event, "fun").to_vec(), text(event, "user_tag").to_vec());
                self.of.insert(process, of);
            }
            "process-exit" => {
                self.of.remove(&process);
            }
            "process-wait" => self.began(event, process),
            "process-resume" => self.ended(event, process),
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let (ended, last, unfollowed) = (self.all.ended.count, self.all.waiting, self.unfollowed);
        out.extend_from_slice(format!("waits: {ended} ended, {last} last, {unfollowed} not followed\n").as_bytes());
        self.print_kinds(out);
        print("resource | kind", &self.resources, true, out);
        print("function | user tag", &self.waiters, false, out);
    }
}
