//! A listing made by hand, with each variant of the answer.

use dyntrace_tasks::listing::{
    Await, Caller, Chain, FileOperation, Guard, Listing, Name, OperationId, Place, Progress, Ready, Runtime,
    SemaphoreOf, Spawned, Stage, State, Task, Unpolled, WaitsFor,
};

fn semaphore(address: u64, of: SemaphoreOf, free: u64, missing: u64, closed: bool) -> WaitsFor {
    WaitsFor::Semaphore { address, of, name: None, free, missing, closed }
}

pub fn mutex(address: u64) -> WaitsFor {
    semaphore(address, SemaphoreOf::Mutex, 0, 1, false)
}

/// Each way to wait.
pub fn waits() -> impl Iterator<Item = WaitsFor> {
    let described = |descriptor, text: &str, ready| {
        let describes = Some(text.into());
        WaitsFor::Descriptor { descriptor, describes, ready }
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
        WaitsFor::Descriptor { descriptor: 7, describes: None, ready: Some(Ready::Either) },
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
    let place = Some(Place { file: "src/main.rs".into(), line });
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

fn guard(variable: &str, guard: &str, semaphore: u64) -> Guard {
    Guard { address: 0x10, variable: variable.into(), guard: guard.into(), semaphore, taken: None, unpolled: None }
}

/// Locks one account and waits for the other.
fn transfer(id: u64, holds: u64, waits: u64) -> Task {
    let mut root =
        suspended("app::transfer", 31, vec![suspended("tokio::sync::Mutex::lock", 9, vec![waiting(mutex(waits))])]);
    root.holds.push(guard("source", "MutexGuard<i64>", holds));
    if id == 3 {
        root.user_tag = Some("pay-3".into());
        root.holds[0].taken = Some(Place { file: "src/main.rs".into(), line: 29 });
    }
    read(id, root)
}

/// Has a lock in a future that it does not poll.
fn keeps(id: u64, granted: bool, waits: Vec<Await>) -> Task {
    let mut root = suspended("app::keeps", 80, waits);
    let place = (!granted).then(|| Place { file: "src/main.rs".into(), line: 90 });
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
    let place = |line| Place { file: "src/main.rs".into(), line };
    tasks.push(keeps(23, true, vec![waiting(mutex(0x110))]));
    tasks.push(keeps(24, false, vec![waiting(semaphore(0x120, SemaphoreOf::Semaphore, 0, 1, false))]));
    tasks[0].spawned = Spawned::Recorded(place(20));
    tasks[1].spawned = Spawned::Candidates(vec![place(20), place(21)]);
    tasks.extend(waits().enumerate().map(|(number, waits)| leaf_task(30 + number as u64, waits)));
    let runtime = |owner, counted, found| Runtime { owner, scheduler: owner << 12, counted, found };
    Listing {
        tasks,
        runtimes: vec![runtime(1, Some(33), 33), runtime(2, Some(9), 7), runtime(3, None, 1)],
        notes: vec!["app has no debug information\x1b[2J; build it with debug = 2".to_owned()],
    }
}
