//! The script `blocking_pool`: jobs of the blocking pool by function and place, their time in the queue, and their time of running.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::Event;
use dyntrace_terminal::escape;

use super::operation::{Process, number, plain_text, process};
use super::times::{TITLES, Times};
use super::way::{Printer, Way};

pub const WAY: Way = Way::Summary {
    probes: &[
        "dyntrace:process-spawn",
        "dyntrace:process-exit",
        "dyntrace:blocking-add",
        "dyntrace:blocking-get",
        "dyntrace:blocking-done",
    ],
    begin: |_| Box::<Pool>::default(),
};

/// A function, and the place that started its jobs.
type Key = (Vec<u8>, Vec<u8>);

/// A job that has not ended.
struct Job {
    key: Key,
    stage: Stage,
    /// When the stage began.
    since: i64,
}

#[derive(Clone, Copy)]
enum Stage {
    Queued,
    Runs,
}

#[derive(Default)]
struct Jobs {
    runs: Times,
    queue: Times,
    /// The longest queue.
    length: i64,
    panicked: u64,
    cancelled: u64,
    queued: u64,
    running: u64,
}

#[derive(Default)]
struct Pool {
    places: HashMap<Process, Vec<u8>>,
    unended: HashMap<Process, Job>,
    jobs: BTreeMap<Key, Jobs>,
}

impl Pool {
    fn added(&mut self, event: &Event<'_>, process: Process) {
        let place = self.places.get(&process).cloned().unwrap_or_default();
        let key = (plain_text(event, "fun").to_vec(), place);
        let jobs = self.jobs.entry(key.clone()).or_default();
        jobs.length = jobs.length.max(number(event, "queue_length"));
        self.unended.insert(process, Job { key, stage: Stage::Queued, since: event.time });
    }

    fn taken(&mut self, event: &Event<'_>, process: &Process) {
        let Some(job) = self.unended.get_mut(process) else { return };
        let Stage::Queued = job.stage else { return };
        let jobs = self.jobs.entry(job.key.clone()).or_default();
        jobs.queue.add(event.time.saturating_sub(job.since).max(0));
        (job.stage, job.since) = (Stage::Runs, event.time);
    }

    fn ended(&mut self, event: &Event<'_>, process: &Process) {
        let Some(Job { key, stage, since }) = self.unended.remove(process) else { return };
        let jobs = self.jobs.entry(key).or_default();
        match stage {
            Stage::Queued => jobs.cancelled += 1,
            Stage::Runs => {
                jobs.runs.add(event.time.saturating_sub(since).max(0));
                jobs.panicked += u64::from(plain_text(event, "reason") == b"panic");
            }
        }
    }
}

impl Printer for Pool {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        let process = process(event, "proc");
        match event.class.probe() {
            "process-spawn" => {
                self.places.insert(process, plain_text(event, "place").to_vec());
            }
            "process-exit" => {
                self.places.remove(&process);
            }
            "blocking-add" => self.added(event, process),
            "blocking-get" => self.taken(event, &process),
            "blocking-done" => self.ended(event, &process),
            _ => {}
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        for Job { key, stage, .. } in self.unended.values() {
            let jobs = self.jobs.entry(key.clone()).or_default();
            match stage {
                Stage::Queued => jobs.queued += 1,
                Stage::Runs => jobs.running += 1,
            }
        }
        let titles = format!(
            "   busy_us     jobs   mean_us    max_us {TITLES} \
             panicked running    taken  queue_us queue_max length cancelled queued  function | place\n"
        );
        out.extend_from_slice(titles.as_bytes());
        let mut rows: Vec<_> = self.jobs.iter().collect();
        rows.sort_by_key(|(_, jobs)| jobs.runs.sum);
        for ((function, place), jobs) in rows {
            let Jobs { runs, queue, length, panicked, cancelled, queued, running } = jobs;
            let row = format!(
                "{}{} {panicked:>8} {running:>7} {:>8} {:>9} {:>9} {length:>6} {cancelled:>9} {queued:>6}  \
                 {} | {}\n",
                runs.sums(),
                runs.columns(),
                queue.count,
                queue.mean_us(),
                queue.max_us,
                escape::name(function),
                escape::name(place)
            );
            out.extend_from_slice(row.as_bytes());
        }
    }
}
