//! Why tasks wait: the event of each, the task that holds or owes it, and so on to the end. Texts are made of this tree.

use std::collections::{HashMap, HashSet};

use crate::listing::{Await, Holder, Listing, SemaphoreOf, Task, WaitsFor};
use crate::locks::{Blocker, Locks};
use crate::stuck::{Processes, Stuck};

/// Tasks followed behind each other, at most.
const DEPTH: usize = 32;

/// Holders followed of one lock, at most.
const HOLDERS: usize = 8;

/// A wait of tasks that wait for the same, and the tasks behind it.
#[derive(Debug, Default)]
pub struct Wait<'l> {
    /// The future that waits, of each of the tasks. None if memory does not tell it.
    pub futures: Vec<&'l Await>,
    /// The tasks that hold or owe the event, as far as they are known.
    pub behind: Vec<Behind<'l>>,
    /// Further holders, which are not followed.
    pub more: usize,
}

/// A task behind a wait.
#[derive(Debug)]
pub struct Behind<'l> {
    /// The source that tells it.
    pub by: By<'l>,
    /// The task, if it is in memory.
    pub task: Option<&'l Task>,
    /// Its own waits.
    pub then: Then<'l>,
}

/// The source that tells of a task behind a wait.
#[derive(Debug)]
pub enum By<'l> {
    /// Its guard, or its end that is awaited.
    Blocker(Blocker),
    /// The lock itself, which notes this holder.
    Lock(&'l Holder),
    /// The program's table: the number of the process.
    Table(u64),
}

/// The waits of a task behind another one.
#[derive(Debug)]
pub enum Then<'l> {
    /// It is not there.
    Gone,
    /// It is one of the tasks that lead to it, or the waiting task itself.
    Above,
    /// It is in a deadlock.
    Deadlocked,
    /// It is elsewhere in the tree.
    Told,
    /// There are too many tasks before it.
    TooDeep,
    /// Its waits. None if it does not wait.
    Waits(Vec<Wait<'l>>),
}

/// The waits of a program's tasks.
pub struct Why<'l> {
    /// Their guards and waits in memory.
    pub locks: Locks<'l>,
    /// Tasks in deadlocks, by their addresses.
    pub deadlocked: HashSet<u64>,
    /// Processes in deadlocks of the table.
    pub stuck: HashSet<u64>,
    by_address: HashMap<u64, &'l Task>,
    table: Option<&'l dyn Processes>,
}

/// A task in memory, or a process that only the table has.
#[derive(Clone, Copy)]
enum Node<'l> {
    Task(&'l Task),
    Process(u64),
}

/// One descent from task to task.
#[derive(Default)]
struct Descent {
    /// The addresses of the tasks, or the numbers of the processes, from the first one to this one.
    path: Vec<u64>,
    /// The addresses of all tasks that were followed.
    seen: HashSet<u64>,
}

