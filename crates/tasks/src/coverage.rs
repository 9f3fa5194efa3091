//! How much of a program an answer rests on: yes, no, or unknown.

use std::collections::{BTreeSet, HashSet};

use serde::Serialize;

use crate::listing::{Await, Chain, Listing, Progress, Runtime, Task, WaitsFor};

/// An answer to a question about all tasks of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// It was found, whatever was not seen.
    Yes,
    /// All was seen, and it was not found.
    No,
    /// It was not found, and part was not seen.
    Unknown,
}

/// The share of a program's tasks that was seen.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Coverage {
    /// Tasks that were found, without complete ones.
    pub tasks: u64,
    /// Jobs of the blocking pool that were found.
    pub jobs: u64,
    /// Tasks whose futures no debug information describes.
    pub without_types: u64,
    /// Tasks that changed during each reading.
    pub busy: u64,
    /// Tasks that wait for futures that the reader does not know.
    pub unknown_leaves: u64,
    /// Tasks that runtimes count beyond those that were found.
    pub missing: u64,
    /// Runtimes of which neither the list of tasks nor the count was found.
    pub uncounted: u64,
    /// Further gaps, in words: memory that was not read.
    pub gaps: Vec<String>,
    /// The tasks that are busy, by the addresses of their headers.
    #[serde(skip)]
    busy_at: BTreeSet<u64>,
    /// The schedulers of runtimes whose lists could be followed.
    #[serde(skip)]
    followed: HashSet<u64>,
}

impl Coverage {
    /// Returns the share of a whole listing.
    #[must_use]
    pub fn of(listing: &Listing) -> Coverage {
        let mut coverage = Coverage::default();
        listing.tasks.iter().for_each(|task| coverage.add(task, false));
        coverage.end(&listing.runtimes, &listing.unread);
        coverage
    }

    /// Returns the share of what was not read at all, for these reasons.
    #[must_use]
    pub fn with_gaps(gaps: Vec<String>) -> Coverage {
        Coverage { gaps, ..Coverage::default() }
    }

    /// Adds a task. `is_told`: whether another source tells what it waits for.
    pub fn add(&mut self, task: &Task, is_told: bool) {
        if task.linked.is_some() {
            self.followed.insert(task.scheduler);
        }
        if task.owner == 0 {
            self.jobs += 1;
            return;
        }
        if task.state.complete {
            return;
        }
        self.tasks += 1;
        match &task.chain {
            _ if is_told => {}
            Chain::NoTypes => self.without_types += 1,
            // A future that is gone before the task is complete: it completes now, or the stage is misread.
            Chain::Busy | Chain::Complete => {
                self.busy += 1;
                self.busy_at.insert(task.address);
            }
            Chain::Read { root } if !task.state.running && !task.state.notified && waits_unknown(root) => {
                self.unknown_leaves += 1;
            }
            Chain::Read { .. } => {}
        }
    }

    /// Adds the tasks of another part of the listing.
    pub fn append(&mut self, others: Coverage) {
        self.tasks += others.tasks;
        self.jobs += others.jobs;
        self.without_types += others.without_types;
        self.busy += others.busy;
        self.unknown_leaves += others.unknown_leaves;
        self.busy_at.extend(others.busy_at);
        self.followed.extend(others.followed);
    }

    /// Adds the runtimes and the memory that was not read, once all tasks were added.
    pub fn end(&mut self, runtimes: &[Runtime], unread: &[String]) {
        for runtime in runtimes {
            match runtime.counted {
                Some(counted) => self.missing += counted.saturating_sub(runtime.found),
                None => self.uncounted += u64::from(!self.followed.contains(&runtime.scheduler)),
            }
        }
        self.gaps.extend_from_slice(unread);
        if self.tasks + self.jobs == 0 && runtimes.is_empty() {
            self.gaps.push(
                "no task and no runtime was found: the program has none now, or another layout of tokio".to_owned(),
            );
        }
    }

    /// Leaves out gaps that an earlier look at the running program does not have: those tasks changed, began or ended meanwhile.
    /// A single look at a running program proves no such gap: compare it with the default.
    #[must_use]
    pub fn also_in(mut self, before: &Coverage) -> Coverage {
        self.busy_at.retain(|task| before.busy_at.contains(task));
        self.busy = self.busy_at.len() as u64;
        self.missing = self.missing.min(before.missing);
        self
    }

    /// Tasks that were seen, with what they wait for and hold.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.tasks.saturating_sub(self.without_types + self.busy + self.unknown_leaves)
    }

    /// Tasks that were found or are counted, and were not seen.
    #[must_use]
    pub fn unseen(&self) -> u64 {
        self.tasks - self.seen() + self.missing
    }

    /// Returns the gaps with the share that each is of all, and the way out. `None` if all was seen.
    #[must_use]
    pub fn unknown(&self) -> Option<String> {
        let all = self.tasks;
        let of = |count: u64, is: &str| {
            let tasks = if all == 1 { "task" } else { "tasks" };
            (count > 0).then(|| format!("{count} of {all} {tasks} {is}"))
        };
        let told = [
            of(self.without_types, "without types: build with `debug = 2`, or name the debug file by --debug"),
            of(self.busy, "changed during each reading, or cannot be read: look again, or with --stop"),
            of(self.unknown_leaves, "in futures that the reader does not know"),
            (self.missing > 0).then(|| format!("{} more counted by the runtimes and not found", self.missing)),
            (self.uncounted > 0).then(|| format!("runtimes whose tasks cannot be listed: {}", self.uncounted)),
        ];
        let told: Vec<String> = told.into_iter().flatten().chain(self.gaps.iter().cloned()).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }

    /// Returns the answer to a question, given whether its subject was found.
    #[must_use]
    pub fn answer(&self, is_found: bool) -> Answer {
        match self.unknown() {
            _ if is_found => Answer::Yes,
            None => Answer::No,
            Some(_) => Answer::Unknown,
        }
    }
}

