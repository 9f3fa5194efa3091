//! A thread's turn: how long it has answered operations itself since a task last gave way.
//!
//! A task whose reads all hit would run until tokio's budget of 128 operations is spent: with reads of 64 KiB, milliseconds. So the next
//! operation after [`SHARED`] yields first. The time is the thread's, not the task's: nothing tells the driver when a task's poll begins.
//! A task may have to yield for what the task before it has used, at most once in 10 us of attempts, which costs less than 2 %.
//!
//! With 16 tasks on a thread, 2 % of the operations wait for the turns of the 15 others. A task that ended the last turn of the thread, too,
//! has the thread to itself, as far as the driver sees: its turn is [`ALONE`], because a runtime with several threads wakes one of them for
//! each task that yields, for 20 us of CPU time.

use std::cell::Cell;
use std::time::Duration;

use tokio::task::{self, Id};

use super::back_off::SLOW;

/// The most that the attempts of one turn take, without the last of them.
const SHARED: Duration = Duration::from_micros(10);
/// The same, if one task takes one turn after the other.
const ALONE: Duration = SLOW;

struct Turn {
    spent: Cell<Duration>,
    /// The task that the last turn ended with; `None` outside of tasks.
    ended_with: Cell<Option<Id>>,
}

thread_local! {
    static TURN: Turn = const { Turn { spent: Cell::new(Duration::ZERO), ended_with: Cell::new(None) } };
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
    #[inline]
    fn is_over(&self) -> bool {
        let spent = self.spent.get();
        spent >= SHARED && self.ends(spent)
    }

    fn ends(&self, spent: Duration) -> bool {
        let task = task::try_id();
        let is_over = spent >= ALONE || self.ended_with.get() != task;
        if is_over {
            self.spent.set(Duration::ZERO);
            self.ended_with.set(task);
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
            spend(ALONE / 2);
            assert!(!is_over());
            spend(ALONE / 2);
            assert!(is_over());
            assert!(!is_over());
            spend(Duration::MAX);
            spend(Duration::MAX);
            assert!(is_over());
        })
        .join()
        .unwrap();
    }

    /// On a thread of its own, as `block_on` has it here.
    #[tokio::test]
    async fn a_turn_is_shorter_if_tasks_take_turns() {
        let turn_ends_after = |spent| async move {
            spend(spent);
            is_over()
        };
        let of_another = async |spent| tokio::spawn(turn_ends_after(spent)).await.unwrap();
        assert!(!turn_ends_after(SHARED).await);
        assert!(of_another(Duration::ZERO).await, "the last turn ended with no other task's");
        assert!(of_another(SHARED).await);
        assert!(turn_ends_after(SHARED).await);
        assert!(!turn_ends_after(SHARED).await);
    }
}
