//! Blocking between the tasks of a listing: lock guards, permits and join handles, cycles of them, and locks that futures have which
//! their tasks do not poll.
//!
//! A holder is a candidate. A guard or future that was dropped by `drop` may still stand among the variables of its task. Show a
//! cycle or a futurelock to a user only if two looks found it: see [`in_both`] and [`futurelocks_in_both`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroU64;
use std::sync::Arc;

use serde::Serialize;

use crate::cycles::cycles;
use crate::listing::{
    Await, Chain, Guard, Holder as Noted, Listing, Name, Progress, SemaphoreOf, SourceLine, Task, WaitsFor,
};

/// A task that may have to act before another task goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocker {
    /// The id of the task that blocks.
    pub task: u64,
    /// Of its header.
    pub address: u64,
    /// The wait of the blocked task that this one can end.
    pub through: Through,
    /// Whether nothing but this task can block, by a lock that it holds or by its end. `false` if it is one of several candidates, if
    /// the lock has free permits or notes another holder, if the task would block itself, or if a task that could not be read may
    /// be the holder.
    pub certain: bool,
    /// Whether nothing but this task is seen to block: `certain`, but for the lock's note and for tasks that could not be read.
    #[serde(skip)]
    alone: bool,
}

/// The wait of a blocked task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Through {
    /// A guard or permit of the blocking task.
    Guard {
        /// The semaphore's owner.
        of: SemaphoreOf,
        /// The guard.
        guard: Guard,
        /// The future that holds it.
        future: Arc<str>,
        /// The line at which that future waits.
        place: Option<SourceLine>,
    },
    /// The end of the blocking task.
    Join,
}

/// Tasks of which each waits for the next one, and the last for the first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// Each task is blocked by the next one, the last by the first. The lowest id is first.
    pub steps: Vec<Step>,
    /// Whether some task of it also waits for something else, as with `select!` or a timeout: it may go on by that.
    pub may_end: bool,
    /// Whether all of its blockers are certain.
    pub certain: bool,
}

impl Blocker {
    /// Whether `future` waits for its lock or its end.
    #[must_use]
    pub fn is_awaited_by(&self, future: &Await) -> bool {
        match (&future.waits_for, &self.through) {
            (Some(WaitsFor::Semaphore { address, .. }), Through::Guard { guard, .. }) => *address == guard.semaphore,
            (Some(WaitsFor::Join { address, .. }), Through::Join) => *address == self.address,
            _ => false,
        }
    }

    fn key(&self) -> Key {
        (self.task, self.address)
    }
}

impl Step {
    fn key(&self) -> Key {
        (self.task, self.address)
    }

    /// Whether the same task blocks by the same lock. Other tasks decide whether that is certain.
    fn is_same(&self, other: &Step) -> bool {
        let (own, others) = (&self.blocker, &other.blocker);
        self.key() == other.key() && own.key() == others.key() && own.through == others.through
    }
}

/// A task of a cycle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Its id.
    pub task: u64,
    /// Of its header.
    pub address: u64,
    /// The next task, and the wait of this one.
    pub blocker: Blocker,
}

/// A lock that a future has and that tasks wait for. The task that owns the future does not poll it, as it awaits something else:
/// as long as it does, nobody gets the lock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Futurelock {
    /// The id of the task that owns the future.
    pub task: u64,
    /// Of its header.
    pub address: u64,
    /// The semaphore's owner.
    pub of: SemaphoreOf,
    /// The guard or permit that the future has.
    pub guard: Guard,
    /// The tasks that wait for the lock, in the order of their ids. The owner may be one of them.
    pub waiting: Vec<Waiter>,
    /// Whether nothing but this future can have the lock. `false` if there are several candidates, if other permits of the semaphore may
    /// become free, or if a task that could not be read may be the holder.
    pub certain: bool,
}

/// A task that waits for a lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Waiter {
    /// Its id.
    pub task: u64,
    /// Of its header.
    pub address: u64,
}

/// A task's id, and the address of its header: each version of tokio in a program counts its own ids.
type Key = (u64, u64);

