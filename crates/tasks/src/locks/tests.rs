//! Made-up listings of tasks, their locks and waits.

use super::*;
use crate::listing::{Spawned, State, Unpolled};

fn semaphore(address: u64, free: u64) -> WaitsFor {
    WaitsFor::Semaphore { address, of: SemaphoreOf::Mutex, name: None, free, missing: 1, closed: false, holder: None }
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

/// Two tasks that wait for each other, and another one.
fn ring_beside(other: Task) -> Listing {
    listing(vec![task(3, &[10], &[semaphore(20, 0)]), task(5, &[20], &[semaphore(10, 0)]), other])
}

fn certain(listing: &Listing) -> Vec<bool> {
    Locks::of(listing).cycles().iter().map(|cycle| cycle.certain).collect()
}

#[test]
fn a_task_that_could_not_be_read_makes_a_cycle_and_a_futurelock_uncertain() {
    assert_eq!(certain(&ring_beside(task(7, &[], &[]))), [true]);
    let running = State { running: true, ..State::default() };
    let unread = [
        Task { state: running, ..task(7, &[], &[]) },
        Task { chain: Chain::Busy, ..task(7, &[], &[]) },
        Task { chain: Chain::NoTypes, ..task(7, &[], &[]) },
        Task { owner: 0, state: running, ..task(7, &[], &[]) },
    ];
    for other in unread {
        assert_eq!(certain(&ring_beside(other.clone())), [false], "{other:?}");
        let mut kept = keeps(3, 1, 10, &[WaitsFor::Timer { due_in: 1 }]);
        let found = |kept: &Task| {
            let tasks = vec![kept.clone(), task(5, &[], &[semaphore(10, 0)]), other.clone()];
            Locks::of(&listing(tasks)).futurelocks()[0].certain
        };
        // The semaphore itself gave this one the lock.
        assert!(found(&kept));
        let Chain::Read { root } = &mut kept.chain else { unreachable!() };
        root.holds[0].unpolled.as_mut().unwrap().granted = false;
        assert!(!found(&kept));
    }
}

#[test]
fn complete_tasks_and_jobs_of_tokio_hold_no_lock() {
    let complete = State { running: true, complete: true, ..State::default() };
    assert_eq!(certain(&ring_beside(Task { state: complete, chain: Chain::Busy, ..task(7, &[], &[]) })), [true]);
    let name = "tokio::runtime::blocking::task::BlockingTask<tokio::runtime::scheduler::multi_thread::worker::launch>";
    let running = State { running: true, ..State::default() };
    let job = |name: &str, owner| {
        let future = Name::Type { name: name.into() };
        ring_beside(Task { owner, future, state: running, chain: Chain::NoTypes, ..task(7, &[], &[]) })
    };
    assert_eq!(certain(&job(name, 0)), [true]);
    assert_eq!(certain(&job(name, 1)), [false]);
    assert_eq!(certain(&job("tokio::runtime::blocking::task::BlockingTask<app::locks>", 0)), [false]);
}

#[test]
fn a_cycle_is_the_same_whether_or_not_other_tasks_could_be_read() {
    let sure = Locks::of(&ring_beside(task(7, &[], &[]))).cycles();
    let unsure = Locks::of(&ring_beside(Task { chain: Chain::Busy, ..task(7, &[], &[]) })).cycles();
    assert_eq!(in_both(&sure, unsure.clone()), unsure);
    assert_eq!(in_both(&unsure, sure.clone()), sure);
}

#[test]
fn the_holder_that_a_lock_notes_decides() {
    let cycles = |process, noted, other: Task| {
        let mut listing = ring_beside(other);
        let Chain::Read { root } = &mut listing.tasks[0].chain else { unreachable!() };
        root.process = NonZeroU64::new(process);
        let Chain::Read { root } = &mut listing.tasks[1].chain else { unreachable!() };
        let Some(WaitsFor::Semaphore { holder, .. }) = &mut root.awaits[0].waits_for else { unreachable!() };
        *holder = Some(Box::new(Noted { pid: noted, place: None, since: 0 }));
        certain(&listing)
    };
    let read = || task(7, &[], &[]);
    assert_eq!(cycles(57, 57, read()), [true]);
    assert_eq!(cycles(57, 58, read()), [false]);
    // The task is no process: the pid is that of a thread, or of another task.
    assert_eq!(cycles(0, 58, read()), [true]);
    let mut other = read();
    let Chain::Read { root } = &mut other.chain else { unreachable!() };
    root.process = NonZeroU64::new(58);
    assert_eq!(cycles(0, 58, other), [false]);
    // One lock has a note that agrees, the other has none.
    assert_eq!(cycles(57, 57, Task { chain: Chain::Busy, ..read() }), [false]);
}

#[test]
fn a_task_that_was_given_its_lock_is_not_blocked() {
    let granted = |address| match semaphore(address, 0) {
        WaitsFor::Semaphore { address, of, name, free, closed, holder, .. } => {
            WaitsFor::Semaphore { address, of, name, free, missing: 0, closed, holder }
        }
        other => other,
    };
    let tasks =
        vec![task(3, &[10], &[granted(20)]), task(5, &[20], &[semaphore(10, 0)]), task(7, &[], &[semaphore(20, 0)])];
    let listing = listing(tasks);
    let locks = Locks::of(&listing);
    assert!(locks.cycles().is_empty() && locks.blockers(&listing.tasks[0]).is_empty());
    // The guard in task 5 may be an old one: task 3 has the lock.
    assert_eq!(
        locks.blockers(&listing.tasks[2]).iter().map(|by| (by.task, by.certain)).collect::<Vec<_>>(),
        [(5, false)]
    );
    let only =
        super::tests::listing(vec![keeps(3, 1, 10, &[WaitsFor::Timer { due_in: 1 }]), task(5, &[], &[granted(10)])]);
    assert!(Locks::of(&only).futurelocks().is_empty());
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

#[test]
fn a_long_chain_before_a_cycle_is_followed_once() {
    const TASKS: u64 = 20_000;
    let cycles = |of: fn(u64) -> u64| {
        let listing = listing((1..=TASKS).map(|id| task(id, &[], &[join(of(id))])).collect());
        Locks::of(&listing).cycles().iter().map(members).collect::<Vec<_>>()
    };
    assert_eq!(cycles(|id| if id == 1 { 2 } else { id - 1 }), [[1, 2]]);
    assert_eq!(cycles(|id| if id == TASKS { id - 1 } else { id + 1 }), [[TASKS - 1, TASKS]]);
}
