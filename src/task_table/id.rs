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

/// The number that is written into it.
struct Digits(u64);

impl fmt::Write for Digits {
    fn write_str(&mut self, digits: &str) -> fmt::Result {
        let number = |number: u64, digit: u8| number.wrapping_mul(10).wrapping_add(u64::from(digit.wrapping_sub(b'0')));
        self.0 = digits.bytes().fold(self.0, number);
        Ok(())
    }
}
