//! Every task of a runtime of `dyntrace::runtime`, in a program that is built with `tokio_unstable`: its probes and its slot, against
//! what the program did.
#![cfg(all(
    tokio_unstable,
    not(dyntrace_without_probes),
    target_os = "linux",
    feature = "recorder",
    feature = "runtime"
))]

#[path = "common/alone.rs"]
mod alone;
#[path = "common/events.rs"]
mod events;

use std::collections::BTreeMap;
use std::fs::File;
use std::future::pending;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{env, panic, process, thread};

use dyntrace::JoinSetExt as _;
use dyntrace::runtime::Builder;
use dyntrace_task_table::{Table, Thing};
use tokio::task::{JoinSet, yield_now};

async fn turns(count: usize) {
    for _ in 0..count {
        yield_now().await;
    }
}

/// The events of lives and polls, without the word `process`.
fn seen(body: impl FnOnce()) -> Vec<String> {
    const PROBES: &[&str] = &["process-spawn", "process-scheduled", "process-unscheduled", "process-exit"];
    let lines = events::seen(PROBES, body);
    lines.iter().filter_map(|line| line.strip_prefix("process-")).map(str::to_owned).collect()
}

/// Events of each kind, of tasks that this crate did not spawn, and of the others.
fn counts(lines: &[String]) -> (BTreeMap<&str, u32>, BTreeMap<&str, u32>) {
    let (mut other, mut own) = (BTreeMap::new(), BTreeMap::new());
    let mut is_other = BTreeMap::new();
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        if words[0] == "spawn" {
            let before = is_other.insert(words[1], words[2] == "?");
            assert_eq!(before, None, "{line}: twice");
        }
        *if is_other[words[1]] { &mut other } else { &mut own }.entry(words[0]).or_default() += 1;
    }
    (other, own)
}

#[test]
fn a_task_of_tokio_has_the_probes_of_a_process() {
    let mut line = 0;
    let lines = seen(|| {
        let runtime = Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            line = line!() + 1;
            tokio::spawn(turns(1)).await.unwrap();
        });
    });
    assert_eq!(
        lines,
        [
            &*format!("spawn A ? B tests/runtime_hooks.rs:{line} "),
            "scheduled A ?",
            "unscheduled A TIME pending",
            "scheduled A ?",
            "unscheduled A TIME ended",
            "exit A ended",
        ]
    );
}

#[test]
fn operations_of_a_task_of_tokio_are_its_own() {
    use dyntrace::process::current;

    let lines = events::seen(&["process-spawn", "process-wait", "process-resume"], || {
        let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
        let outside = current();
        runtime.block_on(async {
            let parent = tokio::spawn(async {
                let own = current();
                dyntrace::wait("turns", turns(1)).await;
                let child = tokio::spawn(async { (current(), dyntrace::wait("turns", turns(1)).await) });
                let (child, ()) = child.await.unwrap();
                let process = dyntrace::spawn(async { (current(), yield_now().await, current()) });
                // The handle may have to wait.
                let process = process.into_inner().await.unwrap();
                assert_eq!((own, process.0), (current(), process.2));
                [own, child, process.0]
            });
            let pids = parent.await.unwrap();
            assert!(pids.is_sorted_by(|a, b| a < b) && !pids.contains(&outside), "{pids:?}");
            assert_eq!(current(), outside);
        });
    });
    let words: Vec<Vec<&str>> = lines.iter().map(|line| line.split(' ').collect()).collect();
    let [parent, wait, resume, child, wait_of_child, resume_of_child, process] = &words[..] else {
        panic!("{lines:#?}");
    };
    assert_eq!((parent[1], parent[2], parent[3]), ("A", "?", "B"));
    assert_eq!((wait[1], resume[1], child[1], child[3], wait_of_child[1]), ("A", "A", "C", "A", "C"), "{lines:#?}");
    assert_eq!((resume_of_child[1], process[1], process[3]), ("C", "D", "A"), "{lines:#?}");
}

#[test]
fn no_task_is_told_twice_and_each_ends() {
    for mut builder in [Builder::new_current_thread(), Builder::new_multi_thread()] {
        let lines = seen(|| {
            let runtime = builder.enable_all().build().unwrap();
            runtime.block_on(async {
                let mut others: Vec<_> = (0..20).map(|number| tokio::spawn(turns(number))).collect();
                others.push(tokio::spawn(async { panic!("mine") }));
                let aborted = tokio::spawn(pending());
                aborted.abort();
                others.push(aborted);
                for (number, task) in others.into_iter().enumerate() {
                    assert_eq!(task.await.is_ok(), number < 20);
                }
                let mut set = JoinSet::new();
                for number in 0..10 {
                    dyntrace::spawn(turns(number)).into_inner().await.unwrap();
                    set.spawn_process(turns(number));
                }
                set.join_all().await;
                dyntrace::spawn_blocking(|| ()).into_inner().await.unwrap();
                tokio::task::spawn_blocking(|| ()).await.unwrap();
            });
            // Two that the end of the runtime cancels, and one that is spawned when it has ended.
            runtime.spawn(pending::<()>());
            runtime.spawn(turns(1_000_000_000));
            let handle = runtime.handle().clone();
            runtime.shutdown_timeout(Duration::from_secs(60));
            handle.spawn(turns(3));
            let _inside = handle.enter();
            dyntrace::spawn(turns(3));
        });
        let (other, own) = counts(&lines);
        assert_eq!((other["spawn"], other["exit"]), (25, 25), "{lines:#?}");
        assert_eq!(other["scheduled"], other["unscheduled"]);
        assert!(other["scheduled"] >= (1..=20).sum());
        assert_eq!((own["spawn"], own["exit"]), (22, 22));
        // Of the closure, and of the tasks: a poll more than their turns.
        assert_eq!((own["scheduled"], own["unscheduled"]), (1 + 2 * 55, 1 + 2 * 55));
    }
}

