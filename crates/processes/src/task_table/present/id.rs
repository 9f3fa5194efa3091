//! Ids of tokio's tasks, as the table has them.

use std::fmt::{self, Write as _};
use std::hash::{Hash as _, Hasher};
use std::sync::atomic::AtomicU8;
use std::sync::atomic::Ordering::Relaxed;

use tokio::task::Id;

/// Whether the hash of an id is made of its number: [`UNKNOWN`], [`NO`] or [`YES`].
static HASHES_ITS_NUMBER: AtomicU8 = AtomicU8::new(UNKNOWN);
const UNKNOWN: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// The low 32 bits of the id of a tokio task.
///
/// tokio tells the number of an id only as text, which takes longer than the rest of a spawn here. But an id gives its hasher this number.
/// The first id of the program shows whether it does.
pub(super) fn low_bits(task: Id) -> u32 {
    match (HASHES_ITS_NUMBER.load(Relaxed), hashed(task)) {
        (YES, Some(number)) => number as u32,
        (UNKNOWN, number) => {
            let displayed = displayed(task);
            let answer = if number == Some(displayed) { YES } else { NO };
            // Two threads that ask at the same time get the same answer.
            HASHES_ITS_NUMBER.store(answer, Relaxed);
            displayed as u32
        }
        _ => displayed(task) as u32,
    }
}

/// The same of the task that the current thread polls; 0 outside of tasks.
pub(super) fn of_current() -> u32 {
    tokio::task::try_id().map_or(0, low_bits)
}

/// The number that an id gives its hasher, if it is one number of 64 bits.
fn hashed(task: Id) -> Option<u64> {
    let mut given = Given::default();
    task.hash(&mut given);
    given.number.filter(|_| given.writes == 1)
}

/// Keeps the number that it is given.
#[derive(Default)]
struct Given {
    number: Option<u64>,
    writes: u32,
}

impl Hasher for Given {
    fn write(&mut self, _bytes: &[u8]) {
        self.writes += 2;
    }

    fn write_u64(&mut self, number: u64) {
        self.number = Some(number);
        self.writes += 1;
    }

    fn finish(&self) -> u64 {
        0
    }
}

/// The number of an id, by its text.
fn displayed(task: Id) -> u64 {
    let mut id = Digits(0);
    // Writing into `Digits` has no error.
    let _ = write!(id, "{task}");
    id.0
}

/// The number that is written into it.
struct Digits(u64);

impl fmt::Write for Digits {
    fn write_str(&mut self, digits: &str) -> fmt::Result {
        let number = |number: u64, digit: u8| number.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')));
        self.0 = digits.bytes().fold(self.0, number);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_of_a_task_is_the_number_that_tokio_displays() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            assert_eq!(of_current(), 0, "this is no task");
            let tasks: Vec<_> = (0..20).map(|_| tokio::spawn(async { of_current() })).collect();
            for task in tasks {
                let id = task.id().to_string();
                assert_eq!(task.await.unwrap().to_string(), id);
            }
            let job = tokio::task::spawn_blocking(of_current);
            let id = job.id().to_string();
            assert_eq!(job.await.unwrap().to_string(), id);
        });
        assert_eq!(HASHES_ITS_NUMBER.load(Relaxed), YES, "this tokio's ids are found by their text");
    }

    #[test]
    fn only_one_number_is_an_id() {
        let given = |give: fn(&mut Given)| {
            let mut given = Given::default();
            give(&mut given);
            given.number.filter(|_| given.writes == 1)
        };
        assert_eq!(given(|given| given.write_u64(7)), Some(7));
        assert_eq!(given(|given| (given.write_u64(7), given.write_u64(8)).0), None);
        assert_eq!(given(|given| given.write(b"7")), None);
        assert_eq!(given(|given| given.write_u32(7)), None);
    }

    #[test]
    fn ids_beyond_32_bits_keep_their_low_half() {
        let mut id = Digits(0);
        write!(id, "{}", (7_u64 << 32) + 12).unwrap();
        assert_eq!((id.0, id.0 as u32), ((7 << 32) + 12, 12));
    }
}
