//! Counts of operations by command. Each worker has its own, which it adds to the pool's before each batch: counting an operation takes
//! no lock and no atomic step.

use std::mem;
use std::ptr;
use std::time::Duration;

use super::metrics::CommandMetrics;

/// Counts the operations of a job ([`Job::count`](super::Job::count)).
#[derive(Debug, Default)]
pub struct Counts {
    /// The commands that the thread has counted. They stay, so that counting allocates nothing.
    commands: Vec<Counted>,
    /// The command that was counted last: the next one is likely to be the same.
    last: usize,
    /// The commands of the job that ran last, until its time is known.
    untimed: Vec<usize>,
}

#[derive(Debug)]
struct Counted {
    driver: &'static str,
    command: &'static str,
    /// Since they were last added to the pool's.
    operations: u64,
    errors: u64,
    bytes: u64,
    nanoseconds: u64,
    /// The position among the pool's.
    at: Option<usize>,
}

impl Counts {
    /// Counts one operation: its driver, such as the prefix of its probes, and the name of its command. `bytes` is how many it moved.
    #[inline]
    pub fn add(&mut self, driver: &'static str, command: &'static str, succeeded: bool, bytes: u64) {
        if !self.commands.get(self.last).is_some_and(|counted| counted.is(driver, command)) {
            self.last = self.find(driver, command);
        }
        let counted = &mut self.commands[self.last];
        counted.operations += 1;
        counted.errors += u64::from(!succeeded);
        counted.bytes = counted.bytes.saturating_add(bytes);
        self.untimed.push(self.last);
    }

    fn find(&mut self, driver: &'static str, command: &'static str) -> usize {
        self.commands.iter().position(|counted| counted.is(driver, command)).unwrap_or_else(|| {
            let (operations, errors, bytes, nanoseconds) = Default::default();
            self.commands.push(Counted { driver, command, operations, errors, bytes, nanoseconds, at: None });
            self.commands.len() - 1
        })
    }

    /// Adds the time of the job to each of its operations.
    #[inline]
    pub(super) fn time(&mut self, service: Duration) {
        let nanoseconds = service.as_secs().saturating_mul(1_000_000_000).saturating_add(service.subsec_nanos().into());
        for at in self.untimed.drain(..) {
            let sum = &mut self.commands[at].nanoseconds;
            *sum = sum.saturating_add(nanoseconds);
        }
    }

    /// Moves the counts to those of the pool, always the same one.
    pub(super) fn move_to(&mut self, all: &mut Vec<CommandMetrics>) {
        self.untimed.clear();
        for counted in self.commands.iter_mut().filter(|counted| counted.operations > 0) {
            let sums = CommandMetrics {
                driver: counted.driver,
                command: counted.command,
                operations: mem::take(&mut counted.operations),
                errors: mem::take(&mut counted.errors),
                bytes: mem::take(&mut counted.bytes),
                service: Duration::from_nanos(mem::take(&mut counted.nanoseconds)),
            };
            match counted.at {
                Some(at) => all[at].add(&sums),
                None => counted.at = Some(add(all, &sums)),
            }
        }
    }
}

impl Counted {
    /// Whether these are its very texts. Equal ones elsewhere in memory count apart here, and together in the pool's.
    fn is(&self, driver: &'static str, command: &'static str) -> bool {
        ptr::eq(self.command, command) && ptr::eq(self.driver, driver)
    }
}

/// Adds the counts of a command to those of all, and returns its position there.
pub(super) fn add(all: &mut Vec<CommandMetrics>, sums: &CommandMetrics) -> usize {
    match all.iter().position(|known| (known.driver, known.command) == (sums.driver, sums.command)) {
        Some(at) => {
            all[at].add(sums);
            at
        }
        None => {
            all.push(sums.clone());
            all.len() - 1
        }
    }
}

impl CommandMetrics {
    fn add(&mut self, other: &CommandMetrics) {
        self.operations += other.operations;
        self.errors += other.errors;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.service = self.service.saturating_add(other.service);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_of_a_command_are_added_wherever_its_name_is() {
        let mut counts = Counts::default();
        counts.add("own", "SEND", true, 5);
        counts.time(Duration::from_micros(10));
        // One job with two operations.
        counts.add("own", "SEND", false, 2);
        counts.add("own", "RECEIVE", true, 0);
        counts.time(Duration::from_micros(3));
        let mut all = Vec::new();
        counts.move_to(&mut all);
        // Its time stays unknown.
        counts.add("own", String::from("SEND").leak(), true, 1);
        counts.move_to(&mut all);
        counts.move_to(&mut all);
        counts.add("own", "SEND", true, 0);
        counts.time(Duration::from_micros(1));
        counts.move_to(&mut all);
        let shown: Vec<_> = all
            .iter()
            .map(|sums| (sums.command, sums.operations, sums.errors, sums.bytes, sums.service.as_micros()))
            .collect();
        assert_eq!(shown, [("SEND", 4, 1, 8, 14), ("RECEIVE", 1, 0, 0, 3)]);
    }
}