/// Whether a future that stands waits for something that the reader does not know. A timer is no lock: those of a core file, which does not
/// have the time, are unknown leaves.
fn waits_unknown(future: &Await) -> bool {
    let is_timer = || &*future.future == "Sleep";
    match (&future.waits_for, &future.awaits[..]) {
        _ if matches!(future.progress, Progress::Returned | Progress::Unresumed) => false,
        (Some(WaitsFor::UnknownLeaf), _) => !is_timer(),
        (Some(_), _) => false,
        (None, []) => future.progress != Progress::Panicked,
        (None, awaits) => awaits.iter().any(waits_unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::{Name, Spawned, State};

    fn task(address: u64, chain: Chain) -> Task {
        Task {
            id: address,
            shares_id: false,
            address,
            owner: 1,
            scheduler: 0x50,
            state: State::default(),
            future: Name::Address { poll: 1 },
            spawned: Spawned::Unknown,
            linked: Some(true),
            chain,
        }
    }

    fn read(future: &str, waits_for: WaitsFor) -> Chain {
        let leaf = Await { future: future.into(), waits_for: Some(waits_for), ..Await::default() };
        let root = Await { progress: Progress::Suspended, awaits: vec![leaf], ..Await::default() };
        Chain::Read { root }
    }

    fn listing(tasks: Vec<Task>, counted: Option<u64>) -> Listing {
        let runtimes = vec![Runtime { owner: 1, scheduler: 0x50, counted, found: tasks.len() as u64, list: None }];
        Listing { tasks, runtimes, ..Listing::default() }
    }

    #[test]
    fn a_program_that_was_seen_whole_has_an_answer() {
        let tasks = vec![
            task(1, read("Acquire", WaitsFor::Forever)),
            // A core file does not have the time.
            task(2, read("Sleep", WaitsFor::UnknownLeaf)),
            Task { state: State { complete: true, ..State::default() }, ..task(3, Chain::Complete) },
            Task { owner: 0, ..task(4, Chain::NoTypes) },
        ];
        let coverage = Coverage::of(&listing(tasks, Some(4)));
        assert_eq!((coverage.tasks, coverage.jobs, coverage.seen(), coverage.unknown()), (2, 1, 2, None));
        assert_eq!((coverage.answer(true), coverage.answer(false)), (Answer::Yes, Answer::No));
    }

    #[test]
    fn each_gap_makes_a_no_unknown_and_leaves_a_yes() {
        let known = || task(1, read("Acquire", WaitsFor::Forever));
        let with = |other: Chain| vec![known(), task(2, other)];
        let unread = Listing { unread: vec!["9 bytes".to_owned()], ..listing(vec![known()], Some(1)) };
        let unlinked = listing(vec![Task { linked: None, ..known() }], None);
        for (listing, told) in [
            (listing(with(Chain::NoTypes), Some(2)), "1 of 2 tasks without types"),
            (listing(with(Chain::Busy), Some(2)), "1 of 2 tasks changed during each reading"),
            (listing(with(Chain::Complete), Some(2)), "1 of 2 tasks changed during each reading"),
            (listing(with(read("lib::Lock", WaitsFor::UnknownLeaf)), Some(2)), "1 of 2 tasks in futures"),
            (listing(vec![known()], Some(3)), "2 more counted by the runtimes"),
            (unlinked, "runtimes whose tasks cannot be listed: 1"),
            (unread, "9 bytes"),
            (Listing::default(), "no task and no runtime was found"),
        ] {
            let coverage = Coverage::of(&listing);
            assert!(coverage.unknown().is_some_and(|unknown| unknown.starts_with(told)), "{coverage:?}");
            assert_eq!((coverage.answer(true), coverage.answer(false)), (Answer::Yes, Answer::Unknown), "{told}");
        }
        // Its list was followed.
        assert_eq!(Coverage::of(&listing(vec![known()], None)).unknown(), None);
    }

    #[test]
    fn gaps_of_the_moment_count_if_two_looks_have_them() {
        let busy = |address| Coverage::of(&listing(vec![task(address, Chain::Busy)], Some(2)));
        assert_eq!(busy(1).also_in(&busy(2)).unknown().unwrap(), "1 more counted by the runtimes and not found");
        assert_eq!(busy(1).also_in(&busy(1)).busy, 1);
        assert_eq!(busy(1).also_in(&Coverage::default()).unknown(), None);
    }
}