fn key(task: &Task) -> Key {
    (task.id, task.address)
}

/// The guards and waits of a listing.
#[derive(Debug)]
pub struct Locks<'l> {
    holders: HashMap<u64, Vec<Holder<'l>>>,
    /// Of each task that waits, in the order of the tasks: there may be millions.
    waits: Vec<(Key, &'l WaitsFor)>,
    /// Semaphores of which a task was given permits that it waited for, and has not run since: it has them without a guard.
    granted: HashSet<u64>,
    /// The numbers of the processes that dyntrace has made of futures.
    processes: HashSet<u64>,
    /// Whether some task could not be read: it may hold any lock.
    has_unread: bool,
}

#[derive(Debug)]
struct Holder<'l> {
    task: Key,
    /// The number of the process that has the guard, if dyntrace has made one.
    process: Option<NonZeroU64>,
    guard: &'l Guard,
    held_by: &'l Await,
    /// Whether the task is idle.
    waits: bool,
}

impl Holder<'_> {
    /// Whether the semaphore itself gave the permits to the future: nothing else has them.
    fn was_granted(&self) -> bool {
        self.guard.unpolled.as_ref().is_some_and(|unpolled| unpolled.granted)
    }

    /// Whether the guard is in a future that is not polled, as far as the futures that are polled are known.
    fn is_unpolled(&self) -> bool {
        self.guard.unpolled.as_ref().is_some_and(|unpolled| unpolled.granted || !has_unknown(self.held_by))
    }
}

/// Whether a task may hold locks that its chain does not show. The chain of a running task is that of its previous suspension.
fn is_unread(task: &Task) -> bool {
    let is_read =
        task.state.complete || !task.state.running && matches!(task.chain, Chain::Read { .. } | Chain::Complete);
    !is_read && !is_job_of_tokio(task)
}

/// Whether a task is a job of the blocking pool that runs tokio's own code: a worker, which runs as long as its runtime, or a file
/// operation. It holds no lock of the program's.
fn is_job_of_tokio(task: &Task) -> bool {
    let is = |name: &str| name.split_once("BlockingTask<").is_some_and(|(_, function)| function.starts_with("tokio::"));
    let named = match &task.future {
        Name::Type { name } => is(name),
        Name::Symbol { name } => is(name),
        Name::Candidates { names } => names.iter().all(|name| is(name)),
        Name::Address { .. } => false,
    };
    task.owner == 0 && named
}

/// Whether a task was given all that it waits for there: it goes on as soon as a thread runs it.
fn is_granted(waits_for: &WaitsFor) -> bool {
    matches!(waits_for, WaitsFor::Semaphore { missing: 0, .. })
}

/// Whether a future that the reader does not know is below one: it may poll others.
fn has_unknown(future: &Await) -> bool {
    let unknown = |inner: &Await| matches!(inner.waits_for, Some(WaitsFor::UnknownLeaf)) || has_unknown(inner);
    future.awaits.iter().any(unknown)
}

