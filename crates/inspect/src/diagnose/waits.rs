//! The waits in a look at tasks that may be causes. Those of idle connections and of work that is not due are none.

use std::collections::{BTreeMap, HashMap, HashSet};

use dyntrace_tasks::listing::{Await, Chain, Listing, Runtime, SemaphoreOf, Task, WaitsFor};
use dyntrace_tasks::locks::{Locks, Through};

use super::causes::{Cause, CauseKind, Wait};
use super::stacks::is_ready;
use crate::own::{self, Own};
use crate::words;

/// Tasks that are followed behind each other, each waiting for the end of the next.
const JOINS: u32 = 8;

/// The waits of a look.
#[derive(Debug, Default)]
pub struct Waits {
    pub all: Vec<Wait>,
    /// Tasks that threads poll.
    pub polled: usize,
    /// How many tasks of each runtime no thread polls, though they were woken, or data for them has arrived.
    pub ready: BTreeMap<u64, usize>,
    /// Tasks that came, were polled or ended while they were read.
    pub changed: usize,
    /// Tasks that were found beyond those that their runtimes count.
    pub surplus: usize,
    /// Tasks whose own waits are told with the locks that they hold.
    pub holders: usize,
    /// Tasks without types: for which events they wait is not known.
    pub without_types: usize,
}

impl Waits {
    /// `listening`: the ports of servers.
    pub fn of(listing: &Listing, listening: &HashSet<u16>) -> Waits {
        let look = Look { locks: Locks::of(listing), by_address: listing.by_address(), listening };
        let mut waits = Waits::default();
        for Runtime { counted, found, .. } in &listing.runtimes {
            let beyond = |more: u64, than: u64| usize::try_from(more.saturating_sub(than)).unwrap_or(usize::MAX);
            let counted = counted.unwrap_or(*found);
            waits.changed += beyond(counted, *found);
            waits.surplus += beyond(*found, counted);
        }
        let mut of_tasks = Vec::new();
        for task in listing.tasks.iter().filter(|task| task.owner != 0 && !task.state.complete) {
            match &task.chain {
                _ if task.state.running => waits.polled += 1,
                _ if is_ready(task) => *waits.ready.entry(task.owner).or_default() += 1,
                Chain::Read { root } => {
                    of_tasks.extend(look.wait(task, root, JOINS).map(|(of, wait)| (task.address, of, wait)));
                }
                Chain::Busy | Chain::Complete => waits.changed += 1,
                Chain::NoTypes => waits.without_types += 1,
            }
        }
        // Each wait counts once: with the task that has it, not with those that wait for the end of this task.
        let counted: HashSet<u64> = of_tasks.iter().filter(|(task, of, _)| task == of).map(|(_, of, _)| *of).collect();
        of_tasks.retain(|(task, of, _)| task == of || !counted.contains(of));
        // The wait of a lock's holder is told with the lock, unless the holder waits for a lock itself, as in a deadlock.
        let mut holders: HashSet<u64> = of_tasks.iter().filter_map(|(.., wait)| wait.holder).collect();
        for (task, _, wait) in &of_tasks {
            if wait.cause.kind == CauseKind::Lock {
                holders.remove(task);
            }
        }
        of_tasks.retain(|(task, ..)| !holders.contains(task));
        let waits_too =
            |holder: &&u64| look.by_address.get(holder).is_some_and(|task| task.stands() && !is_ready(task));
        waits.holders = holders.iter().filter(waits_too).count();
        waits.all = of_tasks.into_iter().map(|(.., wait)| wait).collect();
        waits
    }
}

struct Look<'l> {
    locks: Locks<'l>,
    by_address: HashMap<u64, &'l Task>,
    listening: &'l HashSet<u16>,
}

