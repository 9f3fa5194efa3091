//! Looks at the threads of a program many times a second, and at its tasks as often as that stays cheap.
//!
//! 1. Each look at a thread reads one file of the kernel's. A worker that waits for work is known by its system call's first argument: the
//!    first time that a thread stays somewhere else, it is held for less than a millisecond, and its stack tells why it stays.
//! 2. A thread that runs is held now and then: two holds in one poll of one task, with no stay between them, are of a long poll.
//! 3. Looks at tasks follow the runtimes' lists. A search of the whole heap, which finds further runtimes, is rarer.
//! 4. Each look at tasks stands for the time since the look before, and counts each task once: it is polled, ready, or waits. Tasks that are
//!    ready wait for the causes that keep threads then. Looks at threads divide the time of those that are polled, and add none to it:
//!    a thread that runs may search for work, or wait for a CPU on its way to a task that is ready.
//!
//! The time between two looks counts for the state at the second one. Looks become rarer when they cost more than a share of one CPU.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::time::{Duration, Instant};

use dyntrace_tasks::listing::Listing;
use dyntrace_tasks::program::Program;
use dyntrace_tasks::reading::{DebugInformation, Described};
use dyntrace_tasks::threads::{Activity, Glance, Role, Stay, Thread, Watch};
use dyntrace_terminal::exit::Failure;
use dyntrace_terminal::signals::Interrupts;

use super::causes::{Cause, CauseKind, Causes, Wait};
use super::listeners::{Listeners, Listening};
use super::stacks::{Stack, Stacks, State};
use super::waits::Waits;
use crate::looks::{Looks, cpu_time};
use crate::own::{self, Own};
use crate::read::failure;

/// Between two looks at threads.
const PAUSE: Duration = Duration::from_millis(10);

/// Between two holds of a thread that runs.
const RUNNING: Duration = Duration::from_millis(40);

/// Between two holds of any threads, at most, if there is a reason for them.
const SELDOM: Duration = Duration::from_millis(150);

/// The part of one CPU that holds may take: one of so many.
const HOLDS: u32 = 150;

/// Threads that are watched, at most.
const MOST: usize = 256;

/// All that was seen.
#[derive(Debug, Default)]
pub struct Watched {
    pub causes: Causes,
    pub stacks: Stacks,
    /// How long the watch lasted.
    pub time: Duration,
    /// Looks at threads, and at tasks.
    pub looks: [u32; 2],
    /// Threads that poll tasks.
    pub workers: usize,
    /// The last look at tasks.
    pub listing: Listing,
    /// The kernel tells of no thread where it is: causes that block threads are not known.
    pub is_blind: bool,
}

/// Watches for this time, or until an interrupt.
pub fn watch(
    program: &Program,
    information: &DebugInformation<'_>,
    described: &Described<'_>,
    (pid, time): (u32, Duration),
    interrupts: &Interrupts,
    stacks: Stacks,
) -> Result<Watched, Failure> {
    let run = |threads: Watch<'_, '_, '_>| -> Result<Watched, Failure> {
        let mut watching = Watching {
            threads,
            begun: Instant::now(),
            spent: Duration::ZERO,
            held: Instant::now(),
            known: BTreeMap::new(),
            unheld: BTreeMap::new(),
            seen: Watched { stacks, ..Watched::default() },
        };
        watching.find_threads();
        let mut looks = Looks::new(program, described)?;
        // The first holds and the first look have prepared the names of functions and types.
        (watching.begun, watching.spent) = (Instant::now(), Duration::ZERO);
        let mut last = Instant::now();
        let mut listeners = Listeners::of(pid);
        loop {
            let is_over = watching.begun.elapsed() >= time || interrupts.wait(PAUSE).is_some();
            let elapsed = last.elapsed();
            last = Instant::now();
            watching.look_at_threads(elapsed);
            if looks.is_due() || is_over {
                looks.look(|listing, elapsed| watching.look_at_tasks(listing, &listeners.look(), elapsed))?;
                watching.find_threads();
            }
            if is_over {
                return Ok(watching.end());
            }
        }
    };
    program.watch(information, run).map_err(failure)?
}

struct Watching<'w, 'm, 'a> {
    threads: Watch<'w, 'm, 'a>,
    begun: Instant,
    /// CPU time of holds.
    spent: Duration,
    /// When a thread was held last.
    held: Instant,
    /// Threads of runtimes, by their ids.
    known: BTreeMap<u32, RuntimeThread>,
    /// The time of stays in each call of threads that were not held there, and that of tasks that waited for these threads.
    unheld: BTreeMap<String, [Duration; 2]>,
    seen: Watched,
}

