//! The script `task_latency`: the poll times of each function and user tag, and slow polls.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::Event;
use dyntrace_terminal::escape;

use super::operation::{Process, number, plain_text, process, text};
use super::times::{TITLES, Times};
use super::way::{Printer, Way};

pub const WAY: Way = Way::Summary {
    probes: &[
        "dyntrace:process-spawn",
        "dyntrace:process-wake",
        "dyntrace:process-scheduled",
        "dyntrace:process-unscheduled",
        "dyntrace:process-exit",
    ],
    begin: |settings| Box::new(Latency { slow: settings.slow, ..Latency::default() }),
};

/// A function and a user tag.
type Key = (Vec<u8>, Vec<u8>);

#[derive(Default)]
struct Polls {
    times: Times,
    slow: u64,
    /// From spawn to first poll.
    starts: Times,
    /// From the first wake since the poll before to the poll.
    wakes: Times,
}

#[derive(Default)]
struct Latency {
    /// In nanoseconds.
    slow: i64,
    /// When processes were spawned that have not been polled.
    spawned: HashMap<Process, i64>,
    /// When processes were woken that have not been polled since.
    woken: HashMap<Process, i64>,
    /// The user tags of the processes that have one.
    tags: HashMap<Process, Vec<u8>>,
    /// The functions of the processes that are being polled.
    polled: HashMap<Process, Vec<u8>>,
    polls: BTreeMap<Key, Polls>,
}

impl Latency {
    fn polls(&mut self, process: &Process, function: &[u8]) -> &mut Polls {
        let tag = self.tags.get(process).cloned().unwrap_or_default();
        self.polls.entry((function.to_vec(), tag)).or_default()
    }

    fn ended(&mut self, event: &Event<'_>, process: &Process, out: &mut Vec<u8>) {
        let Some(function) = self.polled.remove(process) else { return };
        let (polled, slow) = (number(event, "polled"), self.slow);
        let polls = self.polls(process, &function);
        polls.times.add(polled);
        if polled < slow {
            return;
        }
        polls.slow += 1;
        let tag = self.tags.get(process).map_or(&b""[..], Vec::as_slice);
        let outcome = plain_text(event, "outcome");
        let [proc, outcome, function, tag] = [&process.1, outcome, &function, tag].map(escape::name);
        let line = format!("slow: {proc} polled {} us outcome {outcome}: {function} | {tag}\n", polled / 1000);
        out.extend_from_slice(line.as_bytes());
    }
}

impl Printer for Latency {
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>) {
        let process = process(event, "proc");
        match event.class.probe() {
            "process-spawn" => {
                let tag = text(event, "user_tag");
                if !tag.is_empty() {
                    self.tags.insert(process.clone(), tag.to_vec());
                }
                self.spawned.insert(process, event.time);
            }
            "process-scheduled" => {
                let function = plain_text(event, "fun");
                let (spawned, woken) = (self.spawned.remove(&process), self.woken.remove(&process));
                let polls = self.polls(&process, function);
                if let Some(spawned) = spawned {
                    polls.starts.add(event.time.saturating_sub(spawned).max(0));
                }
                if let Some(woken) = woken {
                    polls.wakes.add(event.time.saturating_sub(woken).max(0));
                }
                self.polled.insert(process, function.to_vec());
            }
            "process-wake" => {
                self.woken.entry(process).or_insert(event.time);
            }
            "process-unscheduled" => self.ended(event, &process, out),
            "process-exit" => {
                self.tags.remove(&process);
                self.spawned.remove(&process);
                self.woken.remove(&process);
            }
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let titles = format!(
            "   busy_us    polls   mean_us    max_us   slow {TITLES}  \
             started  start_us start_max    woken   wake_us  wake_max  function | user tag\n"
        );
        out.extend_from_slice(titles.as_bytes());
        let mut rows: Vec<_> = self.polls.iter().collect();
        rows.sort_by_key(|(_, polls)| polls.times.sum);
        for ((function, tag), Polls { times, slow, starts, wakes }) in rows {
            let row = format!(
                "{} {slow:>6}{} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9}  {} | {}\n",
                times.sums(),
                times.columns(),
                starts.count,
                starts.mean_us(),
                starts.max_us,
                wakes.count,
                wakes.mean_us(),
                wakes.max_us,
                escape::name(function),
                escape::name(tag)
            );
            out.extend_from_slice(row.as_bytes());
        }
    }
}
