//! Everything that the reader says of the example `chains_truth` is true.

mod program;

use std::collections::HashMap;
use std::sync::LazyLock;

use dyntrace_tasks::listing::{
    Await, Chain, Guard, Listing, Name, Progress, Ready, SemaphoreOf, Spawned, State, Task, WaitsFor,
};
use dyntrace_tasks::locks::{Locks, Through};
use program::{Program, has_shared_tokio, leaves, show, with_reader};

const SOURCE: &str = include_str!("../examples/chains_truth.rs");

struct Chains(HashMap<String, Await>);

impl Chains {
    fn read(program: &Program) -> Chains {
        let mut chains = HashMap::new();
        with_reader(program, |_, chain| {
            for (name, header) in &program.tasks {
                let Chain::Read { root } = chain(*header) else { panic!("no chain of {name}") };
                println!("== {name}\n{}", show(&root, 2));
                chains.insert(name.clone(), root);
            }
        });
        Chains(chains)
    }

    fn root(&self, name: &str) -> &Await {
        &self.0[name]
    }

    fn leaf(&self, name: &str) -> &WaitsFor {
        let leaves = leaves(self.root(name));
        assert_eq!(leaves.len(), 1, "leaves of {name}");
        leaves[0]
    }

    fn semaphore(&self, name: &str) -> (u64, SemaphoreOf) {
        match self.leaf(name) {
            WaitsFor::Semaphore { address, of, name: None, free: 0, missing: 1, closed: false, .. } => (*address, *of),
            other => panic!("{name} waits for {other:?}"),
        }
    }

    fn guard(&self, name: &str) -> &Guard {
        let [guard] = &self.root(name).holds[..] else { panic!("guards of {name}") };
        guard
    }
}

/// One run for all tests. The program ends when this process does, with its standard input.
static RUN: LazyLock<(Program, Chains)> = LazyLock::new(|| {
    let program = Program::run("chains_truth");
    let chains = Chains::read(&program);
    (program, chains)
});

/// The suspended functions of a chain, outermost first.
fn functions(shown: &Await) -> Vec<String> {
    let own = (shown.progress == Progress::Suspended).then(|| shown.future.to_string());
    own.into_iter().chain(shown.awaits.iter().flat_map(functions)).collect()
}

fn channel(waits_for: &WaitsFor) -> (&'static str, bool) {
    match waits_for {
        WaitsFor::Channel { channel, address } => (channel, address.is_some()),
        other => panic!("no channel: {other:?}"),
    }
}

fn hour(waits_for: &WaitsFor) -> bool {
    matches!(waits_for, WaitsFor::Timer { due_in } if (3_500_000_000_000..=3_600_000_000_000).contains(due_in))
}

#[test]
fn chains_are_true() {
    let (program, chains) = &*RUN;
    let notify = program.printed("notify")[0];
    let notified = WaitsFor::Notify { address: notify };
    for name in ["notified", "awaits_boxed", "selects_one", "holds", "reads_lock", "has_permits"] {
        assert_eq!(*chains.leaf(name), notified, "{name}");
    }
    // functions and lines
    for (name, root) in &chains.0 {
        let function = root.future.strip_prefix("chains_truth::").unwrap();
        let same = matches!(name.as_str(), "locks_ab" | "locks_ba" | "owns_a" | "owns_b") || function == name;
        assert!(same, "{name} is {function}");
        let place = root.place.as_ref().unwrap();
        assert!(place.file.ends_with("/chains_truth.rs"), "{place}");
        let line = SOURCE.lines().nth(place.line as usize - 1).unwrap();
        let awaits = ["await", "tokio::select!", "tokio::join!"].iter().any(|word| line.contains(word));
        assert!(awaits && !line.contains("here("), "{name} at {place}: {line}");
    }
    assert_eq!(
        functions(chains.root("awaits_boxed")),
        ["chains_truth::awaits_boxed", "chains_truth::boxed::{async block}"]
    );
    // the symbols of the two manglings have the impl with and without parameters
    let send = functions(chains.root("sends"))[1].replace("<u32>", "<T>").replace(['<', '>'], "");
    assert_eq!(send, "tokio::sync::mpsc::bounded::SenderT::send");
    // tokio compiles some of its functions itself, in its own folder
    let files = |root: &Await| -> Vec<String> {
        let mut files = Vec::new();
        let mut next: Vec<&Await> = root.awaits.iter().collect();
        while let Some(future) = next.pop() {
            files.extend(future.place.iter().map(|place| place.file.to_string()));
            next.extend(&future.awaits);
        }
        files
    };
    let of_signal = files(chains.root("signalled"));
    let count = if has_shared_tokio() { 2 } else { 3 };
    assert!(of_signal.len() >= count && of_signal.iter().all(|file| file.starts_with("tokio-1.")), "{of_signal:?}");
    // timers
    assert!(hour(chains.leaf("sleeps")) && hour(chains.leaf("ticks")));
    let [value, delay] = leaves(chains.root("times_out"))[..] else { panic!("two leaves of a timeout") };
    assert!(*value == notified && hour(delay));
    // channels
    for (name, kind) in [("receives", "mpsc"), ("hears", "broadcast"), ("watches", "watch")] {
        assert_eq!(channel(chains.leaf(name)), (kind, true), "{name}");
    }
    let [first, second] = leaves(chains.root("selects"))[..] else { panic!("two leaves of a select") };
    assert!(*first == notified && channel(second) == ("mpsc", true));
    let [first, second] = leaves(chains.root("joins_both"))[..] else { panic!("two leaves of a join") };
    assert!(*first == notified && channel(second) == ("oneshot", true));
    // tasks and collections
    let WaitsFor::Join { address, task: Some(_) } = chains.leaf("joins") else { panic!("no join") };
    assert_eq!(*address, program.tasks["sleeps"]);
    let set = leaves(chains.root("joins_set"));
    assert!(set.len() == 3 && set.iter().all(|leaf| matches!(leaf, WaitsFor::Join { task: None, .. })), "{set:?}");
    let many = leaves(chains.root("joins_many"));
    assert!(many.iter().all(|leaf| **leaf == notified));
    assert_eq!(many.len() as u64 + chains.root("joins_many").awaits[0].awaits[0].more, 40);
    let few = leaves(chains.root("joins_few"));
    assert!(few.len() == 3 && few.iter().all(|leaf| **leaf == notified));
    let all = leaves(chains.root("selects_all"));
    assert!(all.len() == 3 && all.iter().all(|leaf| **leaf == notified), "{all:?}");
    assert_eq!(channel(chains.leaf("streams")), ("mpsc", true));
    match has_shared_tokio() {
        true => assert_eq!(*chains.leaf("signalled"), WaitsFor::UnknownLeaf),
        false => assert_eq!(channel(chains.leaf("signalled")), ("watch", true)),
    }
    assert!(matches!(chains.leaf("blocks"), WaitsFor::Join { task: None, .. }));
    assert_eq!(*chains.leaf("forever"), WaitsFor::Forever);
}

