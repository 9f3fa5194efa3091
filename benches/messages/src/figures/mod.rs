//! The measurements: nanoseconds a message, or a round trip.

mod actors;
mod channels;

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};
use tokio::runtime::{Builder, Runtime};

pub use actors::{asks, tells};
pub use channels::{ping_pong, throughput};

/// The runtime of the tasks.
#[derive(Clone, Copy)]
pub enum Threads {
    One,
    Two,
}

impl Threads {
    fn runtime(self) -> Runtime {
        match self {
            Threads::One => Builder::new_current_thread().build(),
            Threads::Two => Builder::new_multi_thread().worker_threads(2).build(),
        }
        .expect("a runtime")
    }

    /// For one thread this is its CPU time, as it never waits for others: other programs then do not count.
    fn clock(self) -> Clock {
        match self {
            Threads::One => Clock::Computed(computed()),
            Threads::Two => Clock::Passed(Instant::now()),
        }
    }
}

/// The start of the measurement.
enum Clock {
    Computed(f64),
    Passed(Instant),
}

impl Clock {
    /// Returns nanoseconds for each of `count`.
    fn each(self, count: u64) -> f64 {
        let took = match self {
            Clock::Computed(before) => computed() - before,
            Clock::Passed(started) => started.elapsed().as_nanos() as f64,
        };
        took / count as f64
    }
}

/// Returns the CPU time of the current thread in nanoseconds.
fn computed() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}