/// A thread of the runtime.
#[derive(Default)]
struct RuntimeThread {
    role: Option<Role>,
    /// Whether it may poll tasks.
    polls: bool,
    /// The runtime of the task that it was last seen to poll.
    owner: Option<u64>,
    /// Whether it waits for work at present.
    is_idle: bool,
    /// Keeps it from ready tasks at present.
    kept_by: Option<Keeper>,
    /// First arguments of the system calls in which it waits for work.
    idle: HashSet<(u64, u64)>,
    stays: Option<Stays>,
    /// The reason of its stay at each place, by the last hold there.
    places: HashMap<Stay, Option<Why>>,
    /// When it was held last while it ran, with the task that it polled.
    ran: Option<(Instant, Option<u64>)>,
    /// Its functions in that hold, if it polled a task.
    running: Option<Stack>,
}

impl RuntimeThread {
    /// Whether its functions say that it polls tasks.
    fn is_worker(&self) -> bool {
        matches!(self.role, Some(Role::Worker | Role::BlockOn))
    }

    fn is_of_pool(&self) -> bool {
        self.role == Some(Role::Blocking)
    }

    /// Learns from a hold the runtime of the thread, and that it polls tasks where no function's name tells its role.
    fn learn(&mut self, thread: Option<&Thread>) {
        self.owner = thread.and_then(|thread| thread.owner).or(self.owner);
        self.polls |= self.owner.is_some();
    }

    /// A stay that has begun, and the thread if it was held; `None` if the thread waits for work, or if nothing is known.
    fn stay(&mut self, thread: Option<Thread>, at: Stay) -> Option<Stays> {
        let since = Instant::now();
        let Some(thread) = thread else {
            // Registers and arguments are the same: most probably the functions are, too.
            let why = self.places.get(&at)?.clone();
            return Some(Stays { at, runs: None, since, why });
        };
        // It may have gone on since the glance.
        if thread.system_call != at.system_call || is_resumed(&at) {
            return None;
        }
        if thread.activity == Some(Activity::Idle) {
            self.idle.extend(idle(&at));
            return None;
        }
        let polls = self.polls && thread.activity == Some(Activity::Polls);
        let own = own::of_stack(&thread.frames);
        let why = polls.then(|| Why {
            cause: Cause::new(CauseKind::BlockingCall, call(&at), without_line(own.as_ref())),
            own,
            stack: Stack::of_thread(&thread, State::Blocks, &call(&at)),
        });
        if self.places.len() < MOST {
            self.places.insert(at.clone(), why.clone());
        }
        Some(Stays { at, runs: None, since, why })
    }
}

/// Keeps a thread from ready tasks.
#[derive(Clone, Debug, PartialEq)]
enum Keeper {
    Cause(Cause),
    /// A call in which the thread was not held, so that its functions there are not known.
    Call(String),
}

/// Why a stay keeps tasks waiting.
#[derive(Clone)]
struct Why {
    cause: Cause,
    /// The function that stays.
    own: Option<Own>,
    stack: Stack,
}

/// A stay of a thread.
struct Stays {
    at: Stay,
    /// How often the thread had begun to run: in another call to the same place it has run again.
    runs: Option<u64>,
    since: Instant,
    why: Option<Why>,
}

