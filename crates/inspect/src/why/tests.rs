use std::collections::BTreeMap;

use dyntrace_tasks::listing::Chain;

use super::*;
use crate::blocked::Blockers;
use crate::sample;

fn plain(text: &str) -> String {
    anstream::adapter::strip_str(text).to_string()
}

fn told(look: &Look, stuck: &Stuck) -> String {
    text(look, stuck, &look.searched())
}

#[test]
fn all_blocked_tasks() {
    let look = Look::of_memory(sample::listing());
    assert_eq!(plain(&told(&look, &Stuck::of(&look.listing))), include_str!("../golden/why.txt"));
}

#[test]
fn one_task_to_the_end() {
    let look = Look::of_memory(sample::listing());
    assert_eq!(plain(&text_of(&look, &Chosen::Task(8))), include_str!("../golden/why-8.txt"));
    assert_eq!(plain(&text_of(&look, &Chosen::Task(12))), include_str!("../golden/why-12.txt"));
}

#[test]
fn a_task_that_was_given_its_lock_is_blocked_by_nobody() {
    let mut task = sample::leaf_task(5, sample::mutex(0xa0));
    let Chain::Read { root } = &mut task.chain else { unreachable!() };
    if let Some(WaitsFor::Semaphore { missing, .. }) = &mut root.awaits[0].waits_for {
        *missing = 0;
    }
    let look = Look::of_memory(Listing { tasks: vec![task], ..Listing::default() });
    assert_eq!(
        plain(&text_of(&look, &Chosen::Task(5))),
        "task 5, idle: app::serve\n\
         waits at src/main.rs:50 for Mutex 0xa0 (0 free, granted)\n\
         └─ it was granted, and the task has not run since\n"
    );
    assert_eq!(
        plain(&told(&look, &Stuck::default())),
        "no task waits for a lock, for another task's end or for a file operation\n1 other task: 1 x Mutex 0xa0, granted\n"
    );
}

#[test]
fn tasks_that_are_alike_show_each_of_their_sockets() {
    let socket = |number| WaitsFor::Descriptor {
        descriptor: number,
        describes: Some(format!("tcp 127.0.0.1:80 to 127.0.0.1:400{number}")),
        ready: None,
        unread: 0,
    };
    let either = |id, number| sample::either(id, vec![sample::mutex(0xa0), socket(number)]);
    let tasks: Vec<Task> = (5..10).map(|number| either(number as u64, number)).collect();
    let look = Look::of_memory(Listing { tasks, ..Listing::default() });
    assert_eq!(
        plain(&told(&look, &Stuck::default())),
        "5 tasks (5, 6, 7, ...), idle: app::serve\n\
         waits at src/main.rs:50 for Mutex 0xa0 (0 free, 1 missing)\n\
         └─ no task is seen to hold it: the holder may be no task\n\
         waits at src/main.rs:50, each for one of 5: tcp 127.0.0.1:80 to 127.0.0.1:4005 (descriptor 5); \
         tcp 127.0.0.1:80 to 127.0.0.1:4006 (descriptor 6); tcp 127.0.0.1:80 to 127.0.0.1:4007 (descriptor 7); ...\n\n"
    );
}

#[test]
fn a_task_that_is_told_below_another_one_is_not_told_again() {
    let file = sample::waits().find(|waits| matches!(waits, WaitsFor::File(_))).unwrap();
    let join = WaitsFor::Join { address: 6 << 8, task: Some(6) };
    let tasks = vec![sample::leaf_task(5, join), sample::leaf_task(6, file)];
    let listing = Listing { tasks, ..Listing::default() };
    assert_eq!(
        plain(&told(&Look::of_memory(listing), &Stuck::default())),
        "task 5, idle: app::serve\n\
         waits at src/main.rs:50 for join of task 6\n\
         └─ task 6, idle: app::serve\n   \
         waits at src/main.rs:50 for OPEN of /srv/a\\x1b[2J, operation {1,7}, user tag req-7\n   \
         └─ run by thread 4711, io\\x1b[2J: asleep in openat\n\n"
    );
}

