//! How much of a program the commands about tasks have seen: in words, and as an exit status.

use std::process::ExitCode;

use dyntrace_tasks::coverage::{Answer, Coverage};
use dyntrace_tasks::locks::Locks;
use dyntrace_tasks::stuck::Stuck;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::UNKNOWN;

use super::blocked::is_blocked_by_lock;
use super::choose::Chosen;
use super::read::Look;
use super::stuck;

impl Look {
    /// The share of the tasks whose waits are told, by memory or by the table.
    pub fn told(&self) -> Coverage {
        let mut coverage = Coverage::default();
        for task in &self.listing.tasks {
            coverage.add(task, self.row(task).is_some());
        }
        if self.has_memory {
            coverage.end(&self.listing.runtimes, &self.listing.unread);
        }
        coverage.gaps.extend(self.refused.clone());
        if self.runs { coverage.also_in(&Coverage::default()) } else { coverage }
    }

    /// The share of the tasks whose waits and locks are known. The table has neither locks' holders nor other tasks.
    pub fn searched(&self) -> Coverage {
        if self.has_memory {
            return Coverage::of(&self.listing);
        }
        let gap = "the table has neither the holders of locks nor tasks that were spawned without dyntrace";
        Coverage::with_gaps(vec![gap.to_owned()])
    }
}

/// The line about the gaps; empty if there are none.
pub fn line(coverage: &Coverage) -> String {
    coverage.unknown().map(|unknown| format!("unknown: {}\n", escape::name(unknown))).unwrap_or_default()
}

/// The exit status for an answer.
pub fn status(answer: Answer) -> ExitCode {
    match answer {
        Answer::Yes | Answer::No => ExitCode::SUCCESS,
        Answer::Unknown => UNKNOWN.into(),
    }
}

/// The answer of `why --cycles`.
pub fn text(stuck: &Stuck, look: &Look, searched: &Coverage) -> String {
    if !stuck.is_empty() {
        return stuck::text(stuck, look) + &line(searched);
    }
    let none = "no deadlock and no futurelock found";
    match (searched.unknown(), searched.seen()) {
        (None, _) => format!("{none}\n"),
        (Some(_), 0) => format!("not known whether there is a deadlock or a futurelock\n{}", line(searched)),
        (Some(_), seen) => {
            format!("{none} among the {seen} of {} tasks that were seen\n{}", searched.tasks, line(searched))
        }
    }
}

/// The share of the chosen tasks; of all if one of them waits for a lock that no task is seen to hold.
pub fn of_chosen(look: &Look, chosen: &Chosen) -> Coverage {
    let locks = Locks::of(&look.listing);
    let mut coverage = Coverage::default();
    for task in look.listing.tasks.iter().filter(|task| chosen.has(task, look.row(task))) {
        if is_blocked_by_lock(task) && locks.blockers(task).is_empty() {
            return look.searched();
        }
        coverage.add(task, look.row(task).is_some());
    }
    coverage
}

#[cfg(test)]
mod tests {
    use dyntrace_tasks::listing::{Chain, Listing, Task, WaitsFor};

    use super::*;
    use crate::sample;

    fn look(tasks: Vec<Task>) -> Look {
        Look::of_memory(Listing { tasks, ..Listing::default() })
    }

    #[test]
    fn of_a_program_that_is_seen_by_half_only_a_yes_is_known() {
        let visible = || sample::leaf_task(1, WaitsFor::Timer { due_in: 1 });
        let none = |look: &Look| text(&Stuck::default(), look, &look.searched());
        assert_eq!(none(&look(vec![visible()])), "no deadlock and no futurelock found\n");
        let half = look(vec![visible(), sample::task(2, Chain::NoTypes)]);
        assert_eq!(
            none(&half),
            "no deadlock and no futurelock found among the 1 of 2 tasks that were seen\n\
             unknown: 1 of 2 tasks without types: build with `debug = 2`, or name the debug file by --debug\n"
        );
        let told = Look::of_memory(sample::listing());
        let stuck = Stuck::of(&told.listing);
        let searched = told.searched();
        assert_eq!((searched.answer(!stuck.is_empty()), searched.answer(false)), (Answer::Yes, Answer::Unknown));
    }

    #[test]
    fn of_one_task_its_own_share_counts() {
        let half = look(vec![sample::leaf_task(1, sample::mutex(0xa0)), sample::task(2, Chain::NoTypes)]);
        let unknown = |id| of_chosen(&half, &Chosen::Task(id)).answer(false) == Answer::Unknown;
        // A task that is not seen may hold the lock of the first one.
        assert_eq!([unknown(1), unknown(2)], [true, true]);
        let timer = look(vec![sample::leaf_task(1, WaitsFor::Timer { due_in: 1 }), sample::task(2, Chain::NoTypes)]);
        assert_eq!(of_chosen(&timer, &Chosen::Task(1)).answer(false), Answer::No);
    }
}
