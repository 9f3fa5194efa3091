//! Blocking between the tasks of a listing: lock guards, permits and join handles, cycles of them, and locks that futures have which
//! their tasks do not poll.
//!
//! A holder is a candidate. A guard or future that was dropped by `drop` may still stand among the variables of its task. Show a
//! cycle or a futurelock to a user only if two looks found it: see [`in_both`] and [`futurelocks_in_both`].

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use serde::Serialize;

use crate::listing::{Await, Chain, Guard, Listing, Place, Progress, SemaphoreOf, Task, WaitsFor};

/// A task that may have to act before another task goes on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Blocker {
    /// The id of the task that blocks.
    pub task: u64,
    /// Of its header.
    pub address: u64,
    /// The wait of the blocked task that this one can end.
    pub through: Through,
    /// Whether nothing but this task is known to block, by a lock that it holds or by its end. `false` if it is one of
    /// several candidates, if the lock has free permits, or if the task would block itself.
    pub certain: bool,
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
        place: Option<Place>,
    },
    /// The end of the blocking task.
    Join,
}

/// Tasks that wait for each other in a circle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cycle {
    /// Each task is blocked by the next one, the last by the first. The lowest id is first.
    pub steps: Vec<Step>,
    /// Whether some task of it also waits for something else, as with `select!` or a timeout: it may go on by that.
    pub may_end: bool,
}

impl Blocker {
    fn key(&self) -> Key {
        (self.task, self.address)
    }
}

impl Step {
    fn key(&self) -> Key {
        (self.task, self.address)
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
    /// Whether nothing but this future is known to have the lock. `false` if there are several candidates, or if other permits of the
    /// semaphore may become free.
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
    waits: HashMap<Key, Vec<&'l WaitsFor>>,
}

#[derive(Debug)]
struct Holder<'l> {
    task: Key,
    guard: &'l Guard,
    held_by: &'l Await,
    /// Whether the task is idle.
    waits: bool,
}

