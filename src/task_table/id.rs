//! Ids of tokio's tasks, as the table has them.

use std::fmt::{self, Write as _};

use tokio::task::Id;

/// The low 32 bits of the id of a tokio task.
pub(super) fn low_bits(task: Id) -> u32 {
    let mut id = Digits(0);
    // tokio tells the number of an id only as text. Writing into `Digits` has no error.
    let _ = write!(id, "{task}");
    id.0 as u32
}

/// The same of the task that the current thread polls; 0 outside of tasks.
pub(super) fn of_current() -> u32 {
    tokio::task::try_id().map_or(0, low_bits)
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
    }

    #[test]
    fn ids_beyond_32_bits_keep_their_low_half() {
        let mut id = Digits(0);
        write!(id, "{}", (7_u64 << 32) + 12).unwrap();
        assert_eq!((id.0, id.0 as u32), ((7 << 32) + 12, 12));
    }
}
