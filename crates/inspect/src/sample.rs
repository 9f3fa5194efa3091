//! A listing made by hand, with each variant of the answer.

use std::num::NonZeroU64;
use std::sync::Arc;

use dyntrace_task_table::layout::{self, Resource};
use dyntrace_task_table::{
    Clock, Header, Pair, State as TableState, Table, Task as Slot, TaskEntry, TaskKind, Texted, Thing, Waits, Waker,
};
use dyntrace_tasks::listing::{
    Await, Caller, Chain, FileOperation, Guard, Holder, Listing, Name, OperationId, Progress, Ready, Runtime,
    SemaphoreOf, SourceLine, Spawned, Stage, State, Task, Unpolled, WaitsFor,
};

use super::read::Look;
use super::table::{JoinedTable, ReadTable};

fn semaphore(address: u64, of: SemaphoreOf, free: u64, missing: u64, closed: bool) -> WaitsFor {
    WaitsFor::Semaphore { address, of, name: None, free, missing, closed, holder: None }
}

pub fn mutex(address: u64) -> WaitsFor {
    semaphore(address, SemaphoreOf::Mutex, 0, 1, false)
}

/// Each way to wait.
pub fn waits() -> impl Iterator<Item = WaitsFor> {
    let described = |descriptor, text: &str, ready| {
        let describes = Some(text.into());
        WaitsFor::Descriptor { descriptor, describes, ready, unread: 0 }
    };
    [
        mutex(0xa0),
        semaphore(0xb0, SemaphoreOf::RwLock, 0, 536_870_911, false),
        semaphore(0xc0, SemaphoreOf::Semaphore, 2, 3, true),
        semaphore(0xd0, SemaphoreOf::Channel, 0, 1, false),
        semaphore(0xe0, SemaphoreOf::Unknown, 0, 1, false),
        WaitsFor::Semaphore {
            address: 0xe8,
            of: SemaphoreOf::Mutex,
            name: Some("till \x1b[2J".into()),
            free: 0,
            missing: 1,
            closed: false,
            holder: None,
        },
        WaitsFor::Notify { address: 0xf0 },
        WaitsFor::Channel { channel: "mpsc", address: Some(0x100) },
        WaitsFor::Channel { channel: "oneshot", address: None },
        WaitsFor::Timer { due_in: 4_200_000_000 },
        WaitsFor::Timer { due_in: -30_000_000 },
        WaitsFor::Join { address: 0x700, task: Some(7) },
        WaitsFor::Join { address: 0x700, task: None },
        described(5, "/run/a\x1b[2J", None),
        described(6, "tcp 127.0.0.1:80 to 127.0.0.1:4000", Some(Ready::Readable)),
        WaitsFor::Descriptor { descriptor: 7, describes: None, ready: Some(Ready::Either), unread: 12 },
        WaitsFor::Object { object: "CancellationToken", address: 0x110 },
        WaitsFor::Forever,
        WaitsFor::UnknownLeaf,
    ]
    .into_iter()
    .chain(operations())
}

fn operations() -> impl Iterator<Item = WaitsFor> {
    let operation = |command, thread, tag, stage| FileOperation {
        command,
        id: Some(OperationId { thread, tag }),
        stage: Some(stage),
        ..FileOperation::default()
    };
    let caller = |tid, name: &str, state, system_call| Caller { tid, name: name.into(), state, system_call };
    let slow = ["dyntrace-slow-1", "dyntrace-slow-2"];
    let jobs = [("Lookup", Stage::Running), ("", Stage::Ended)];
    [
        FileOperation {
            paths: vec!["/srv/a\x1b[2J".into()],
            user_tag: Some("req-7".into()),
            callers: vec![caller(4711, "io\x1b[2J", 'S', "openat")],
            ..operation(1, 1, 7, Stage::Running)
        },
        FileOperation { paths: vec!["a".into(), "b".into()], ..operation(12, 1, 8, Stage::Queued) },
        FileOperation {
            command: 9,
            paths: vec!["/srv/log".into()],
            descriptor: Some(9),
            callers: slow.iter().zip(12..).map(|(name, tid)| caller(tid, name, 'D', "fsync")).collect(),
            ..FileOperation::default()
        },
        FileOperation { command: 4, ..FileOperation::default() },
        FileOperation { descriptor: Some(3), ..operation(99, 2, 1, Stage::Running) },
    ]
    .into_iter()
    .map(|operation| WaitsFor::File(operation.into()))
    .chain(jobs.into_iter().map(|(job, stage)| WaitsFor::Job { job: job.into(), stage }))
}

