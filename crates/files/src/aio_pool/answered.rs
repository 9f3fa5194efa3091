//! Counts of operations that a driver answered without a job.
//!
//! They are counted on the tasks' threads, several at once, for answers that take less than a microsecond. So there is no lock: each thread
//! adds to one of some stripes, which lie in cache lines of their own. There is one for each core: where cores change a line in turn, they
//! wait for it longer than an answer takes (`ci/bench scale`).

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use super::counts::add;
use super::metrics::CommandMetrics;

/// An operation that was answered.
pub(crate) struct Answer {
    /// The driver and the command: [`CommandMetrics`].
    pub name: (&'static str, &'static str),
    pub succeeded: bool,
    pub bytes: u64,
    pub took: Duration,
}

/// The counts of a pool, for up to [`Answered::COMMANDS`] commands.
pub(super) struct Answered {
    names: [OnceLock<(&'static str, &'static str)>; Answered::COMMANDS],
    /// A power of two.
    stripes: Box<[Stripe]>,
}

#[derive(Default)]
#[repr(align(128))]
struct Stripe([Sums; Answered::COMMANDS]);

// Relaxed, everywhere: each number stands for itself.
#[derive(Default)]
struct Sums {
    operations: AtomicU64,
    errors: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Answered {
    pub const COMMANDS: usize = 16;

    pub fn new() -> Answered {
        let cores = if cfg!(loom) { 1 } else { thread::available_parallelism().map_or(1, usize::from) };
        let stripes = (0..cores.next_power_of_two()).map(|_| Stripe::default()).collect();
        Answered { names: Default::default(), stripes }
    }

    /// Counts an operation of the command with this number, always the same for one name. `thread` is the caller's number.
    #[inline]
    pub fn count(&self, command: usize, thread: usize, answer: &Answer) {
        self.names[command].get_or_init(|| answer.name);
        let sums = &self.stripes[thread & (self.stripes.len() - 1)].0[command];
        sums.operations.fetch_add(1, Ordering::Relaxed);
        sums.nanoseconds.fetch_add(answer.took.as_nanos() as u64, Ordering::Relaxed);
        if !answer.succeeded {
            sums.errors.fetch_add(1, Ordering::Relaxed);
        }
        if answer.bytes > 0 {
            sums.bytes.fetch_add(answer.bytes, Ordering::Relaxed);
        }
    }

    /// Adds the counts to those of all commands.
    pub fn add_to(&self, all: &mut Vec<CommandMetrics>) {
        for (command, name) in self.names.iter().enumerate() {
            let Some(&(driver, command_name)) = name.get() else { continue };
            for Stripe(sums) in &*self.stripes {
                let count = |number: &AtomicU64| number.load(Ordering::Relaxed);
                let sums = &sums[command];
                let sums = CommandMetrics {
                    driver,
                    command: command_name,
                    operations: count(&sums.operations),
                    errors: count(&sums.errors),
                    bytes: count(&sums.bytes),
                    service: Duration::from_nanos(count(&sums.nanoseconds)),
                };
                add(all, &sums);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_all_threads_are_added_to_what_jobs_did() {
        let answered = Answered::new();
        let answer =
            |name, succeeded| Answer { name: ("own", name), succeeded, bytes: 3, took: Duration::from_nanos(5) };
        (1..=10).for_each(|thread| answered.count(0, thread, &answer("SEND", thread != 4)));
        answered.count(7, 1, &answer("LAST", true));
        let (operations, errors, bytes) = (1, 1, 1);
        let service = Duration::from_nanos(1);
        let mut all = vec![CommandMetrics { driver: "own", command: "SEND", operations, errors, bytes, service }];
        answered.add_to(&mut all);
        let shown: Vec<_> = all
            .iter()
            .map(|sums| (sums.command, sums.operations, sums.errors, sums.bytes, sums.service.as_nanos()))
            .collect();
        assert_eq!(shown, [("SEND", 11, 2, 31, 51), ("LAST", 1, 0, 3, 5)]);
    }
}
