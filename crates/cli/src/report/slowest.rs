//! The operations that took longest.

use dyntrace_reader::Operation;

/// How many are kept.
const KEPT: usize = 40;

/// The slowest operations so far, the slowest first.
#[derive(Default)]
pub struct Slowest<'t>(Vec<(i64, Operation<'t>)>);

impl<'t> Slowest<'t> {
    /// Takes the operation in if it is one of the slowest.
    pub fn add(&mut self, duration: i64, operation: &Operation<'t>) {
        let place = self.0.partition_point(|(other, _)| *other >= duration);
        if place < KEPT {
            self.0.truncate(KEPT - 1);
            self.0.insert(place, (duration, operation.clone()));
        }
    }

    /// The operations and how many nanoseconds they took.
    pub fn list(&self) -> &[(i64, Operation<'t>)] {
        &self.0
    }
}
