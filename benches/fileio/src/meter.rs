//! Measures resources of the process between two instants, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use std::{fs, io};

use nix::sys::resource::{Usage, UsageWho, getrusage};

const MEASURED: u8 = 1;
const OVER: u8 = 2;

/// The phase of the run, for tasks: 0 is the warm-up.
#[derive(Default)]
pub struct Phase(AtomicU8);

impl Phase {
    pub fn is_measured(&self) -> bool {
        self.0.load(Relaxed) == MEASURED
    }

    pub fn is_over(&self) -> bool {
        self.0.load(Relaxed) == OVER
    }
}

pub struct Reading {
    pub wall: Duration,
    /// User and system time of all threads.
    pub cpu: Duration,
    /// Context switches of all threads.
    pub switches: i64,
    /// The maximum number of threads, without the meter's own.
    pub threads: usize,
}

pub struct Meter(JoinHandle<Reading>);

impl Meter {
    /// Sets the phase for the tasks: measures after a warm-up of a fifth of the time.
    pub fn start(phase: &Arc<Phase>, measured: Duration) -> Meter {
        let phase = Arc::clone(phase);
        Meter(thread::spawn(move || watch(&phase, measured)))
    }

    pub fn reading(self) -> Reading {
        self.0.join().expect("the meter does not panic")
    }
}

fn watch(phase: &Phase, measured: Duration) -> Reading {
    thread::sleep(measured / 5);
    let (from, before) = (Instant::now(), usage());
    phase.0.store(MEASURED, Relaxed);
    let mut threads = 0;
    while from.elapsed() < measured {
        thread::sleep((measured - from.elapsed().min(measured)).min(measured / 20));
        threads = threads.max(other_threads().unwrap_or(0));
    }
    phase.0.store(OVER, Relaxed);
    let (wall, after) = (from.elapsed(), usage());
    let switches = |usage: &Usage| usage.voluntary_context_switches() + usage.involuntary_context_switches();
    Reading { wall, cpu: cpu(&after) - cpu(&before), switches: switches(&after) - switches(&before), threads }
}

fn usage() -> Usage {
    getrusage(UsageWho::RUSAGE_SELF).expect("getrusage knows this process")
}

fn cpu(usage: &Usage) -> Duration {
    let microseconds = [usage.user_time(), usage.system_time()].map(|time| time.tv_sec() * 1_000_000 + time.tv_usec());
    Duration::from_micros(microseconds.iter().sum::<i64>() as u64)
}

fn other_threads() -> io::Result<usize> {
    let status = fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("Threads:"));
    Ok(line.and_then(|count| count.trim().parse::<usize>().ok()).map_or(0, |count| count - 1))
}