#[test]
fn a_task_has_the_user_tag_of_the_future_that_it_awaits() {
    let mut task = sample::leaf_task(5, sample::mutex(0xa0));
    let Chain::Read { root } = &mut task.chain else { unreachable!() };
    root.awaits[0].user_tag = Some("req-7\x1b[2J".into());
    assert_eq!(plain(&name(&task)), r"task 5, idle, user tag req-7\x1b[2J: app::serve");
}

#[test]
fn tasks_with_the_same_id_are_told_apart() {
    let mut listing = sample::listing();
    let mut twin = listing.tasks[1].clone();
    (twin.address, twin.scheduler) = (0x9000, 0x60);
    listing.tasks.push(twin);
    let look = Look::of_memory(listing);
    let of = |only: Option<u64>| {
        let blockers = Blockers::of(&look, only.map(Chosen::Task).as_ref());
        let object: BTreeMap<u64, serde_json::Value> =
            serde_json::from_str(&serde_json::to_string(&blockers).unwrap()).unwrap();
        object.into_keys().collect::<Vec<_>>()
    };
    assert_eq!(of(Some(5)), [5 << 8, 0x9000]);
    assert!(of(None).starts_with(&[3 << 8, 5 << 8, 8 << 8]));
}

#[test]
fn a_program_without_tasks() {
    assert_eq!(
        told(&Look::of_memory(Listing::default()), &Stuck::default()),
        "no task found\nunknown: no task and no runtime was found: the program has none now, or another layout of tokio\n"
    );
}

#[test]
fn waits_of_a_program_with_a_table() {
    let stuck = |look: &Look| Stuck::of(&look.listing);
    let (look, alone) = (sample::look(), sample::look_at_table());
    assert_eq!(plain(&told(&look, &stuck(&look))), include_str!("../golden/why-table.txt"));
    assert_eq!(plain(&told(&alone, &stuck(&alone))), include_str!("../golden/why-table-alone.txt"));
    let chain = sample::look_at_chain();
    assert_eq!(plain(&told(&chain, &chain.stuck())), include_str!("../golden/why-chain.txt"));
    let mut operations = sample::look_at_operations();
    assert_eq!(
        plain(&told(&operations, &stuck(&operations))),
        "2 tasks wait in READ (2 different) for 42.0 s, by the table\n\
         <0.80.0>, <0.81.0>, app::serve spawned at src/main.rs:12, idle for 40.0 s, 161 polls, busy 241.5ms, longest 250.0µs\n\n\
         1 task waits in FDATASYNC {1,9} for 42.0 s, by the table\n\
         <0.82.0>, app::serve spawned at src/main.rs:12 by <0.2.0>, idle for 40.0 s, 82 polls, busy 123.0ms, longest 250.0µs\n\n\
         1 task waits in OPEN {1,7} for 42.0 s, by the table\n\
         <0.83.0>, app::serve spawned at src/main.rs:12 by <0.2.0>, idle for 40.0 s, 83 polls, busy 124.5ms, longest 250.0µs\n\n\
         unknown: the table has neither the holders of locks nor tasks that were spawned without dyntrace\n"
    );
    // Another task in memory has the operation's future.
    operations.listing = sample::listing();
    let told = plain(&told(&operations, &Stuck::default()));
    let known = "polls, busy 124.5ms, longest 250.0µs\n\
                 └─ by memory: OPEN of /srv/a\\x1b[2J, operation {1,7}, user tag req-7\n   \
                 └─ run by thread 4711, io\\x1b[2J: asleep in openat\n\n";
    assert!(told.contains("1 task waits in OPEN {1,7} for 42.0 s, by the table\n") && told.contains(known), "{told}");
    let tagged = Chosen::Named("transfer 1".to_owned(), None);
    assert_eq!(plain(&text_of(&look, &tagged)), include_str!("../golden/why-table-tag.txt"));
}