impl Look<'_> {
    /// The wait of a task, and the task that has it: this one, or the one for whose end it waits. Of several, as under `select!`, the first
    /// that may be a cause.
    fn wait(&self, task: &Task, root: &Await, joins: u32) -> Option<(u64, Wait)> {
        task.leaves().into_iter().find_map(|leaf| {
            let victim = own::of_chain(root, leaf);
            // The end of a task is late for the same cause as its own wait. If it runs, its thread tells.
            if let Some(WaitsFor::Join { address, .. }) = &leaf.waits_for
                && let Some(joined) = self.by_address.get(address).filter(|joined| joined.owner != 0)
            {
                let Chain::Read { root } = &joined.chain else { return None };
                let waits = joins > 0 && joined.stands();
                let (of, wait) = waits.then(|| self.wait(joined, root, joins - 1)).flatten()?;
                return Some((of, Wait { victim, ..wait }));
            }
            Some((task.address, self.cause(task, root, leaf, victim)?))
        })
    }

    /// The wait at `leaf`, in the function `victim`.
    fn cause(&self, task: &Task, root: &Await, leaf: &Await, victim: Option<Own>) -> Option<Wait> {
        let waits_for = leaf.waits_for.as_ref()?;
        let (kind, resource) = match waits_for {
            WaitsFor::Semaphore { missing: 0, .. } | WaitsFor::Semaphore { closed: true, .. } => return None,
            WaitsFor::Semaphore { of, .. } => {
                let kind = match of {
                    SemaphoreOf::Mutex | SemaphoreOf::RwLock => CauseKind::Lock,
                    SemaphoreOf::Channel => CauseKind::FullChannel,
                    SemaphoreOf::Semaphore | SemaphoreOf::Unknown => CauseKind::Permits,
                };
                let holder = self.holder(task);
                let cause = Cause::new(kind, words::of(*of), holder.as_ref().map(|(_, own, _)| own.clone()));
                let (holder, holder_waits) = holder.map(|(holder, _, waits)| (holder, waits)).unzip();
                let holder = holder.filter(|_| kind == CauseKind::Lock);
                return Some(Wait { cause, victim, holder, holder_waits });
            }
            WaitsFor::File(_) | WaitsFor::Job { .. } => (CauseKind::FileOperation, words::kind(leaf)),
            WaitsFor::Join { address, .. } if self.is_job(*address) => {
                (CauseKind::BlockingJob, "a job of the blocking pool".to_owned())
            }
            _ if !own::is_carried(root, leaf) => return None,
            WaitsFor::Descriptor { describes, .. } => (CauseKind::Peer, self.peer(describes.as_deref())?),
            WaitsFor::Timer { .. } => (CauseKind::Timer, "a timer".to_owned()),
            WaitsFor::Join { .. } => return None,
            WaitsFor::Channel { channel, .. } => (CauseKind::Event, format!("{channel} channel")),
            WaitsFor::Notify { .. } => (CauseKind::Event, "Notify".to_owned()),
            WaitsFor::Object { object, .. } => (CauseKind::Event, (*object).to_owned()),
            WaitsFor::Forever | WaitsFor::UnknownLeaf => return None,
        };
        // One cause for all lines of a function: they are told with the time of each.
        let own = victim.as_ref().map(|own| Own { place: None, ..own.clone() });
        Some(Wait { cause: Cause::new(kind, resource, own), victim, holder: None, holder_waits: None })
    }

    /// The holder of the lock of this task, with the function and its own wait; if a task is seen to hold it.
    fn holder(&self, task: &Task) -> Option<(u64, Own, String)> {
        self.locks.blockers(task).iter().find_map(|blocker| {
            let Through::Guard { future, place, .. } = &blocker.through else { return None };
            let holder = self.by_address.get(&blocker.address)?;
            let waits = match holder.leaves().first() {
                _ if holder.state.running => "nothing: it runs".to_owned(),
                _ if holder.state.notified => "a thread to run it".to_owned(),
                Some(leaf) => self.kind(leaf),
                None => "an unknown event".to_owned(),
            };
            Some((holder.address, Own { function: own::function(future), place: place.clone() }, waits))
        })
    }

    /// The wait of a holder, in words that are equal for all waits of this kind.
    fn kind(&self, leaf: &Await) -> String {
        match &leaf.waits_for {
            Some(WaitsFor::Descriptor { describes, .. }) => {
                self.peer(describes.as_deref()).unwrap_or_else(|| words::alike(leaf))
            }
            Some(WaitsFor::Join { address, .. }) if self.is_job(*address) => "a job of the blocking pool".to_owned(),
            Some(WaitsFor::Semaphore { .. }) => format!("another {}", words::alike(leaf)),
            _ => words::alike(leaf),
        }
    }

    /// Whether the task at an address is a job of the blocking pool. Most jobs are short: one that the listing does not have has begun, and
    /// perhaps ended, while the listing was made. The end of a task of a runtime's own would have woken the one that waits for it.
    fn is_job(&self, address: u64) -> bool {
        self.by_address.get(&address).is_none_or(|task| task.owner == 0)
    }

    /// The other end of a connection that the program has made. `None` for those that it has accepted, and for listeners.
    fn peer(&self, describes: Option<&str>) -> Option<String> {
        let (local, peer) = describes?.split_once(" to ")?;
        let port = local.rsplit(':').next()?.parse().ok()?;
        (!self.listening.contains(&port)).then(|| peer.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use dyntrace_tasks::listing::{Progress, SourceLine, State};

    use super::*;
    use crate::sample::{self, mutex, waiting};

    fn of(tasks: Vec<Task>) -> Waits {
        Waits::of(&Listing { tasks, ..Listing::default() }, &HashSet::from([80]))
    }

    fn function(name: &str, file: &str, awaits: Vec<Await>) -> Await {
        let place = Some(SourceLine { file: file.into(), line: 7 });
        Await { future: name.into(), place, progress: Progress::Suspended, awaits, ..Await::default() }
    }

    /// A request of a server: the program's own function below the server's.
    fn request(id: u64, waits_for: WaitsFor) -> Task {
        let own = function("shop::serve::{async block}", "src/main.rs", vec![waiting(waits_for)]);
        let root = function("axum::serve::handle_connection", "axum-0.8.9/src/serve/mod.rs", vec![own]);
        sample::task(id, Chain::Read { root })
    }

    fn descriptor(describes: &str) -> WaitsFor {
        WaitsFor::Descriptor { descriptor: 5, describes: Some(describes.into()), ready: None, unread: 0 }
    }

    #[test]
    fn idle_connections_and_work_that_is_not_due_are_no_causes() {
        let own = |waits_for| {
            let root = function("shop::background", "src/main.rs", vec![waiting(waits_for)]);
            sample::task(1, Chain::Read { root })
        };
        let idle = function(
            "axum::serve::handle_connection",
            "axum-0.8.9/src/serve/mod.rs",
            vec![waiting(descriptor("tcp 127.0.0.1:80 to 127.0.0.1:4000"))],
        );
        let tasks = vec![
            own(WaitsFor::Timer { due_in: 1 }),
            own(WaitsFor::Channel { channel: "mpsc", address: Some(1) }),
            sample::task(2, Chain::Read { root: idle }),
            request(3, descriptor("tcp 127.0.0.1:80 to 127.0.0.1:4000")),
            sample::task(4, Chain::NoTypes),
        ];
        assert_eq!(of(tasks).all, []);
    }

    #[test]
    fn requests_wait_for_peers_timers_and_jobs() {
        let job = Task { owner: 0, address: 0x900, ..sample::task(9, Chain::NoTypes) };
        let woken = Task { state: State { notified: true, ..State::default() }, ..request(5, mutex(1)) };
        let tasks = vec![
            request(1, descriptor("tcp 127.0.0.1:4001 to 10.0.0.1:5432")),
            request(2, WaitsFor::Timer { due_in: 1 }),
            request(3, WaitsFor::Join { address: 0x900, task: Some(9) }),
            request(4, mutex(0xa0)),
            woken,
            job,
            sample::task(10, Chain::Busy),
            sample::task(11, Chain::NoTypes),
        ];
        let waits = of(tasks);
        let told: Vec<_> = waits.all.iter().map(|wait| (wait.cause.kind, wait.cause.resource.as_str())).collect();
        let expected = [
            (CauseKind::Peer, "10.0.0.1:5432"),
            (CauseKind::Timer, "a timer"),
            (CauseKind::BlockingJob, "a job of the blocking pool"),
            (CauseKind::Lock, "Mutex"),
        ];
        assert_eq!((told.as_slice(), waits.ready.values().sum()), (&expected[..], 1));
        assert_eq!((waits.changed, waits.holders, waits.without_types), (1, 0, 1));
        assert!(waits.all.iter().all(|wait| wait.victim.as_ref().is_some_and(|own| own.function == "shop::serve")));
        assert_eq!(waits.all[3].cause.own, None, "nobody is seen to hold it");
    }

    #[test]
    fn a_task_that_is_awaited_waits_once() {
        let joins = WaitsFor::Join { address: 0x100, task: Some(1) };
        let runs = Task { state: State { running: true, ..State::default() }, ..request(3, mutex(0xa0)) };
        let tasks = vec![Task { address: 0x100, ..request(1, mutex(0xa0)) }, request(2, joins), runs];
        let waits = of(tasks);
        let told: Vec<_> = waits.all.iter().map(|wait| wait.cause.kind).collect();
        assert_eq!((told, waits.polled), (vec![CauseKind::Lock], 1));
    }

    #[test]
    fn a_lock_leads_to_its_holder() {
        let listing = sample::listing();
        let waits = Waits::of(&listing, &HashSet::new());
        let held: Vec<_> = waits.all.iter().filter(|wait| wait.holder_waits.is_some()).collect();
        assert_eq!(waits.holders, 0, "the holders wait for locks, too");
        assert!(!held.is_empty() && held.iter().all(|wait| wait.cause.own.is_some()), "{:?}", waits.all);
    }

    #[test]
    fn the_wait_of_a_holder_is_told_with_its_lock() {
        let mut holder = request(1, descriptor("tcp 127.0.0.1:4001 to 10.0.0.1:5432"));
        let Chain::Read { root } = &mut holder.chain else { panic!("it has a chain") };
        root.awaits[0].holds.push(sample::guard("cart", "MutexGuard<u64>", 0xa0));
        let waits = of(vec![holder, request(2, mutex(0xa0))]);
        let told: Vec<_> = waits.all.iter().map(|wait| (wait.cause.kind, wait.holder_waits.as_deref())).collect();
        assert_eq!((told, waits.holders), (vec![(CauseKind::Lock, Some("10.0.0.1:5432"))], 1));
    }
}
