//! A thread's turn: how long it has answered operations itself since a task last gave way.
//!
//! A task whose reads all hit would run until tokio's budget of 128 operations is spent: with reads of 64 KiB, milliseconds. So the next
//! operation after [`LONGEST`] yields first. The time is the thread's, not the task's: nothing tells the driver when a task's poll begins.
//! A task may have to yield for what the task before it has used, at most once in 50 us of attempts, which costs less than 1 %.

use std::cell::Cell;
use std::time::Duration;

use super::back_off::SLOW;

/// The most that the attempts of one turn take, without the last of them.
const LONGEST: Duration = SLOW;

struct Turn {
    spent: Cell<Duration>,
}

thread_local! {
    static TURN: Turn = const { Turn { spent: Cell::new(Duration::ZERO) } };
}

/// Returns whether the turn is over, and begins the next one if it is. The caller must yield then.
pub(in crate::efile) fn is_over() -> bool {
    // In a destructor of the thread's end, nothing is counted.
    TURN.try_with(Turn::is_over).unwrap_or(false)
}

/// Adds the time of an attempt to the turn.
#[inline]
pub(super) fn spend(time: Duration) {
    let _ = TURN.try_with(|turn| turn.spent.set(turn.spent.get().saturating_add(time)));
}

impl Turn {
    fn is_over(&self) -> bool {
        let is_over = self.spent.get() >= LONGEST;
        if is_over {
            self.spent.set(Duration::ZERO);
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_ends_when_its_time_is_spent_and_the_next_one_begins() {
        std::thread::spawn(|| {
            spend(LONGEST / 2);
            assert!(!is_over());
            spend(LONGEST / 2);
            assert!(is_over());
            assert!(!is_over());
            spend(Duration::MAX);
            spend(Duration::MAX);
            assert!(is_over());
        })
        .join()
        .unwrap();
    }
}