impl<'l> Locks<'l> {
    /// Collects the guards and waits of all tasks.
    #[must_use]
    pub fn of(listing: &'l Listing) -> Locks<'l> {
        let mut locks = Locks {
            holders: HashMap::new(),
            waits: Vec::new(),
            granted: HashSet::new(),
            processes: HashSet::new(),
            has_unread: listing.tasks.iter().any(is_unread),
        };
        for task in &listing.tasks {
            if let Chain::Read { root } = &task.chain {
                // a task that runs or was woken does not wait, or not for long
                locks.add(key(task), root, None, !task.state.running && !task.state.notified);
            }
        }
        locks.holders.values_mut().for_each(leave_one_of_each);
        locks.waits.sort_by_key(|(task, _)| *task);
        locks
    }

    /// `process`: of the future around this one.
    fn add(&mut self, task: Key, held_by: &'l Await, process: Option<NonZeroU64>, waits: bool) {
        self.processes.extend(held_by.process.map(NonZeroU64::get));
        let process = held_by.process.or(process);
        for guard in &held_by.holds {
            self.holders.entry(guard.semaphore).or_default().push(Holder { task, process, guard, held_by, waits });
        }
        if let Some(WaitsFor::Semaphore { address, missing: 0, .. }) = held_by.waits_for {
            self.granted.insert(address);
        }
        if waits {
            self.waits.extend(held_by.waits_for.iter().map(|waits_for| (task, waits_for)));
        }
        for inner in held_by.awaits.iter().filter(|inner| inner.progress != Progress::Returned) {
            self.add(task, inner, process, waits);
        }
    }

    /// Whether no other task can have the lock of `holder`, the only one that is seen. `noted`: the holder that the lock itself notes.
    fn is_sure(&self, holder: &Holder<'_>, noted: Option<&Noted>) -> bool {
        let noted = noted.map(|noted| noted.pid);
        match holder.process.map(NonZeroU64::get) {
            _ if holder.was_granted() => true,
            Some(own) if noted.is_some() => noted == Some(own),
            // A task that is no process notes the pid of its thread, which tells nothing.
            _ => !self.has_unread && noted.is_none_or(|noted| !self.processes.contains(&noted)),
        }
    }

    /// Returns the tasks that may block a task.
    #[must_use]
    pub fn blockers(&self, task: &Task) -> Vec<Blocker> {
        self.blockers_of(key(task))
    }

    fn blockers_of(&self, task: Key) -> Vec<Blocker> {
        self.waits_of(task).flat_map(|waits_for| self.through(task, waits_for)).collect()
    }

    fn waits_of(&self, task: Key) -> impl Iterator<Item = &'l WaitsFor> {
        let first = self.waits.partition_point(|(other, _)| *other < task);
        self.waits[first..].iter().take_while(move |(other, _)| *other == task).map(|(_, waits_for)| *waits_for)
    }

