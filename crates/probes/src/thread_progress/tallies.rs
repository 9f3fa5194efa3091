//! Per-thread counters, for hot paths that cannot afford an atomic read-modify-write. A reader sums them up.
//!
//! Each thread counts in its own record. A record is never freed, and its next thread counts on, so no count is lost. There are only
//! [`TALLIES`], since they lie in the cache line that a pin has touched already.

use std::cell::Cell;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use super::pin::{OWN, REGISTRY};
use super::record::TALLIES;
use crate::primitives::one_writer::step;

/// Which of them are in use, one bit for each. Always `std`'s: models have none.
static TAKEN: AtomicU8 = AtomicU8::new(0);

/// A counter for all threads together.
pub struct Tally {
    /// Its index in the records. `None` if all were in use.
    number: Option<usize>,
    /// The sum that earlier tallies have left there.
    before: u64,
    /// The count of threads without a record.
    others: AtomicU64,
}

impl Tally {
    pub fn new() -> Tally {
        let take = |taken: u8| (taken.count_ones() < TALLIES as u32).then_some(taken | (taken + 1));
        // Acquire: pairs with `drop`, so that `before` includes the counts of the earlier tally.
        let taken = TAKEN.fetch_update(Ordering::Acquire, Ordering::Relaxed, take);
        let number = taken.ok().map(|taken| taken.trailing_ones() as usize);
        Tally { number, before: number.map_or(0, sum), others: AtomicU64::new(0) }
    }

    /// Adds 1.
    #[inline]
    pub fn count(&self) {
        match (self.number, OWN.with(Cell::get)) {
            (Some(number), Some(record)) => step::<1>(&record.tallies()[number]),
            _ => {
                self.others.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Returns the sum. Exact for counts that happened before this call.
    pub fn read(&self) -> u64 {
        let counted = self.number.map_or(0, |number| sum(number).wrapping_sub(self.before));
        counted.wrapping_add(self.others.load(Ordering::Relaxed))
    }
}

impl Drop for Tally {
    fn drop(&mut self) {
        if let Some(number) = self.number {
            // Release: with the Acquire in `new`.
            TAKEN.fetch_and(!(1 << number), Ordering::Release);
        }
    }
}

fn sum(number: usize) -> u64 {
    let counts = REGISTRY.records().map(|record| record.tallies()[number].load(Ordering::Relaxed));
    counts.fold(0, u64::wrapping_add)
}

#[cfg(all(not(loom), test))]
mod tests {
    use std::thread;

    use super::*;
    use crate::thread_progress::pin::pin;

    #[test]
    fn all_threads_are_counted_and_each_tally_begins_at_zero() {
        for _ in 0..3 {
            let tallies: Vec<_> = (0..TALLIES + 2).map(|_| Tally::new()).collect();
            assert!(tallies.iter().all(|tally| tally.read() == 0));
            thread::scope(|scope| {
                for pins in [true, false] {
                    let tallies = &tallies;
                    scope.spawn(move || {
                        let _pin = pins.then(pin);
                        for (number, tally) in tallies.iter().enumerate() {
                            (0..=number).for_each(|_| tally.count());
                        }
                    });
                }
            });
            for (number, tally) in tallies.iter().enumerate() {
                assert_eq!(tally.read(), 2 * (number as u64 + 1));
            }
        }
    }
}
