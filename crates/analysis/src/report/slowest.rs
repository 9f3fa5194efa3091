//! The slowest operations.

use dyntrace_reader::FileOperation;

const KEPT: usize = 40;

/// The operations with their durations, the slowest first.
#[derive(Default)]
pub struct Slowest<'t>(pub Vec<(i64, FileOperation<'t>)>);

impl<'t> Slowest<'t> {
    pub fn add(&mut self, duration: i64, operation: &FileOperation<'t>) {
        let place = self.0.partition_point(|(other, _)| *other >= duration);
        if place < KEPT {
            self.0.truncate(KEPT - 1);
            self.0.insert(place, (duration, operation.clone()));
        }
    }
}