#[test]
fn a_poll_within_a_poll_is_told() {
    let lines = seen(|| {
        let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
        let inner = || {
            let runtime = Builder::new_current_thread().build().unwrap();
            runtime.block_on(async { tokio::spawn(turns(0)).await.unwrap() });
        };
        runtime.block_on(async { tokio::spawn(async move { tokio::task::block_in_place(inner) }).await.unwrap() });
    });
    let words: Vec<String> = lines.iter().map(|line| line.split(' ').take(2).collect::<Vec<_>>().join(" ")).collect();
    let inner = ["spawn C", "scheduled C", "unscheduled C", "exit C"];
    let all = [&["spawn A", "scheduled A"], &inner[..], &["unscheduled A", "exit A"]].concat();
    assert_eq!(words, all, "{lines:#?}");
}

#[test]
fn functions_of_the_user_are_called_too() {
    let calls = Arc::new([const { AtomicU32::new(0) }; 4]);
    let count = |which: usize| {
        let calls = Arc::clone(&calls);
        move |_: &tokio::runtime::TaskMeta<'_>| {
            calls[which].fetch_add(1, Ordering::Relaxed);
        }
    };
    let mut builder = Builder::new_current_thread();
    builder.on_task_spawn(count(0)).on_before_task_poll(count(1)).on_after_task_poll(count(2));
    builder.on_task_terminate(count(3));
    let runtime = builder.build().unwrap();
    runtime.block_on(runtime.spawn(turns(2))).unwrap();
    assert_eq!([0, 1, 2, 3].map(|which| calls[which].load(Ordering::Relaxed)), [1, 3, 3, 1]);
}

/// The table is the whole program's, so this has a program of its own.
#[test]
fn all_tasks_are_in_the_table() {
    alone::run_child("checked");
}

fn table() -> Table {
    let folder = PathBuf::from(env::var_os("XDG_RUNTIME_DIR").unwrap());
    Table::read(&File::open(folder.join(format!("dyntrace/{}.tasks", process::id()))).unwrap()).unwrap()
}

#[test]
fn child() {
    if !alone::is_child() {
        return;
    }
    let mut builder = Builder::new_current_thread();
    let runtime = builder.tasks(true).build().unwrap();
    let line = line!() + 2;
    runtime.block_on(async {
        let others: Vec<_> = (0..7).map(|_| tokio::spawn(dyntrace::wait("end", pending::<()>()))).collect();
        let own = dyntrace::spawn(pending::<()>());
        turns(3).await;
        // They have no place for a tag.
        tokio::spawn(async { dyntrace::put_tag("mine").unwrap_err() }).await.unwrap();
        turns(1).await;
        let table = table();
        let site = |seen: &dyntrace_task_table::TaskEntry| seen.site.clone().unwrap();
        let found: Vec<_> = table.tasks.iter().filter(|seen| &*site(seen).first == "?").collect();
        assert_eq!((found.len(), table.tasks.len()), (7, 8));
        let place = format!("tests/runtime_hooks.rs:{line}");
        assert!(found.iter().all(|seen| *site(seen).second == *place && seen.task.polls == 1 && seen.tag.is_none()));
        let waits = |seen: &dyntrace_task_table::TaskEntry| match seen.wait.as_ref().map(|wait| &wait.resource) {
            Some(Thing::Named(Some(name))) => &*name.first == "end",
            _ => false,
        };
        assert!(found.iter().all(|seen| waits(seen)), "{found:?}");
        own.abort();
        others.iter().for_each(|task| task.abort());
        // A count of the runtime, after the first turn has ended all.
        turns(1).await;
        dyntrace::spawn(turns(0)).await.unwrap();
    });
    drop(runtime);
    let ended = table();
    assert_eq!((ended.tasks.len(), ended.header.runtimes, ended.header.counted), (0, 0, 0), "{ended:?}");

    // While runtimes come and go, and panics end their tasks.
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let runtime = Builder::new_multi_thread().worker_threads(2).build().unwrap();
                    for number in 0..50 {
                        runtime.spawn(async move {
                            tokio::spawn(turns(number));
                            assert!(number % 10 != 3, "panics");
                        });
                    }
                }
            });
        }
    });
    // A runtime that ends cancels tasks that its other threads begin to poll, or have just polled.
    for _ in 0..500 {
        let runtime = Builder::new_multi_thread().worker_threads(4).build().unwrap();
        for _ in 0..20 {
            runtime.spawn(turns(usize::MAX));
        }
    }
    let ended = table();
    assert_eq!((ended.tasks.len(), ended.header.runtimes, ended.header.counted), (0, 0, 0), "{ended:?}");
    assert_eq!(ended.header.without_slot, 0);
    println!("checked");
}