#[test]
fn descriptors_are_true() {
    let (program, chains) = &*RUN;
    let line = program.lines.iter().find(|line| line.starts_with("address")).unwrap();
    let listening = line.split(' ').nth(1).unwrap();
    let describes = |name: &str| match chains.leaf(name) {
        WaitsFor::Descriptor { descriptor, describes: Some(text), ready: Some(Ready::Readable), unread: 0 }
            if *descriptor > 2 =>
        {
            text.clone()
        }
        other => panic!("{name} waits for {other:?}"),
    };
    assert_eq!(describes("accepts"), format!("tcp listening on {listening}"));
    let reads = describes("reads");
    assert!(reads.starts_with("tcp 127.0.0.1:") && reads.ends_with(&format!(" to {listening}")), "{reads}");
    assert_eq!(describes("reads_unix"), "unix socket without a path");
    assert_eq!(describes("reads_lines"), "unix socket without a path");
}

#[test]
fn locks_are_true() {
    let (program, chains) = &*RUN;
    let lock = program.printed("lock");
    let (waited, of) = chains.semaphore("waits");
    assert_eq!((of, waited), (SemaphoreOf::Mutex, chains.guard("holds").semaphore));
    assert!((lock[0]..lock[1]).contains(&waited));
    assert_eq!(&*chains.guard("holds").guard, "MutexGuard<u32>");
    assert_eq!(chains.semaphore("writes_lock"), (chains.guard("reads_lock").semaphore, SemaphoreOf::RwLock));
    assert_eq!(chains.semaphore("wants_permits"), (chains.guard("has_permits").semaphore, SemaphoreOf::Semaphore));
    assert_eq!(chains.semaphore("sends").1, SemaphoreOf::Channel);
    for root in ["waits", "selects", "sleeps", "notified"].map(|name| chains.root(name)) {
        assert!(root.holds.is_empty());
    }

    let id = |name: &str| program.tasks[name];
    let task = |(name, root): (&String, &Await)| Task {
        id: id(name),
        shares_id: false,
        address: id(name),
        owner: 1,
        scheduler: 0,
        state: State::default(),
        future: Name::Address { poll: 1 },
        spawned: Spawned::Unknown,
        linked: None,
        chain: Chain::Read { root: root.clone() },
    };
    let listing = Listing { tasks: chains.0.iter().map(task).collect(), ..Listing::default() };
    let locks = Locks::of(&listing);
    let mut cycles: Vec<Vec<u64>> = Vec::new();
    for cycle in locks.cycles() {
        assert!(!cycle.may_end && cycle.steps.iter().all(|step| matches!(step.blocker.through, Through::Guard { .. })));
        cycles.push(cycle.steps.iter().map(|step| step.task).collect());
    }
    let mut expected = [["locks_ab", "locks_ba"], ["owns_a", "owns_b"]].map(|pair| {
        let mut pair = pair.map(id);
        pair.sort_unstable();
        pair.to_vec()
    });
    cycles.sort();
    expected.sort();
    assert_eq!(cycles, expected);
    let waits = listing.tasks.iter().find(|task| task.id == id("waits")).unwrap();
    let holders = locks.blockers(waits);
    assert_eq!(
        holders.iter().map(|blocker| (blocker.task, blocker.certain)).collect::<Vec<_>>(),
        [(id("holds"), true)]
    );
}

#[test]
fn the_runtime_counts_its_tasks() {
    let (program, _) = &*RUN;
    with_reader(program, |types, _| {
        let header = program.tasks["sleeps"];
        let word = |address| dyntrace_tasks::memory::Memory::word(&program.memory, address).unwrap();
        let vtable = word(header + 0x10);
        let polled = types.polled(word(vtable) - program.bias);
        let core = polled[0].core.unwrap();
        let path = types.runtime_count(core).unwrap();
        let bound = program.printed("count")[0];
        assert_eq!(path.read(&program.memory, header + word(vtable + 0x40)), Ok(bound));
    });
}