impl Holder<'_> {
    /// Whether the guard is in a future that is not polled, as far as the futures that are polled are known.
    fn is_unpolled(&self) -> bool {
        self.guard.unpolled.as_ref().is_some_and(|unpolled| unpolled.granted || !has_unknown(self.held_by))
    }
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
        let mut locks = Locks { holders: HashMap::new(), waits: HashMap::new() };
        for task in &listing.tasks {
            if let Chain::Read { root } = &task.chain {
                // a task that runs or was woken does not wait, or not for long
                locks.add(key(task), root, !task.state.running && !task.state.notified);
            }
        }
        locks.holders.values_mut().for_each(leave_one_of_each);
        locks
    }

    fn add(&mut self, task: Key, held_by: &'l Await, waits: bool) {
        for guard in &held_by.holds {
            self.holders.entry(guard.semaphore).or_default().push(Holder { task, guard, held_by, waits });
        }
        if waits {
            self.waits.entry(task).or_default().extend(&held_by.waits_for);
        }
        for inner in held_by.awaits.iter().filter(|inner| inner.progress != Progress::Returned) {
            self.add(task, inner, waits);
        }
    }

    /// Returns the tasks that may block a task.
    #[must_use]
    pub fn blockers(&self, task: &Task) -> Vec<Blocker> {
        self.blockers_of(key(task))
    }

    fn blockers_of(&self, task: Key) -> Vec<Blocker> {
        self.waits.get(&task).into_iter().flatten().flat_map(|waits_for| self.through(task, waits_for)).collect()
    }

    fn through(&self, task: Key, waits_for: &WaitsFor) -> Vec<Blocker> {
        match waits_for {
            WaitsFor::Join { task: Some(joined), address } => {
                let certain = (*joined, *address) != task;
                vec![Blocker { task: *joined, address: *address, through: Through::Join, certain }]
            }
            WaitsFor::Semaphore { address, of, free, closed, .. } => {
                let holders = self.holders.get(address).map_or(&[][..], Vec::as_slice);
                // other permits of a semaphore or channel may become free
                let exclusive = matches!(of, SemaphoreOf::Mutex | SemaphoreOf::RwLock);
                let unsure = |holder: &Holder<'_>| holder.guard.unpolled.is_some() && !holder.is_unpolled();
                let certain = exclusive && *free == 0 && !closed && holders.len() == 1 && !holders.iter().any(unsure);
                let blocker = |holder: &Holder<'_>| Blocker {
                    task: holder.task.0,
                    address: holder.task.1,
                    through: Through::Guard {
                        of: *of,
                        guard: holder.guard.clone(),
                        future: holder.held_by.future.clone(),
                        place: holder.held_by.place.clone(),
                    },
                    // more often than a task locks twice, its first guard was dropped
                    certain: certain && (holder.task != task || holder.is_unpolled()),
                };
                holders.iter().map(blocker).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Returns the cycles of certain blockers, at most one for each task.
    #[must_use]
    pub fn cycles(&self) -> Vec<Cycle> {
        let mut blocked: Vec<Key> = self.waits.keys().copied().collect();
        blocked.sort_unstable();
        let counts = |task: Key, blocker: &Blocker| blocker.certain && blocker.key() != task;
        let certain = |task| self.blockers_of(task).into_iter().filter(|by| counts(task, by)).collect::<Vec<_>>();
        let mut edges: HashMap<Key, Vec<Blocker>> = blocked.iter().map(|task| (*task, certain(*task))).collect();
        remove_dead_ends(&mut edges);
        let mut told = HashSet::new();
        blocked.iter().filter_map(|task| self.cycle(*task, &edges, &mut told)).collect()
    }

    /// Returns the locks that futures have which are not polled, and that tasks wait for.
    #[must_use]
    pub fn futurelocks(&self) -> Vec<Futurelock> {
        let mut waiting: BTreeMap<u64, (SemaphoreOf, Vec<Key>)> = BTreeMap::new();
        for (task, waits) in &self.waits {
            for waits in waits {
                if let WaitsFor::Semaphore { address, of, free: 0, closed: false, .. } = waits {
                    waiting.entry(*address).or_insert((*of, Vec::new())).1.push(*task);
                }
            }
        }
        let mut found = Vec::new();
        for (semaphore, (of, mut waiting)) in waiting {
            waiting.sort_unstable();
            waiting.dedup();
            let holders = self.holders.get(&semaphore).map_or(&[][..], Vec::as_slice);
            let exclusive = matches!(of, SemaphoreOf::Mutex | SemaphoreOf::RwLock);
            for holder in holders.iter().filter(|holder| holder.waits && holder.is_unpolled()) {
                found.push(Futurelock {
                    task: holder.task.0,
                    address: holder.task.1,
                    of,
                    guard: holder.guard.clone(),
                    waiting: waiting.iter().map(|&(task, address)| Waiter { task, address }).collect(),
                    certain: exclusive && holders.len() == 1,
                });
            }
        }
        found.sort_by_key(|lock| (lock.task, lock.guard.address));
        found
    }

    /// Follows first blockers until a task comes again. Returns `None` if that cycle is told already.
    fn cycle(&self, task: Key, edges: &HashMap<Key, Vec<Blocker>>, told: &mut HashSet<Key>) -> Option<Cycle> {
        let mut steps: Vec<Step> = Vec::new();
        let mut place: HashMap<Key, usize> = HashMap::new();
        let mut task = task;
        let begin = loop {
            if told.contains(&task) {
                return None;
            }
            if let Some(begin) = place.get(&task) {
                break *begin;
            }
            place.insert(task, steps.len());
            let blocker = edges.get(&task)?.first()?.clone();
            let next = blocker.key();
            steps.push(Step { task: task.0, address: task.1, blocker });
            task = next;
        };
        steps.drain(..begin);
        told.extend(steps.iter().map(Step::key));
        let lowest = steps.iter().enumerate().min_by_key(|(_, step)| step.key()).map_or(0, |(number, _)| number);
        steps.rotate_left(lowest);
        let may_end = steps.iter().any(|step| self.waits.get(&step.key()).is_none_or(|waits| waits.len() != 1));
        Some(Cycle { steps, may_end })
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

/// Removes tasks that are in no cycle and behind none: those whose blockers are not blocked themselves.
fn remove_dead_ends(edges: &mut HashMap<Key, Vec<Blocker>>) {
    let mut blocked_by: HashMap<Key, Vec<Key>> = HashMap::new();
    let mut left: HashMap<Key, usize> = HashMap::new();
    for (task, blockers) in edges.iter() {
        for blocker in blockers {
            blocked_by.entry(blocker.key()).or_default().push(*task);
            left.entry(blocker.key()).or_insert(0);
        }
    }
    for (task, blockers) in edges.iter() {
        left.insert(*task, blockers.len());
    }
    let mut free: Vec<Key> = left.iter().filter(|(_, left)| **left == 0).map(|(task, _)| *task).collect();
    while let Some(task) = free.pop() {
        for waiting in blocked_by.get(&task).into_iter().flatten() {
            if let Some(left) = left.get_mut(waiting) {
                *left -= 1;
                if *left == 0 {
                    free.push(*waiting);
                }
            }
        }
    }
    edges.retain(|task, _| left.get(task).is_some_and(|left| *left > 0));
    for blockers in edges.values_mut() {
        blockers.retain(|blocker| left.get(&blocker.key()).is_some_and(|left| *left > 0));
    }
}

/// Returns the cycles of the second look that the first one has too.
#[must_use]
pub fn in_both(first: &[Cycle], second: Vec<Cycle>) -> Vec<Cycle> {
    second.into_iter().filter(|cycle| first.iter().any(|known| known.steps == cycle.steps)).collect()
}

/// Returns the futurelocks of the second look that the first one has too. Other tasks may have come to wait meanwhile.
#[must_use]
pub fn futurelocks_in_both(first: &[Futurelock], second: Vec<Futurelock>) -> Vec<Futurelock> {
    let same = |a: &Futurelock, b: &Futurelock| (a.task, a.address) == (b.task, b.address) && a.guard == b.guard;
    second.into_iter().filter(|lock| first.iter().any(|known| same(known, lock))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::listing::{Name, Spawned, State, Unpolled};

    fn semaphore(address: u64, free: u64) -> WaitsFor {
        WaitsFor::Semaphore {
            address,
            of: SemaphoreOf::Mutex,
            name: None,
            free,
            missing: 1,
            closed: false,
            holder: None,
        }
    }

    fn join(task: u64) -> WaitsFor {
        WaitsFor::Join { address: task << 8, task: Some(task) }
    }

    fn guard(address: u64, semaphore: u64) -> Guard {
        Guard { address, variable: "g".into(), guard: "MutexGuard<u32>".into(), semaphore, taken: None, unpolled: None }
    }

    /// A task that keeps a future to which a semaphore was granted.
    fn keeps(id: u64, address: u64, semaphore: u64, waits: &[WaitsFor]) -> Task {
        let mut task = task(id, &[], waits);
        let Chain::Read { root } = &mut task.chain else { unreachable!() };
        let unpolled = Some(Unpolled { future: "f".into(), place: None, granted: true });
        root.holds.push(Guard { unpolled, ..guard(address, semaphore) });
        task
    }

    fn task(id: u64, holds: &[u64], waits: &[WaitsFor]) -> Task {
        let guard = |semaphore: &u64| guard(id << 8 | semaphore, *semaphore);
        let awaits = waits.iter().map(|waits| Await { waits_for: Some(waits.clone()), ..Await::default() }).collect();
        let root = Await { holds: holds.iter().map(guard).collect(), awaits, ..Await::default() };
        Task {
            id,
            shares_id: false,
            address: id << 8,
            owner: 1,
            scheduler: 0,
            state: State::default(),
            future: Name::Address { poll: 1 },
            spawned: Spawned::Unknown,
            linked: None,
            chain: Chain::Read { root },
        }
    }

    fn listing(tasks: Vec<Task>) -> Listing {
        Listing { tasks, ..Listing::default() }
    }

    fn members(cycle: &Cycle) -> Vec<u64> {
        cycle.steps.iter().map(|step| step.task).collect()
    }

    #[test]
    fn two_tasks_with_two_locks_are_a_cycle() {
        let listing = listing(vec![task(5, &[20], &[semaphore(10, 0)]), task(3, &[10], &[semaphore(20, 0)])]);
        let cycles = Locks::of(&listing).cycles();
        assert_eq!(cycles.len(), 1);
        assert_eq!(members(&cycles[0]), [3, 5]);
        assert!(!cycles[0].may_end);
        assert_eq!(in_both(&cycles, cycles.clone()), cycles);
        assert!(in_both(&[], cycles).is_empty());
    }

    #[test]
    fn a_lock_and_a_join_are_a_cycle_and_tasks_behind_it_are_not() {
        let tasks = vec![task(1, &[10], &[join(2)]), task(2, &[], &[semaphore(10, 0)]), task(3, &[], &[join(1)])];
        let listing = listing(tasks);
        let cycles = Locks::of(&listing).cycles();
        assert_eq!(cycles.iter().map(members).collect::<Vec<_>>(), [[1, 2]]);
    }

    #[test]
    fn tasks_of_two_tokios_with_the_same_ids_are_told_apart() {
        let renamed = |id, task: Task| Task { id, shares_id: true, ..task };
        // two cycles of two tasks each; in one tokio the ids are 3 and 5, in the other, too
        let mut tasks = vec![task(3, &[10], &[semaphore(20, 0)]), task(5, &[20], &[semaphore(10, 0)])];
        tasks.push(renamed(3, task(6, &[30], &[semaphore(40, 0)])));
        tasks.push(renamed(5, task(7, &[40], &[semaphore(30, 0)])));
        let listing = listing(tasks);
        let cycles = Locks::of(&listing).cycles();
        let addresses = |cycle: &Cycle| cycle.steps.iter().map(|step| step.address >> 8).collect::<Vec<_>>();
        assert_eq!(cycles.iter().map(addresses).collect::<Vec<_>>(), [[3, 5], [6, 7]]);
    }

    #[test]
    fn another_wait_may_end_a_cycle() {
        let timer = WaitsFor::Timer { due_in: 1 };
        let tasks = vec![task(1, &[10], &[semaphore(20, 0), timer]), task(2, &[20], &[semaphore(10, 0)])];
        assert!(Locks::of(&listing(tasks)).cycles()[0].may_end);
    }

    #[test]
    fn a_free_permit_a_second_candidate_and_the_own_guard_make_no_cycle() {
        let free = vec![task(1, &[10], &[semaphore(20, 1)]), task(2, &[20], &[semaphore(10, 0)])];
        assert!(Locks::of(&listing(free)).cycles().is_empty());
        let two = vec![task(1, &[10], &[semaphore(20, 0)]), task(2, &[20], &[semaphore(10, 0)]), task(3, &[10], &[])];
        let two = listing(two);
        let locks = Locks::of(&two);
        assert!(locks.cycles().is_empty());
        assert_eq!(
            locks.blockers_of((2, 2 << 8)).iter().map(|blocker| (blocker.task, blocker.certain)).collect::<Vec<_>>(),
            [(1, false), (3, false)]
        );
        let own = vec![task(1, &[10], &[semaphore(10, 0)])];
        assert!(Locks::of(&listing(own)).cycles().is_empty());
    }

    #[test]
    fn a_task_that_keeps_what_it_waits_for_is_a_futurelock_and_no_cycle() {
        let listing = listing(vec![keeps(3, 1, 10, &[semaphore(10, 0)]), task(5, &[], &[semaphore(10, 0)])]);
        let locks = Locks::of(&listing);
        assert!(locks.cycles().is_empty());
        let found = locks.futurelocks();
        assert_eq!(found.len(), 1);
        let waiting: Vec<u64> = found[0].waiting.iter().map(|waiter| waiter.task).collect();
        assert_eq!((found[0].task, &waiting[..], found[0].certain), (3, &[3, 5][..], true));
        assert_eq!(
            locks.blockers(&listing.tasks[0]).iter().map(|by| (by.task, by.certain)).collect::<Vec<_>>(),
            [(3, true)]
        );
        assert_eq!(futurelocks_in_both(&found, found.clone()), found);
        assert!(futurelocks_in_both(&[], found).is_empty());
    }

    #[test]
    fn a_futurelock_needs_waiters_no_free_permit_and_an_idle_owner() {
        let timer = WaitsFor::Timer { due_in: 1 };
        let found = |tasks| Locks::of(&listing(tasks)).futurelocks();
        assert!(found(vec![keeps(3, 1, 10, std::slice::from_ref(&timer))]).is_empty());
        let waiter = |free| task(5, &[], &[semaphore(10, free)]);
        assert!(found(vec![keeps(3, 1, 10, std::slice::from_ref(&timer)), waiter(1)]).is_empty());
        let mut woken = keeps(3, 1, 10, std::slice::from_ref(&timer));
        woken.state.notified = true;
        assert!(found(vec![woken, waiter(0)]).is_empty());
        assert!(found(vec![keeps(3, 1, 10, &[timer]), waiter(0)])[0].certain);
    }

    #[test]
    fn a_second_candidate_makes_a_futurelock_uncertain_and_the_same_guard_does_not() {
        let waits = [semaphore(10, 0)];
        let two = listing(vec![keeps(3, 1, 10, &waits), task(5, &[10], &[])]);
        let found = Locks::of(&two).futurelocks();
        assert_eq!(found.iter().map(|lock| (lock.task, lock.certain)).collect::<Vec<_>>(), [(3, false)]);
        let same = listing(vec![keeps(3, 1, 10, &waits), keeps(5, 1, 10, &[])]);
        assert_eq!(Locks::of(&same).futurelocks().len(), 2);
        assert!(Locks::of(&same).futurelocks().iter().all(|lock| !lock.certain));
        // the other task polls the future
        let mut other = task(5, &[10], &[]);
        if let Chain::Read { root } = &mut other.chain {
            root.holds[0].address = 1;
        }
        assert!(Locks::of(&listing(vec![keeps(3, 1, 10, &waits), other])).futurelocks().is_empty());
    }

    #[test]
    fn a_guard_in_a_future_that_an_unknown_one_may_poll_is_uncertain() {
        let mut keeper = keeps(3, 1, 10, &[WaitsFor::UnknownLeaf]);
        let Chain::Read { root } = &mut keeper.chain else { unreachable!() };
        root.holds[0].unpolled.as_mut().unwrap().granted = false;
        let listing = listing(vec![keeper, task(5, &[], &[semaphore(10, 0)])]);
        let locks = Locks::of(&listing);
        assert!(locks.futurelocks().is_empty() && !locks.blockers(&listing.tasks[1])[0].certain);
    }

    #[test]
    fn a_task_that_was_woken_is_in_no_cycle() {
        let mut listing = listing(vec![task(5, &[20], &[semaphore(10, 0)]), task(3, &[10], &[semaphore(20, 0)])]);
        listing.tasks[0].state.notified = true;
        assert!(Locks::of(&listing).cycles().is_empty());
    }

    #[test]
    fn a_long_ring_is_one_cycle() {
        let tasks = (0..2000).map(|id| task(id, &[id], &[semaphore((id + 1) % 2000, 0)])).collect();
        let listing = listing(tasks);
        let cycles = Locks::of(&listing).cycles();
        assert_eq!(cycles.len(), 1);
        assert_eq!(cycles[0].steps.len(), 2000);
    }
}