pub fn waiting(waits_for: WaitsFor) -> Await {
    Await { future: "lib::Leaf".into(), waits_for: Some(waits_for), ..Await::default() }
}

fn suspended(future: &str, line: u32, awaits: Vec<Await>) -> Await {
    let place = Some(SourceLine { file: "src/main.rs".into(), line });
    Await { future: future.into(), place, progress: Progress::Suspended, awaits, ..Await::default() }
}

pub fn task(id: u64, chain: Chain) -> Task {
    Task {
        id,
        shares_id: false,
        address: id << 8,
        owner: 1,
        scheduler: 0x50,
        state: State::default(),
        future: Name::Type { name: "app::long::{async_fn_env#0}".into() },
        spawned: Spawned::Unknown,
        linked: Some(true),
        chain,
    }
}

fn read(id: u64, root: Await) -> Task {
    task(id, Chain::Read { root })
}

pub fn leaf_task(id: u64, waits_for: WaitsFor) -> Task {
    read(id, suspended("app::serve", 50, vec![waiting(waits_for)]))
}

/// A task that waits for each of these, whichever comes first.
pub fn either(id: u64, waits: Vec<WaitsFor>) -> Task {
    read(id, suspended("app::serve", 50, waits.into_iter().map(waiting).collect()))
}

pub fn guard(variable: &str, guard: &str, semaphore: u64) -> Guard {
    Guard { address: 0x10, variable: variable.into(), guard: guard.into(), semaphore, taken: None, unpolled: None }
}

/// Locks one account and waits for the other.
fn transfer(id: u64, holds: u64, waits: u64) -> Task {
    let mut root =
        suspended("app::transfer", 31, vec![suspended("tokio::sync::Mutex::lock", 9, vec![waiting(mutex(waits))])]);
    root.holds.push(guard("source", "MutexGuard<i64>", holds));
    if id == 3 {
        root.user_tag = Some("pay-3".into());
        root.holds[0].taken = Some(SourceLine { file: "src/main.rs".into(), line: 29 });
    }
    read(id, root)
}

/// Has a lock in a future that it does not poll.
fn keeps(id: u64, granted: bool, waits: Vec<Await>) -> Task {
    let mut root = suspended("app::keeps", 80, waits);
    let place = (!granted).then(|| SourceLine { file: "src/main.rs".into(), line: 90 });
    let unpolled = Some(Unpolled { future: "app::slow".into(), place, granted });
    let kind = if granted { "Acquire" } else { "SemaphorePermit" };
    root.holds.push(Guard { unpolled, ..guard("slow", kind, if granted { 0x110 } else { 0x120 }) });
    read(id, root)
}

pub fn listing() -> Listing {
    let join = |task| waiting(WaitsFor::Join { address: task << 8, task: Some(task) });
    let mut tasks = vec![
        transfer(3, 0xa0, 0xb0),
        transfer(5, 0xb0, 0xa0),
        read(8, suspended("app::report", 40, vec![join(3)])),
        leaf_task(9, WaitsFor::Timer { due_in: 4_200_000_000 }),
        leaf_task(10, WaitsFor::Timer { due_in: 1_500_000_000 }),
    ];
    // Two that wait for one lock, a set of futures, and a holder that may have dropped its guard.
    tasks.extend([11, 12].map(|id| read(id, suspended("app::statement", 44, vec![waiting(mutex(0xa0))]))));
    let mut set = suspended(
        "app::all",
        60,
        vec![
            waiting(WaitsFor::Notify { address: 0xf0 }),
            waiting(WaitsFor::Forever),
            waiting(WaitsFor::Notify { address: 0xf0 }),
        ],
    );
    set.more = 7;
    for (progress, name) in
        [(Progress::Unresumed, "app::late"), (Progress::Returned, "app::done"), (Progress::Panicked, "app::bad")]
    {
        set.awaits.push(Await { future: name.into(), progress, ..Await::default() });
    }
    tasks.push(read(13, set));
    let mut permits =
        suspended("app::limited", 70, vec![waiting(semaphore(0xc0, SemaphoreOf::Semaphore, 0, 1, false))]);
    permits.holds.push(guard("permit", "SemaphorePermit", 0xc0));
    tasks.push(read(14, permits));
    tasks.push(Task { state: State { running: true, ..State::default() }, ..leaf_task(15, WaitsFor::UnknownLeaf) });
    tasks.push(Task { state: State { notified: true, ..State::default() }, ..leaf_task(16, WaitsFor::Forever) });
    tasks.push(Task { linked: Some(false), ..task(17, Chain::Busy) });
    let complete = State { complete: true, cancelled: true, ..State::default() };
    tasks.push(Task { state: complete, linked: Some(false), ..task(18, Chain::Complete) });
    tasks.push(read(19, Await { future: "app::new".into(), progress: Progress::Unresumed, ..Await::default() }));
    tasks.push(Task {
        owner: 0,
        linked: None,
        state: State { running: true, ..State::default() },
        future: Name::Symbol { name: "std::fs::read\x1b[2J".into() },
        ..task(20, Chain::NoTypes)
    });
    tasks.push(Task { future: Name::Address { poll: 0x1234 }, ..task(21, Chain::NoTypes) });
    let names = vec!["a::b".to_owned(), "c::d".to_owned()];
    tasks.push(Task { future: Name::Candidates { names }, ..task(22, Chain::NoTypes) });
    let place = |line| SourceLine { file: "src/main.rs".into(), line };
    tasks.push(keeps(23, true, vec![waiting(mutex(0x110))]));
    tasks.push(keeps(24, false, vec![waiting(semaphore(0x120, SemaphoreOf::Semaphore, 0, 1, false))]));
    tasks[0].spawned = Spawned::Recorded(place(20));
    tasks[1].spawned = Spawned::Candidates([place(20), place(21)].into());
    tasks.extend(waits().enumerate().map(|(number, waits)| leaf_task(30 + number as u64, waits)));
    let runtime = |owner, counted, found| Runtime { owner, scheduler: owner << 12, counted, found, list: None };
    Listing {
        tasks,
        runtimes: vec![runtime(1, Some(33), 33), runtime(2, Some(9), 7), runtime(3, None, 1)],
        notes: vec!["app has no debug information\x1b[2J; build it with debug = 2".to_owned()],
        ..Listing::default()
    }
}

