//! The probes of waits and of blocking closures, as a recording has them, against what the programs did.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder"))]

#[path = "common/events.rs"]
mod events;

use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use dyntrace::{JoinSetExt, process, wait};
use events::seen;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{JoinSet, yield_now};

fn runtime() -> Runtime {
    Builder::new_current_thread().max_blocking_threads(1).enable_time().build().unwrap()
}

fn poll(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

async fn turns(count: usize) {
    for _ in 0..count {
        yield_now().await;
    }
}

const WAITS: &[&str] = &["process-wait", "process-resume"];

#[test]
fn a_wait_begins_at_the_first_pending_poll_and_ends_once() {
    let mut line = 0;
    let lines = seen(WAITS, || {
        runtime().block_on(async {
            line = line!() + 1;
            wait("turns", turns(3)).await;
            assert_eq!(wait("nothing", ready(7)).await, 7);
            drop(wait("never polled", turns(3)));
        });
    });
    assert_eq!(
        lines,
        [
            format!("process-wait A turns wait tests/waits.rs:{line}"),
            format!("process-resume A turns TIME ready wait tests/waits.rs:{line}"),
        ]
    );
}

#[test]
fn the_end_alone_tells_what_the_wait_was() {
    let mut line = 0;
    let lines = seen(&["process-resume"], || {
        runtime().block_on(async {
            line = line!() + 1;
            wait("turns", turns(2)).await;
        });
    });
    assert_eq!(lines, [format!("process-resume A turns TIME ready wait tests/waits.rs:{line}")]);
}

#[test]
fn a_wait_that_is_given_up_or_panics_ends() {
    let lines = seen(WAITS, || {
        runtime().block_on(async {
            tokio::select! {
                biased;
                () = wait("the slower", pending()) => unreachable!(),
                () = turns(2) => {}
            }
            let task = dyntrace::spawn(wait("aborted", pending::<()>()));
            yield_now().await;
            task.abort();
            task.into_inner().await.unwrap_err();
            let mut polls = 0;
            let panics = poll_fn(move |_| {
                polls += 1;
                if polls == 2 { panic!("no flour") } else { Poll::<()>::Pending }
            });
            let mut panics = Box::pin(wait("panics", panics));
            assert!(!poll(panics.as_mut()));
            catch_unwind(AssertUnwindSafe(|| poll(panics.as_mut()))).unwrap_err();
            // It is told once, not again by the drop.
            drop(panics);
            drop(wait("panics at once", poll_fn(|_| -> Poll<()> { unreachable!() })));
            let mut forgotten = Box::pin(wait("forgotten", pending::<()>()));
            assert!(!poll(forgotten.as_mut()));
            std::mem::forget(forgotten);
        });
    });
    let ends = lines.iter().filter_map(|line| line.strip_prefix("process-resume "));
    let ends: Vec<_> = ends.map(|end| end.split(" wait ").next().unwrap()).collect();
    assert_eq!(ends, ["A the slower TIME cancelled", "B aborted TIME cancelled", "A panics TIME panic"]);
    assert_eq!(lines.iter().filter(|line| line.starts_with("process-wait")).count(), 4);
}

/// Also without a runtime, and with one process beginning the wait and another ending it.
#[test]
fn a_wait_belongs_to_the_process_that_began_it() {
    let lines = seen(WAITS, || {
        let mut moved = Box::pin(wait("moved", turns(1)));
        assert!(poll(Box::pin(process::child(poll_fn(|_| Poll::Ready(poll(moved.as_mut()))))).as_mut()));
        let mut several = pin!(futures::future::join(wait("x", turns(1)), wait("x", turns(1))));
        assert!(!poll(several.as_mut()));
        futures::executor::block_on(several);
        futures::executor::block_on(moved);
    });
    let ends: Vec<_> = lines.iter().map(|line| line.split(" wait ").next().unwrap()).collect();
    assert_eq!(
        ends,
        [
            "process-wait A moved",
            "process-wait B x",
            "process-wait B x",
            "process-resume B x TIME ready",
            "process-resume B x TIME ready",
            "process-resume A moved TIME ready",
        ]
    );
}

#[test]
fn waits_of_many_threads_are_counted_exactly() {
    let (tasks, waits) = (20, 50);
    let lines = seen(WAITS, || {
        Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(async {
            let mut set = JoinSet::new();
            for task in 0..tasks {
                set.spawn_process(async move {
                    for count in 0..waits {
                        // Each third wait is given up.
                        let mut turns = Box::pin(wait("turns", turns(2)));
                        if count % 3 == task % 3 {
                            assert!(!poll(turns.as_mut()));
                        } else {
                            turns.await;
                        }
                    }
                });
            }
            set.join_all().await;
        });
    });
    let count = |part: &str| lines.iter().filter(|line| line.contains(part)).count();
    let given_up: usize = (0..tasks).map(|task| (0..waits).filter(|count| count % 3 == task % 3).count()).sum();
    assert_eq!(count("process-wait"), tasks * waits);
    assert_eq!((count("ready"), count("cancelled")), (tasks * waits - given_up, given_up));
}

#[test]
fn blocking_closures_have_their_queue() {
    let lines = seen(&["blocking-*", "process-exit"], || {
        let runtime = runtime();
        let (go, wait_for_go) = mpsc::channel();
        let (begun, has_begun) = mpsc::channel();
        runtime.block_on(async {
            let holds = dyntrace::spawn_blocking(move || {
                begun.send(()).unwrap();
                wait_for_go.recv().unwrap();
            });
            has_begun.recv().unwrap();
            let given_up = dyntrace::spawn_blocking(|| unreachable!("it is aborted in the queue"));
            let panics = dyntrace::spawn_blocking(|| panic!("no salt"));
            given_up.abort();
            go.send(()).unwrap();
            holds.await.unwrap();
            panics.await.unwrap_err();
            assert!(given_up.await.unwrap_err().is_cancelled());
        });
    });
    let shown: Vec<_> = lines
        .iter()
        .map(|line| {
            let mut words: Vec<_> = line.split(' ').collect();
            words.retain(|word| !word.contains("::"));
            words.join(" ")
        })
        .collect();
    assert_eq!(
        shown,
        [
            "blocking-add A 1",
            "blocking-get A 0",
            "blocking-add B 1",
            "blocking-add C 2",
            "blocking-done A 2 normal",
            "process-exit A normal",
            "blocking-done B 1 cancelled",
            "process-exit B cancelled",
            "blocking-get C 0",
            "blocking-done C 0 panic",
            "process-exit C panic",
        ]
    );
    assert!(lines[0].contains("waits::blocking_closures_have_their_queue"), "{}", lines[0]);
}

/// Outside of a runtime tokio refuses the closure, which leaves nothing in the queue.
#[test]
fn a_refused_closure_is_done() {
    let lines = seen(&["blocking-*"], || {
        catch_unwind(|| dyntrace::spawn_blocking(|| {})).unwrap_err();
    });
    let ends: Vec<_> = lines.iter().map(|line| line.rsplit("::").next().unwrap()).collect();
    assert_eq!((lines.len(), ends[1].split_once(' ').unwrap().1), (2, "0 cancelled"));
}