    fn through(&self, task: Key, waits_for: &WaitsFor) -> Vec<Blocker> {
        match waits_for {
            WaitsFor::Join { task: Some(joined), address } => {
                let certain = (*joined, *address) != task;
                vec![Blocker { task: *joined, address: *address, through: Through::Join, certain, alone: certain }]
            }
            waits_for if is_granted(waits_for) => Vec::new(),
            WaitsFor::Semaphore { address, of, free, closed, holder: noted, .. } => {
                let holders = self.holders.get(address).map_or(&[][..], Vec::as_slice);
                // other permits of a semaphore or channel may become free
                let exclusive = matches!(of, SemaphoreOf::Mutex | SemaphoreOf::RwLock);
                let unsure = |holder: &Holder<'_>| holder.guard.unpolled.is_some() && !holder.is_unpolled();
                let alone = exclusive && *free == 0 && !closed && holders.len() == 1 && !holders.iter().any(unsure);
                let alone = alone && !self.granted.contains(address);
                let blocker = |holder: &Holder<'_>| {
                    // more often than a task locks twice, its first guard was dropped
                    let alone = alone && (holder.task != task || holder.is_unpolled());
                    Blocker {
                        task: holder.task.0,
                        address: holder.task.1,
                        through: Through::Guard {
                            of: *of,
                            guard: holder.guard.clone(),
                            future: holder.held_by.future.clone(),
                            place: holder.held_by.place.clone(),
                        },
                        certain: alone && self.is_sure(holder, noted.as_deref()),
                        alone,
                    }
                };
                holders.iter().map(blocker).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the cycles of tasks of which each is seen to be blocked by the next one alone, at most one for each task.
    #[must_use]
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut blocked: Vec<Key> = self.waits.iter().map(|(task, _)| *task).collect();
        blocked.dedup();
        // A task that does not wait is in no cycle.
        let place = |blocker: &Blocker| blocked.binary_search(&blocker.key()).ok();
        let blockers = blocked
            .iter()
            .enumerate()
            .flat_map(|(task, key)| self.alone(*key).filter_map(move |blocker| Some((task, place(&blocker)?))));
        let found = cycles(blockers.collect(), blocked.len());
        found.iter().filter_map(|cycle| self.cycle(&blocked, cycle)).collect()
    }

    /// `cycle`: the places of its tasks.
    fn cycle(&self, blocked: &[Key], cycle: &[usize]) -> Option<Cycle> {
        let step = |(place, next): (&usize, &usize)| {
            let (task, address) = blocked[*place];
            let blocker = self.alone(blocked[*place]).find(|blocker| blocker.key() == blocked[*next])?;
            Some(Step { task, address, blocker })
        };
        let steps: Vec<Step> = cycle.iter().zip(cycle.iter().cycle().skip(1)).map(step).collect::<Option<_>>()?;
        let may_end = steps.iter().any(|step| self.waits_of(step.key()).count() != 1);
        let certain = steps.iter().all(|step| step.blocker.certain);
        Some(Cycle { steps, may_end, certain })
    }

    /// Returns the other tasks of which each is seen to block the task alone.
    fn alone(&self, task: Key) -> impl Iterator<Item = Blocker> {
        self.blockers_of(task).into_iter().filter(move |blocker| blocker.alone && blocker.key() != task)
    }

    /// Returns the locks that futures have which are not polled, and that tasks wait for.
    #[must_use]
    pub fn futurelocks(&self) -> Vec<Futurelock> {
        let mut waiting: BTreeMap<u64, (SemaphoreOf, Option<&Noted>, Vec<Key>)> = BTreeMap::new();
        for (task, waits) in self.waits.iter().filter(|(_, waits)| !is_granted(waits)) {
            if let WaitsFor::Semaphore { address, of, free: 0, closed: false, holder, .. } = waits {
                waiting.entry(*address).or_insert((*of, holder.as_deref(), Vec::new())).2.push(*task);
            }
        }
        let mut found = Vec::new();
        for (semaphore, (of, noted, mut waiting)) in waiting {
            waiting.dedup();
            let holders = self.holders.get(&semaphore).map_or(&[][..], Vec::as_slice);
            let exclusive = matches!(of, SemaphoreOf::Mutex | SemaphoreOf::RwLock);
            let alone = exclusive && holders.len() == 1 && !self.granted.contains(&semaphore);
            for holder in holders.iter().filter(|holder| holder.waits && holder.is_unpolled()) {
                found.push(Futurelock {
                    task: holder.task.0,
                    address: holder.task.1,
                    of,
                    guard: holder.guard.clone(),
                    waiting: waiting.iter().map(|&(task, address)| Waiter { task, address }).collect(),
                    certain: alone && self.is_sure(holder, noted),
                });
            }
        }
        found.sort_by_key(|lock| (lock.task, lock.guard.address));
        found
    }
}

/// Leaves one holder if pointers of the same task lead to the same guard, or if a task polls the future that has it: a future that was
/// moved to another task may still stand where it was.
fn leave_one_of_each(holders: &mut Vec<Holder<'_>>) {
    holders.sort_by_key(|holder| (holder.guard.address, holder.guard.unpolled.is_some(), holder.task));
    holders.dedup_by(|second, first| {
        let told = second.task == first.task || second.guard.unpolled.is_some() && first.guard.unpolled.is_none();
        second.guard.address == first.guard.address && told
    });
}

/// Returns the cycles of the second look that the first one has too.
#[must_use]
pub fn in_both(first: &[Cycle], second: Vec<Cycle>) -> Vec<Cycle> {
    let same = |a: &Cycle, b: &Cycle| {
        a.steps.len() == b.steps.len() && a.steps.iter().zip(&b.steps).all(|(own, other)| own.is_same(other))
    };
    second.into_iter().filter(|cycle| first.iter().any(|known| same(known, cycle))).collect()
}

/// Returns the futurelocks of the second look that the first one has too. Other tasks may have come to wait meanwhile.
#[must_use]
pub fn futurelocks_in_both(first: &[Futurelock], second: Vec<Futurelock>) -> Vec<Futurelock> {
    let same = |a: &Futurelock, b: &Futurelock| (a.task, a.address) == (b.task, b.address) && a.guard == b.guard;
    second.into_iter().filter(|lock| first.iter().any(|known| same(known, lock))).collect()
}

#[cfg(test)]
mod tests;
