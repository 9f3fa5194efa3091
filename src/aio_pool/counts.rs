//! Counts of operations by command. Each worker has its own, which it adds to the pool's before each batch: counting an operation takes
//! no lock and no atomic step.

use std::ptr;
use std::time::Duration;

use super::metrics::CommandMetrics;

/// Counts the operations of a job ([`Job::count`](super::Job::count)).
#[derive(Debug, Default)]
pub struct Counts {
    /// Few: the commands of one batch.
    commands: Vec<Counted>,
}

#[derive(Debug)]
struct Counted {
    sums: CommandMetrics,
    /// Operations of the job that ran last, until their time is known.
    untimed: u32,
}

impl Counts {
    /// Counts one operation: its driver, such as the prefix of its probes, and the name of its command. `bytes` is how many it moved.
    #[inline]
    pub fn add(&mut self, driver: &'static str, command: &'static str, succeeded: bool, bytes: u64) {
        let is_same = |counted: &Counted| counted.sums.is_at(driver, command);
        let at = self.commands.iter().position(is_same).unwrap_or_else(|| {
            self.commands.push(Counted { sums: CommandMetrics::new(driver, command), untimed: 0 });
            self.commands.len() - 1
        });
        let Counted { sums, untimed } = &mut self.commands[at];
        sums.operations += 1;
        sums.errors += u64::from(!succeeded);
        sums.bytes = sums.bytes.saturating_add(bytes);
        *untimed += 1;
    }

    /// Adds the time of the job to its operations.
    #[inline]
    pub(super) fn time(&mut self, service: Duration) {
        for Counted { sums, untimed } in self.commands.iter_mut().filter(|counted| counted.untimed > 0) {
            sums.service = sums.service.saturating_add(service.saturating_mul(std::mem::take(untimed)));
        }
    }

    /// Moves all counts to those of the pool.
    pub(super) fn move_to(&mut self, all: &mut Vec<CommandMetrics>) {
        self.commands.drain(..).for_each(|counted| add(all, &counted.sums));
    }
}

/// Adds the counts of a command to those of all.
pub(super) fn add(all: &mut Vec<CommandMetrics>, sums: &CommandMetrics) {
    let (driver, command) = (sums.driver, sums.command);
    // Its text may be in memory twice: then the comparison takes longer.
    let known = all.iter().position(|known| known.is_at(driver, command));
    let known = known.or_else(|| all.iter().position(|known| (known.driver, known.command) == (driver, command)));
    let known = known.unwrap_or_else(|| {
        all.push(CommandMetrics::new(driver, command));
        all.len() - 1
    });
    all[known].add(sums);
}

impl CommandMetrics {
    fn new(driver: &'static str, command: &'static str) -> CommandMetrics {
        CommandMetrics { driver, command, operations: 0, errors: 0, bytes: 0, service: Duration::ZERO }
    }

    /// Whether these are its very texts.
    fn is_at(&self, driver: &'static str, command: &'static str) -> bool {
        ptr::eq(self.command, command) && ptr::eq(self.driver, driver)
    }

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
        counts.add("own", String::from("SEND").leak(), true, 1);
        counts.move_to(&mut all);
        counts.move_to(&mut all);
        let shown: Vec<_> = all
            .iter()
            .map(|sums| (sums.command, sums.operations, sums.errors, sums.bytes, sums.service.as_micros()))
            .collect();
        assert_eq!(shown, [("SEND", 3, 1, 8, 13), ("RECEIVE", 1, 0, 0, 3)]);
    }
}