fn pair(first: &str, second: &str) -> Pair {
    Arc::new(Texted { first: first.into(), second: second.into() })
}

/// A task of a table whose clock has nanoseconds: spawned after 10 s, last polled after 60 s.
fn slot(pid: u64, id: u32, site: &Pair, wait: Option<(&Pair, Thing)>) -> TaskEntry {
    let seconds = |seconds: u64| seconds * 1_000_000_000;
    let begun = layout::Wait { site: 8, resource: Resource::Numbered(0), since: seconds(58) };
    let task = Slot {
        pid,
        kind: TaskKind::Future,
        state: TableState::Idle,
        parent: 2,
        generation: 0,
        id,
        site: 1,
        tag: 0,
        thread: 4712,
        spawned: seconds(10),
        scheduled: seconds(60),
        polls: pid,
        woken_by: None,
        busy: 1_500_000 * pid,
        longest: 250_000.,
        last: 0.,
        wait: wait.as_ref().map(|_| begun),
    };
    let wait = wait.map(|(site, resource)| Waits { site: Some(site.clone()), resource });
    TaskEntry { task, site: Some(site.clone()), tag: None, wait }
}

/// The table of a program whose memory has [`listing`].
fn table() -> Table {
    let (serve, transfer) = (pair("app::serve", "src/main.rs:12"), pair("app::transfer", "src/main.rs:21"));
    let (lock, sleep) = (pair("Mutex::lock", "src/main.rs:31"), pair("sleep", "src/main.rs:51"));
    let on = |number| Thing::Numbered(number);
    let named = || Thing::Named(Some(pair("the disk\x1b[2J", "")));
    let tagged = |tag: &str, seen: TaskEntry| TaskEntry { tag: Some(tag.into()), ..seen };
    let mut tasks = vec![
        tagged("transfer 1", slot(57, 3, &transfer, Some((&lock, on(12))))),
        tagged("transfer 2\x1b[2J", slot(58, 5, &transfer, Some((&lock, on(11))))),
        tagged("a", slot(60, 9, &serve, Some((&sleep, on(20))))),
        tagged("b", slot(61, 10, &serve, Some((&sleep, on(21))))),
        slot(62, 15, &serve, None),
        // Memory does not know what these wait for, nor what they are.
        slot(63, 21, &serve, Some((&lock, on(12)))),
        slot(64, 22, &serve, Some((&lock, on(12)))),
        slot(65, 47, &serve, Some((&pair("wait", "src/main.rs:52"), named()))),
        // In the table only: one that a task polls beside others, and one that is no task of tokio's.
        slot(70, 3, &transfer, None),
        slot(71, 0, &serve, Some((&lock, on(12)))),
        slot(72, 0, &serve, None),
    ];
    for (number, woken_by) in [
        (0, Waker::Process(58)),
        (1, Waker::Process(58)),
        (2, Waker::Thread(4712)),
        (3, Waker::Task(3)),
        (4, Waker::Process(62)),
    ] {
        tasks[number].task.woken_by = Some(woken_by);
    }
    tasks[10].task = Slot { state: TableState::Scheduled, polls: 0, busy: 0, longest: 0., ..tasks[10].task };
    let header = Header {
        process: 4711,
        started: 9,
        slots: 8192,
        length: 16,
        limit: 16,
        without_slot: 2,
        without_space: 0,
        runtimes: 0,
        counted: 0,
        counted_with_slot: 0,
        counted_at: 0,
    };
    let clock = Some(Clock { frequency: 1_000_000_000, seconds: 1_700_000_000, cycles: 0 });
    Table { header, clock, tasks, unsettled: 0, blurred: 0, damaged_texts: 0, cut: 0 }
}

