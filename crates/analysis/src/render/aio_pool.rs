//! The script `aio_pool`: the pool's threads, and the lengths of its queues.

use std::collections::{BTreeMap, HashMap};

use dyntrace_reader::{Event, OperationStep, Value};
use dyntrace_terminal::escape;

use super::operation::{number, step, text};
use super::way::{Printer, Way};

pub const WAY: Way = Way::Summary {
    probes: &[
        "dyntrace:aio_pool-add",
        "dyntrace:aio_pool-get",
        "dyntrace:efile_drv-int_entry",
        "dyntrace:efile_drv-int_return",
    ],
    begin: |_| Box::<AioPool>::default(),
};

const TITLES: &str = "second jobs       count   mean    max        =1        <8       <64      more\n";
const WORKER_TITLES: &str = "lane  worker             thread      jobs      busy_us\n";

/// The names of [`Jobs`].
const NAMES: [&str; 3] = ["added", "fast", "slow"];

/// How many seconds have lines of their own.
const SECONDS: i64 = 600;

/// Where the columns of lengths end; the last one has no end.
const ENDS: [i64; 3] = [2, 8, 64];

/// In the order of the lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Jobs {
    Added,
    /// Taken, from this lane on.
    Fast,
    Slow,
}

/// The lengths of queues, each with the job that was added or taken.
#[derive(Default)]
struct Lengths {
    count: i64,
    sum: i64,
    max: i64,
    histogram: [u64; ENDS.len() + 1],
}

#[derive(Default)]
struct QueueLengths {
    all: Lengths,
    by_second: BTreeMap<i64, Lengths>,
}

/// A thread that took jobs.
#[derive(Default)]
struct Worker {
    seen: QueueLengths,
    job: Job,
    busy_us: i64,
}

/// The state of the job that a worker took last.
#[derive(Clone, Copy, Default)]
enum Job {
    #[default]
    Taken,
    /// It runs `operations` operations, the first of them since the time `since`.
    Begun {
        operations: u32,
        since: i64,
    },
    Done,
}

#[derive(Default)]
struct AioPool {
    began: Option<i64>,
    added: QueueLengths,
    /// By thread and the lane of its jobs.
    workers: HashMap<(u64, Jobs), Worker>,
    /// The lane of the job that each thread took last.
    lanes: HashMap<u64, Jobs>,
    /// By thread. The recorder writes a name up to 20 ms after the thread's first event; of a program that ends earlier there is none.
    names: HashMap<u64, Vec<u8>>,
}

impl Printer for AioPool {
    fn event(&mut self, event: &Event<'_>, _out: &mut Vec<u8>) {
        match event.class.name.as_str() {
            "recorder:thread" => {
                if let Some(Value::Unsigned(thread)) = event.field("tid") {
                    self.names.insert(thread, text(event, "name").to_vec());
                }
            }
            "dyntrace:aio_pool-add" => {
                let second = self.second(event.time);
                self.added.see(second, number(event, "new_queue_length"));
            }
            "dyntrace:aio_pool-get" => {
                let second = self.second(event.time);
                let lane = if number(event, "lane") == 1 { Jobs::Fast } else { Jobs::Slow };
                self.lanes.insert(event.tid, lane);
                let worker = self.workers.entry((event.tid, lane)).or_default();
                worker.seen.see(second, number(event, "new_queue_length") + 1);
                worker.job = Job::Taken;
            }
            _ => {
                let (Some((step, _)), Some(lane)) = (step(event), self.lanes.get(&event.tid)) else { return };
                let worker = self.workers.entry((event.tid, *lane)).or_default();
                worker.step(step, event.time);
            }
        }
    }

