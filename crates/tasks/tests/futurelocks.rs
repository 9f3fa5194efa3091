//! The locks that futures have which nobody polls, in the example `futurelock_truth`, and nothing else.

mod program;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use dyntrace_tasks::listing::{Chain, Listing, Name, Spawned, State, Task};
use dyntrace_tasks::locks::{Blocker, Locks, futurelocks_in_both};
use program::{Program, show, with_reader};

fn listing(program: &Program) -> Listing {
    let mut tasks = Vec::new();
    with_reader(program, |_, chain| {
        for (name, header) in &program.tasks {
            let chain = chain(*header);
            match &chain {
                Chain::Read { root } => println!("== {name}\n{}", show(root, 2)),
                Chain::Complete => continue,
                other => panic!("no chain of {name}: {other:?}"),
            }
            tasks.push(Task {
                id: *header,
                shares_id: false,
                address: *header,
                owner: 1,
                scheduler: 0,
                state: State::default(),
                future: Name::Address { poll: 1 },
                spawned: Spawned::Unknown,
                linked: None,
                chain,
            });
        }
    });
    Listing { tasks, ..Listing::default() }
}

#[test]
fn nothing_but_futurelocks_is_named() {
    let program = Program::run("futurelock_truth");
    let ranges: HashMap<String, Range<u64>> = program
        .lines
        .iter()
        .filter_map(|line| {
            let [_, name, from, to] = line.split(' ').collect::<Vec<_>>()[..] else { return None };
            Some((name.to_owned(), from.parse().ok()?..to.parse().ok()?))
        })
        .collect();
    let name_of = |task: u64| program.tasks.iter().find(|(_, header)| **header == task).unwrap().0.clone();
    let first = listing(&program);
    let now = listing(&program);
    let found = futurelocks_in_both(&Locks::of(&first).futurelocks(), Locks::of(&now).futurelocks());
    let mut told = BTreeMap::new();
    for lock in &found {
        let owner = name_of(lock.task);
        assert!(ranges[&owner].contains(&lock.guard.semaphore), "{lock:?}");
        let unpolled = lock.guard.unpolled.as_ref().unwrap();
        let waiting: Vec<String> = lock.waiting.iter().map(|waiter| name_of(waiter.task)).collect();
        if owner == "drops" {
            assert!(!lock.certain && waiting == ["waits_after_drop"], "{lock:?}");
            continue;
        }
        assert!(lock.certain && waiting.contains(&format!("waits_{owner}")), "{lock:?} {waiting:?}");
        assert_eq!(waiting.len(), if owner == "waits_for_itself" { 2 } else { 1 }, "{waiting:?}");
        assert_eq!(lock.guard.variable, "slow");
        assert!(unpolled.place.as_ref().unwrap().file.ends_with("/futurelock_truth.rs"));
        told.insert(owner, (unpolled.future.to_string(), unpolled.granted));
    }
    let add = || ("futurelock_truth::add".to_owned(), true);
    let mut expected: BTreeMap<String, (String, bool)> =
        ["selects", "waits_for_itself", "collects", "lists", "pins"].map(|name| (name.to_owned(), add())).into();
    expected.insert("stops_within".to_owned(), ("futurelock_truth::keep".to_owned(), false));
    assert_eq!(told, expected);

    let locks = Locks::of(&now);
    let holders = |waiter: &str| {
        let told = |by: Blocker| (name_of(by.task), by.certain);
        let waiter = now.tasks.iter().find(|task| task.id == program.tasks[waiter]).unwrap();
        locks.blockers(waiter).into_iter().map(told).collect::<Vec<_>>()
    };
    for name in ["guards_in_vec", "guard_in_box"] {
        assert_eq!(holders(&format!("waits_{name}")), [(name.to_owned(), true)]);
    }
    assert_eq!(holders("waits_gives"), [("given".to_owned(), true)]);
    // `main` has it, which is no task
    assert_eq!(holders("waits_queues"), []);
    // the future that was dropped may still stand there
    let after_drop = holders("waits_after_drop");
    assert!(after_drop.iter().any(|(task, _)| task == "has_after_drop"));
    assert!(after_drop.iter().all(|(task, certain)| task == "has_after_drop" || !certain));
    assert!(holders("waits_polls").iter().all(|(task, _)| task == "polls"));
    assert!(locks.cycles().is_empty());
}