/// That table, 100 s after the beginning of its clock.
pub fn found() -> ReadTable {
    ReadTable { table: table(), path: "/run/dyntrace/4711.tasks".into(), now: 1_700_000_100_000_000_000 }
}

/// The tasks of a program that keeps a table, 100 s after the beginning of its clock.
pub fn look() -> Look {
    let mut listing = listing();
    // The lock that task 30 waits for is one that notes its holder; another lock's holder is in the table only.
    let noted =
        |pid| Holder { pid, place: Some(SourceLine { file: "src/main.rs".into(), line: 30 }), since: 55_000_000_000 };
    let waits = |pid, of| WaitsFor::Semaphore {
        address: 0xa0 + pid,
        of,
        name: None,
        free: 0,
        missing: 1,
        closed: false,
        holder: Some(noted(pid).into()),
    };
    if let Chain::Read { root } = &mut listing.tasks[0].chain {
        root.process = NonZeroU64::new(57);
    }
    listing.tasks.push(leaf_task(60, waits(61, SemaphoreOf::Mutex)));
    listing.tasks.push(leaf_task(61, waits(71, SemaphoreOf::RwLock)));
    let kept = JoinedTable::of(found(), Some(&listing));
    Look { kept: Some(kept), ..Look::of_memory(listing) }
}

/// A table whose tasks wait for each other, without memory.
pub fn look_at_chain() -> Look {
    let serve = pair("app::serve", "src/main.rs:12");
    let [join, send] = ["task::JoinHandle", "mailbox::Sender::send"].map(|kind| pair(kind, "src/main.rs:41"));
    let (recv, lock) = (pair("mailbox::Receiver::recv", "src/main.rs:43"), pair("Mutex::lock", "src/main.rs:31"));
    let mut table = table();
    table.header.without_slot = 0;
    table.tasks = [
        (80, Some((&join, 81))),
        (81, Some((&send, 82))),
        (83, Some((&join, 99))),
        (84, Some((&join, 85))),
        (85, Some((&send, 84))),
        (86, Some((&join, 84))),
        (87, Some((&recv, 87))),
        (88, Some((&send, 87))),
        (89, Some((&send, 87))),
        (90, Some((&join, 91))),
        (91, None),
    ]
    .map(|(pid, wait)| slot(pid, 0, &serve, wait.map(|(site, pid)| (site, Thing::Process(pid)))))
    .into();
    table.tasks.push(slot(82, 0, &serve, Some((&lock, Thing::Numbered(12)))));
    let kept = JoinedTable::of(ReadTable { table, ..found() }, None);
    Look { kept: Some(kept), ..Look::default() }
}

/// A table whose tasks wait for file operations, without memory.
pub fn look_at_operations() -> Look {
    let serve = pair("app::serve", "src/main.rs:12");
    let [read, sync, open] = ["READ", "FDATASYNC", "OPEN"].map(|command| pair(command, ""));
    let mut table = table();
    table.header.without_slot = 0;
    table.tasks = [(80, &read, (3, 17)), (81, &read, (3, 18)), (82, &sync, (1, 9)), (83, &open, (1, 7))]
        .map(|(pid, command, (thread, tag))| slot(pid, 0, &serve, Some((command, Thing::Operation { thread, tag }))))
        .into();
    let kept = JoinedTable::of(ReadTable { table, ..found() }, None);
    Look { kept: Some(kept), ..Look::default() }
}

/// The tasks of that program, whose memory cannot be read.
pub fn look_at_table() -> Look {
    let kept = JoinedTable::of(found(), None);
    let listing =
        Listing { notes: vec!["these are the tasks of the program's table alone".into()], ..Listing::default() };
    Look { listing, kept: Some(kept), ..Look::default() }
}