impl Watching<'_, '_, '_> {
    /// Holds each new thread once, to learn its role.
    fn find_threads(&mut self) {
        let all = self.threads.threads();
        self.known.retain(|tid, _| all.binary_search(tid).is_ok());
        for tid in all.into_iter().take(MOST) {
            if self.known.contains_key(&tid) {
                continue;
            }
            let Some(thread) = self.hold(tid) else { continue };
            // Without symbols, a thread with tokio's name may be one of the blocking pool: only its stack tells.
            let polls = !matches!(thread.role, Role::Blocking | Role::Other);
            let mut known = RuntimeThread { role: Some(thread.role), polls, ..RuntimeThread::default() };
            known.learn(Some(&thread));
            self.known.insert(tid, known);
        }
        self.seen.workers = self.known.values().filter(|known| known.is_worker()).count();
    }

    /// Whether it may hold a thread: looks have not cost too much, or none was held for long.
    fn may_hold(&self) -> bool {
        self.spent * HOLDS <= self.begun.elapsed() || self.held.elapsed() >= SELDOM
    }

    /// Holds a thread.
    fn hold(&mut self, tid: u32) -> Option<Thread> {
        let begun = cpu_time();
        let thread = self.threads.thread(tid);
        self.spent += cpu_time() - begun;
        self.held = Instant::now();
        thread
    }

    fn look_at_threads(&mut self, elapsed: Duration) {
        self.seen.looks[0] += 1;
        let tids: Vec<u32> = self.known.keys().copied().collect();
        let mut told = 0;
        for tid in tids {
            let Some(glance) = self.threads.glance(tid) else { continue };
            told += 1;
            let Some(mut known) = self.known.remove(&tid) else { continue };
            (known.is_idle, known.kept_by) = (false, None);
            match glance {
                Glance::Runs => self.runs(tid, &mut known, elapsed),
                Glance::Stays(stay) => self.stays(tid, &mut known, stay, elapsed),
            }
            self.known.insert(tid, known);
        }
        self.seen.is_blind = told == 0;
    }

    fn runs(&mut self, tid: u32, known: &mut RuntimeThread, elapsed: Duration) {
        if known.is_of_pool() {
            self.seen.causes.add_pool("a CPU", elapsed);
        }
        if !known.polls {
            return;
        }
        known.stays = None;
        if let Some(stack) = &known.running {
            self.seen.stacks.add(stack, elapsed);
        }
        let last = known.ran;
        if last.is_some_and(|(at, _)| at.elapsed() < RUNNING) || !self.may_hold() {
            return;
        }
        let thread = self.hold(tid);
        let task = thread.as_ref().and_then(|thread| thread.task);
        known.learn(thread.as_ref());
        known.ran = Some((Instant::now(), task));
        let polls = thread.as_ref().filter(|thread| thread.activity == Some(Activity::Polls));
        known.running = polls.map(|thread| Stack::of_thread(thread, State::Runs, "on a CPU"));
        let (Some((at, before)), Some(thread)) = (last, thread) else { return };
        // The same task in both holds.
        if task.is_some() && before == task {
            let own = own::of_stack(&thread.frames);
            let cause = Cause::new(CauseKind::LongPoll, "a CPU", without_line(own.as_ref()));
            let long = at.elapsed();
            self.seen.causes.add_stay(&cause, own.as_ref(), long, long, true);
            known.kept_by = Some(Keeper::Cause(cause));
        }
    }

    fn stays(&mut self, tid: u32, known: &mut RuntimeThread, stay: Stay, elapsed: Duration) {
        known.ran = None;
        if idle(&stay).is_some_and(|idle| known.idle.contains(&idle)) {
            known.stays = None;
            known.is_idle = true;
            return;
        }
        // The call of a job is not that of a thread that waits for one: those wait in `futex`, at places of their own.
        if known.is_of_pool() && !is_futex(&stay) {
            self.seen.causes.add_pool(&call(&stay), elapsed);
            return;
        }
        let runs = self.threads.runs(tid);
        // Most stays in calls in which threads wait for work are such waits.
        let unheld = idle(&stay).is_none().then(|| call(&stay));
        let is_same = |before: &Stays| is_resumed(&stay) || (&before.at, before.runs) == (&stay, runs);
        let is_new = !known.stays.as_ref().is_some_and(is_same);
        if is_new {
            let thread = if self.may_hold() { self.hold(tid) } else { None };
            known.learn(thread.as_ref());
            known.stays = known.stay(thread, stay);
        }
        // A thread that was held has run since, or runs as it goes on with its call.
        let may_have_run = is_new || known.stays.as_ref().is_some_and(|stays| stays.runs != runs);
        if let Some(stays) = known.stays.as_mut().filter(|_| may_have_run) {
            stays.runs = self.threads.runs(tid);
        }
        if let Some(call) = unheld.filter(|_| known.polls && known.stays.is_none()) {
            known.kept_by = Some(Keeper::Call(call.clone()));
            self.unheld.entry(call).or_default()[0] += elapsed;
        }
        if let Some(Stays { since, why: Some(Why { cause, own, stack }), .. }) = &known.stays {
            self.seen.stacks.add(stack, elapsed);
            self.seen.causes.add_stay(cause, own.as_ref(), elapsed, since.elapsed(), is_new);
            known.kept_by = Some(Keeper::Cause(cause.clone()));
        }
    }

    fn end(mut self) -> Watched {
        let factors = self.seen.causes.add_unheld(&self.unheld);
        self.seen.stacks.divide(self.seen.causes.polled, &factors);
        self.seen.time = self.begun.elapsed();
        self.seen
    }

    fn look_at_tasks(&mut self, listing: Listing, listening: &Listening, elapsed: Duration) {
        self.seen.looks[1] += 1;
        self.seen.stacks.add_tasks(&listing, elapsed);
        let waits = Waits::of(&listing, &listening.ports);
        let mut all = waits.all;
        let (mut ready, mut woken) = (waits.ready, 0);
        // Connections that were not accepted wait for a runtime whose threads are all kept, if there is one.
        let owners: BTreeSet<u64> = self.known.values().filter_map(|known| known.owner).collect();
        match owners.into_iter().find(|owner| keepers(&self.known, *owner).is_some()) {
            Some(kept) => *ready.entry(kept).or_default() += listening.unaccepted,
            None => woken += listening.unaccepted,
        }
        for (owner, count) in ready {
            let Some(keepers) = keepers(&self.known, owner) else {
                woken += count;
                continue;
            };
            for keeper in keepers.into_iter().cycle().take(count) {
                match keeper {
                    Keeper::Cause(cause) => all.push(Wait { cause, victim: None, holder: None, holder_waits: None }),
                    Keeper::Call(call) => self.unheld.entry(call).or_default()[1] += elapsed,
                }
            }
        }
        let times = |tasks: usize| elapsed * u32::try_from(tasks).unwrap_or(u32::MAX);
        self.seen.causes.polled += times(waits.polled);
        self.seen.causes.holding += times(waits.holders);
        self.seen.causes.woken += times(woken);
        self.seen.causes.changed += times(waits.changed);
        self.seen.causes.surplus += times(waits.surplus);
        self.seen.causes.without_types += times(waits.without_types);
        self.seen.causes.add_look(all, elapsed);
        self.seen.listing = listing;
    }
}

