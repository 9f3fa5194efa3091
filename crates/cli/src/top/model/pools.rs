//! Lanes of the pool of I/O threads, and the runtimes' pools of blocking threads.

use std::collections::{BTreeMap, HashMap};

use dyntrace_analysis::render::operation::{number, text};
use dyntrace_reader::{Event, OperationStep};

use super::figures::Jobs;
use super::table::Table;

/// The most threads, and the most closures, that are followed at once.
const FOLLOWED: usize = 1 << 16;

const FILES: &[u8] = b"I/O";
const BLOCKING: &[u8] = b"blocking";

/// The threads and queues of a lane, as the process counts them.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only processes on Linux are asked"))]
pub struct Counted {
    pub queued: u64,
    pub threads: u64,
    pub busy: u64,
}

#[derive(Default)]
pub struct Pools {
    pub by_lane: Table<Jobs>,
    /// By lane of the I/O threads; empty for a trace.
    pub counted: BTreeMap<String, Counted>,
    /// By program and thread.
    workers: HashMap<(u64, u64), Worker>,
    /// By program and process: when a thread took the closure.
    closures: HashMap<(u64, Box<[u8]>), i64>,
    pub left_out: u64,
}

struct Worker {
    lane: &'static [u8],
    /// Since when it runs a job.
    begun: Option<i64>,
}

impl Pools {
    /// Takes the event, if it is of a pool.
    pub fn push(&mut self, event: &Event<'_>) {
        let time = event.time;
        match event.class.operation_step() {
            Some((_, OperationStep::IntEntry)) => return self.job_begins(event),
            Some((_, OperationStep::IntReturn)) => return self.job_ends(event),
            _ => {}
        }
        let Some(probe) = event.class.name.strip_prefix("dyntrace:") else { return };
        match probe {
            "aio_pool-get" => {
                let lane: &[u8] = if number(event, "lane") == 1 { b"fast" } else { b"slow" };
                let length = length(event, "new_queue_length");
                let line = self.by_lane.line([FILES, lane]);
                line.gauge = length;
                // The job that was taken was in the queue.
                line.add(time, |of| of.queue_max = of.queue_max.max(length + 1));
                if self.workers.len() < FOLLOWED {
                    let worker = Worker { lane, begun: None };
                    let before = self.workers.insert((event.process.pid, event.tid), worker);
                    self.ended(before);
                } else {
                    self.left_out += 1;
                }
            }
            "blocking-add" | "blocking-get" | "blocking-done" => self.blocking(event, probe),
            _ => {}
        }
    }

    fn job_begins(&mut self, event: &Event<'_>) {
        if let Some(worker) = self.workers.get_mut(&(event.process.pid, event.tid)) {
            let line = self.by_lane.line([FILES, worker.lane]);
            line.now += i64::from(worker.begun.is_none());
            worker.begun = Some(event.time);
            line.add(event.time, |of| of.jobs += 1);
        }
    }

    fn job_ends(&mut self, event: &Event<'_>) {
        if let Some(worker) = self.workers.get_mut(&(event.process.pid, event.tid))
            && let Some(begun) = worker.begun.take()
        {
            let line = self.by_lane.line([FILES, worker.lane]);
            line.now -= 1;
            line.add(event.time, |of| of.service.count(event.time.saturating_sub(begun)));
        }
    }

    fn blocking(&mut self, event: &Event<'_>, probe: &str) {
        let (time, length) = (event.time, length(event, "queue_length"));
        let id = (event.process.pid, Box::from(&*text(event, "proc")));
        let line = self.by_lane.line([BLOCKING, b""]);
        line.gauge = length;
        line.add(time, |of| of.queue_max = of.queue_max.max(length));
        match probe {
            "blocking-get" if self.closures.len() < FOLLOWED => {
                line.now += 1;
                line.add(time, |of| of.jobs += 1);
                self.closures.insert(id, time);
            }
            "blocking-get" => self.left_out += 1,
            "blocking-done" => {
                if let Some(begun) = self.closures.remove(&id) {
                    line.now -= 1;
                    line.add(time, |of| of.service.count(time.saturating_sub(begun)));
                }
            }
            _ => {}
        }
    }

    /// A thread whose last job has no end in the recording.
    fn ended(&mut self, worker: Option<Worker>) {
        if let Some(Worker { lane, begun: Some(_) }) = worker {
            self.by_lane.line([FILES, lane]).now -= 1;
        }
    }
}

fn length(event: &Event<'_>, field: &str) -> u64 {
    number(event, field).try_into().unwrap_or(0)
}