impl<'l> Why<'l> {
    /// `stuck`: the deadlocks that are told apart.
    #[must_use]
    pub fn of(listing: &'l Listing, table: Option<&'l dyn Processes>, stuck: &Stuck) -> Why<'l> {
        let (mut deadlocked, stuck) = (stuck.tasks(), stuck.processes());
        let is_stuck =
            |task: &&Task| table.and_then(|table| table.of_task(task)).is_some_and(|pid| stuck.contains(&pid));
        deadlocked.extend(listing.tasks.iter().filter(is_stuck).map(|task| task.address));
        Why { locks: Locks::of(listing), deadlocked, stuck, by_address: listing.by_address(), table }
    }

    /// Returns the waits of tasks that wait for the same. Adds all tasks in them to `told`.
    #[must_use]
    pub fn of_tasks(&self, group: &[&'l Task], told: &mut HashSet<u64>) -> Vec<Wait<'l>> {
        let mut descent = Descent { path: vec![group[0].address], ..Descent::default() };
        let waits = self.waits(group, &mut descent);
        told.extend(group.iter().map(|task| task.address).chain(descent.seen));
        waits
    }

    /// Returns the process for which others wait, by the table. `group`: these others.
    #[must_use]
    pub fn of_processes(&self, group: Vec<u64>, awaited: u64) -> Behind<'l> {
        self.process(awaited, &mut Descent { path: group, ..Descent::default() })
    }

    /// The waits of tasks that wait for the same; none if they do not wait.
    fn waits(&self, group: &[&'l Task], descent: &mut Descent) -> Vec<Wait<'l>> {
        let task = group[0];
        descent.seen.insert(task.address);
        if !task.stands() {
            return Vec::new();
        }
        let of_each: Vec<_> = group.iter().map(|task| task.leaves()).collect();
        if of_each[0].is_empty() {
            let behind = self.awaited(task, descent);
            return vec![Wait { behind: behind.into_iter().collect(), ..Wait::default() }];
        }
        let blockers = self.locks.blockers(task);
        // tasks of a group have the same number of leaves
        let futures = (0..of_each[0].len()).map(|number| of_each.iter().map(|leaves| leaves[number]).collect());
        futures.map(|futures| self.wait(task, futures, &blockers, descent)).collect()
    }

    fn wait(&self, task: &'l Task, futures: Vec<&'l Await>, blockers: &[Blocker], descent: &mut Descent) -> Wait<'l> {
        let leaf = futures[0];
        let holders: Vec<&Blocker> = blockers.iter().filter(|blocker| blocker.is_awaited_by(leaf)).collect();
        let mut behind = Vec::new();
        match &leaf.waits_for {
            Some(WaitsFor::Semaphore { missing: 0, .. }) => {}
            Some(WaitsFor::Semaphore { holder: Some(noted), .. }) if holders.is_empty() => {
                let next = self.in_memory(noted.pid).map(Node::Task);
                behind.push(self.behind(By::Lock(noted), next, descent));
            }
            Some(WaitsFor::Semaphore { of: SemaphoreOf::Channel, .. }) => behind.extend(self.awaited(task, descent)),
            _ => {}
        }
        let more = holders.len().saturating_sub(HOLDERS);
        for holder in holders.into_iter().take(HOLDERS) {
            let next = self.by_address.get(&holder.address).copied().map(Node::Task);
            behind.push(self.behind(By::Blocker(holder.clone()), next, descent));
        }
        Wait { futures, behind, more }
    }

    /// The process that a task waits for by the table.
    fn awaited(&self, task: &Task, descent: &mut Descent) -> Option<Behind<'l>> {
        let table = self.table?;
        let own = table.of_task(task)?;
        let awaited = table.awaited(own)??;
        Some(match self.in_memory(awaited) {
            Some(task) => self.behind(By::Table(awaited), Some(Node::Task(task)), descent),
            None => self.of_processes(vec![own], awaited),
        })
    }

    fn process(&self, process: u64, descent: &mut Descent) -> Behind<'l> {
        let node = self.table.and_then(|table| table.awaited(process)).map(|_| Node::Process(process));
        self.behind(By::Table(process), node, descent)
    }

    /// The task in memory that is this process, if the table tells which one.
    fn in_memory(&self, process: u64) -> Option<&'l Task> {
        let address = self.table?.task_of(process)?;
        self.by_address.get(&address).copied()
    }

    /// Follows a task or process behind a wait, and those behind it.
    fn behind(&self, by: By<'l>, node: Option<Node<'l>>, descent: &mut Descent) -> Behind<'l> {
        let Some(node) = node else { return Behind { by, task: None, then: Then::Gone } };
        let (task, key, is_deadlocked, is_told) = match node {
            Node::Task(task) => {
                let address = task.address;
                (Some(task), address, self.deadlocked.contains(&address), descent.seen.contains(&address))
            }
            Node::Process(process) => (None, process, self.stuck.contains(&process), false),
        };
        let then = if descent.path.contains(&key) {
            Then::Above
        } else if is_deadlocked {
            Then::Deadlocked
        } else if is_told {
            Then::Told
        } else if descent.path.len() >= DEPTH {
            Then::TooDeep
        } else {
            descent.path.push(key);
            let waits = match node {
                Node::Task(task) => self.waits(&[task], descent),
                Node::Process(process) => self.waits_of_process(process, descent),
            };
            descent.path.pop();
            Then::Waits(waits)
        };
        Behind { by, task, then }
    }

    fn waits_of_process(&self, process: u64, descent: &mut Descent) -> Vec<Wait<'l>> {
        let awaited = self.table.and_then(|table| table.awaited(process)).flatten();
        let behind = awaited.map(|awaited| self.process(awaited, descent));
        vec![Wait { behind: behind.into_iter().collect(), ..Wait::default() }]
    }
}