/// Keepers of the threads of a runtime. `None` if one of them waits for work: it is about to take what is ready.
fn keepers(known: &BTreeMap<u32, RuntimeThread>, owner: u64) -> Option<Vec<Keeper>> {
    // Workers that were not seen to poll a task may be of each runtime. Before any was, so may be threads of a `block_on`.
    let is_seen = known.values().any(|thread| thread.owner == Some(owner));
    let is_of = |thread: &&RuntimeThread| match thread.owner {
        Some(of) => of == owner,
        None => thread.role == Some(Role::Worker) || !is_seen && thread.is_worker(),
    };
    let threads: Vec<&RuntimeThread> = known.values().filter(is_of).collect();
    if threads.is_empty() || threads.iter().any(|thread| thread.is_idle) {
        return None;
    }
    let kept: Vec<Keeper> = threads.iter().filter_map(|thread| thread.kept_by.clone()).collect();
    let no_thread = || Keeper::Cause(Cause::new(CauseKind::NoThread, "a thread", None));
    Some(if kept.is_empty() { vec![no_thread()] } else { kept })
}

/// A system call with its first argument, by which a thread that waits for work is known again: threads of runtimes wait in these only.
fn idle(stay: &Stay) -> Option<(u64, u64)> {
    const WAITS: [&str; 5] = ["futex", "epoll_wait", "epoll_pwait", "ppoll", "poll"];
    let call = stay.system_call.as_ref().filter(|call| call.name.is_some_and(|name| WAITS.contains(&name)))?;
    Some((call.number, stay.argument))
}

fn is_futex(stay: &Stay) -> bool {
    stay.system_call.as_ref().is_some_and(|call| call.name == Some("futex"))
}

fn without_line(own: Option<&Own>) -> Option<Own> {
    own.map(|own| Own { place: None, ..own.clone() })
}

/// Whether a thread goes on with a call that it left while it was held.
fn is_resumed(stay: &Stay) -> bool {
    stay.system_call.as_ref().is_some_and(|call| call.name == Some("restart_syscall"))
}

fn call(stay: &Stay) -> String {
    match &stay.system_call {
        Some(call) => call.name.map_or_else(|| format!("system call {}", call.number), str::to_owned),
        None => "a page of memory".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runtime_is_kept_if_none_of_its_threads_waits_for_work() {
        let thread =
            |role, owner, is_idle| RuntimeThread { role: Some(role), owner, is_idle, ..RuntimeThread::default() };
        let cause = Cause::new(CauseKind::BlockingCall, "fsync", None);
        let cause = Keeper::Cause(cause);
        let kept = RuntimeThread { kept_by: Some(cause.clone()), ..thread(Role::Worker, Some(1), false) };
        // A thread in `block_on` of a runtime with workers polls none of its tasks.
        let main = thread(Role::BlockOn, None, true);
        let mut known = BTreeMap::from([(1, main), (2, kept), (3, thread(Role::BlockOn, Some(2), true))]);
        assert_eq!((keepers(&known, 1), keepers(&known, 2)), (Some(vec![cause]), None));
        known.insert(4, thread(Role::Worker, None, true));
        assert_eq!(keepers(&known, 1), None, "the fourth may be of this runtime");
        // None of its threads was seen yet.
        let busy = BTreeMap::from([(1, thread(Role::BlockOn, None, false))]);
        let no_thread = Keeper::Cause(Cause::new(CauseKind::NoThread, "a thread", None));
        assert_eq!(keepers(&busy, 7), Some(vec![no_thread]));
        let call = Keeper::Call("write".to_owned());
        let unheld = RuntimeThread { kept_by: Some(call.clone()), ..thread(Role::BlockOn, None, false) };
        assert_eq!(keepers(&BTreeMap::from([(1, unheld)]), 7), Some(vec![call]));
    }
}