    fn end(&mut self, out: &mut Vec<u8>) {
        let mut seconds = BTreeMap::<(i64, Jobs), Lengths>::new();
        let mut all = BTreeMap::<Jobs, Lengths>::new();
        let mut rows = Vec::new();
        let added = (Jobs::Added, &self.added);
        let taken = self.workers.iter().map(|((thread, lane), worker)| {
            let name = self.names.get(thread).map_or(&b"?"[..], Vec::as_slice);
            rows.push((worker.seen.all.count, *lane, name, *thread, worker.busy_us));
            (*lane, &worker.seen)
        });
        for (jobs, seen) in std::iter::once(added).chain(taken) {
            all.entry(jobs).or_default().add(&seen.all);
            for (second, lengths) in &seen.by_second {
                seconds.entry((*second, jobs)).or_default().add(lengths);
            }
        }
        all.retain(|_, lengths| lengths.count > 0);
        rows.sort_unstable();

        let mut text = WORKER_TITLES.to_owned();
        for (jobs, lane, name, thread, busy_us) in rows {
            let (lane, name) = (NAMES[lane as usize], escape::name(name));
            text += &format!("{lane:<5} {name:<15} {thread:>9} {jobs:>9} {busy_us:>12}\n");
        }
        text += TITLES;
        for ((second, jobs), lengths) in &seconds {
            text += &format!("{second:>6} {}\n", lengths.row(*jobs));
        }
        for (jobs, lengths) in &all {
            text += &format!("   all {}\n", lengths.row(*jobs));
        }
        out.extend_from_slice(text.as_bytes());
    }
}

impl AioPool {
    /// Seconds since the first job.
    fn second(&mut self, time: i64) -> i64 {
        (time - *self.began.get_or_insert(time)) / 1_000_000_000
    }
}

impl QueueLengths {
    fn see(&mut self, second: i64, length: i64) {
        self.all.see(length);
        if second < SECONDS {
            self.by_second.entry(second).or_default().see(length);
        }
    }
}

impl Worker {
    /// Operations that share a system call begin and end together: they count once, from the first begin to the last end.
    fn step(&mut self, step: OperationStep, time: i64) {
        self.job = match (step, self.job) {
            (OperationStep::IntEntry, Job::Taken) => Job::Begun { operations: 1, since: time },
            (OperationStep::IntEntry, Job::Begun { operations, since }) => {
                Job::Begun { operations: operations + 1, since }
            }
            (OperationStep::IntReturn, Job::Begun { operations: 1, since }) => {
                self.busy_us += (time - since + 500) / 1000;
                Job::Done
            }
            (OperationStep::IntReturn, Job::Begun { operations, since }) => {
                Job::Begun { operations: operations - 1, since }
            }
            (_, job) => job,
        };
    }
}

impl Lengths {
    fn see(&mut self, length: i64) {
        self.count += 1;
        self.sum += length;
        self.max = self.max.max(length);
        self.histogram[ENDS.partition_point(|end| *end <= length)] += 1;
    }

    fn add(&mut self, other: &Lengths) {
        self.count += other.count;
        self.sum += other.sum;
        self.max = self.max.max(other.max);
        self.histogram.iter_mut().zip(other.histogram).for_each(|(count, other)| *count += other);
    }

    fn row(&self, jobs: Jobs) -> String {
        let [alone, below_8, below_64, more] = self.histogram;
        let (jobs, count, mean, max) = (NAMES[jobs as usize], self.count, self.sum / self.count, self.max);
        format!("{jobs:<6} {count:>9} {mean:>6} {max:>6} {alone:>9} {below_8:>9} {below_64:>9} {more:>9}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_of_lengths_ends_before_its_title() {
        let mut lengths = Lengths::default();
        for length in [1, 1, 2, 7, 8, 63, 64, 1 << 20] {
            lengths.see(length);
        }
        assert_eq!(lengths.histogram, [2, 2, 2, 2]);
    }

    #[test]
    fn operations_that_share_a_call_are_counted_once() {
        let mut worker = Worker::default();
        let steps = [
            (OperationStep::IntEntry, 0),
            (OperationStep::IntEntry, 1),
            (OperationStep::IntReturn, 5_000),
            (OperationStep::IntReturn, 6_000),
        ];
        for (step, time) in steps {
            worker.step(step, time);
        }
        assert_eq!(worker.busy_us, 6);
    }
}
