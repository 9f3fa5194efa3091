//! Children of a process, started in each way.

use std::sync::mpsc;

use dyntrace::process::{self, Pid};
use dyntrace::seq_trace::{self, Flags, Serial, Token};
use dyntrace::task::JoinHandle;
use dyntrace::{JoinSetExt, Tagged, put_tag, restore_tag, spread_tag, take_tag, with_tag};
use tokio::runtime::{Builder, Handle};
use tokio::task::{JoinSet, LocalSet, yield_now};

use super::{Witness, runtimes, some, tag, tag_data};

/// A child's tag, its pid, and the serial of its token.
type ChildFacts = (Option<String>, Pid, Option<(u32, u32)>);

fn look() -> ChildFacts {
    let serial = |Serial { previous, current }| (previous, current);
    (tag(), process::current(), seq_trace::get_token().map(|token| serial(token.serial)))
}

/// Starts a child in each way, one after the other.
async fn one_of_each() -> Vec<ChildFacts> {
    let mut set = JoinSet::new();
    let mut seen = vec![
        dyntrace::spawn(async { look() }).await.unwrap(),
        dyntrace::spawn_blocking(look).await.unwrap(),
        tokio::spawn(process::child(async { look() })).await.unwrap(),
    ];
    set.spawn_process(async { look() });
    seen.extend(set.join_next().await.unwrap());
    set.spawn_blocking_process(look);
    seen.extend(set.join_next().await.unwrap());
    seen
}

#[test]
fn children_are_processes_with_tag_and_token() {
    for runtime in runtimes() {
        runtime.block_on(with_tag("request", async {
            let token = Token { label: 7.into(), serial: Serial::default(), flags: Flags::SEND };
            seq_trace::restore_token(Some(token)).unwrap();
            let mut pids = vec![process::current()];
            for (number, (tag, pid, serial)) in one_of_each().await.into_iter().enumerate() {
                // Each start counts as a message.
                assert_eq!((tag, serial), (some("request"), Some((0, number as u32 + 1))));
                pids.push(pid);
            }
            seq_trace::take_token();
            pids.sort();
            pids.dedup();
            assert_eq!(pids.len(), 6);
        }));
        assert_eq!(runtime.block_on(one_of_each()).into_iter().find(|(tag, ..)| tag.is_some()), None);
    }
}

#[test]
fn an_operation_includes_grandchildren_until_one_leaves_it() {
    async fn grandchild() -> (Option<String>, Option<String>) {
        dyntrace::spawn(async { (tag(), tag_data()) }).await.unwrap()
    }
    for runtime in runtimes() {
        runtime.block_on(with_tag("request", async {
            let stays = dyntrace::spawn(async {
                yield_now().await;
                grandchild().await
            });
            assert_eq!(stays.await.unwrap(), (some("request"), some("request")));
            let renames = dyntrace::spawn(async {
                put_tag("part").unwrap();
                grandchild().await
            });
            assert_eq!(renames.await.unwrap(), (some("part"), some("part")));
            let leaves = dyntrace::spawn(async {
                take_tag();
                grandchild().await
            });
            assert_eq!(leaves.await.unwrap(), (None, None));
            assert_eq!(tag(), some("request"));
        }));
    }
}

#[test]
fn a_tag_of_an_operation_spreads_with_messages_only_if_it_is_told_to() {
    runtimes()[0].block_on(async {
        let (send, mut receive) = dyntrace::mailbox::unbounded_channel();
        for spreads in [false, true] {
            with_tag("request", async {
                spread_tag(spreads);
                send.send(()).unwrap();
            })
            .await;
            let received = dyntrace::spawn(async {
                receive.recv().await.unwrap();
                ((tag(), tag_data()), receive)
            });
            let seen;
            (seen, receive) = received.await.unwrap();
            assert_eq!(seen, (None, some("request").filter(|_| spreads)));
        }
    });
}

#[test]
fn a_restored_state_neither_ends_an_operation_nor_begins_one() {
    runtimes()[0].block_on(async {
        put_tag("outside").unwrap();
        let outside = spread_tag(false);
        let inside = with_tag("request", async {
            let inside = spread_tag(false);
            restore_tag(outside).unwrap();
            assert_eq!(dyntrace::spawn(async { tag() }).await.unwrap(), some("outside"));
            inside
        })
        .await;
        restore_tag(inside).unwrap();
        assert_eq!((tag(), dyntrace::spawn(async { tag_data() }).await.unwrap()), (some("request"), None));
        take_tag();
    });
}

#[test]
fn local_processes_and_those_with_mailboxes_have_the_tag() {
    let local = LocalSet::new();
    runtimes()[0].block_on(with_tag(
        "request",
        local.run_until(async {
            assert_eq!(dyntrace::spawn_local(async { tag() }).await.unwrap(), some("request"));
            let (_, child) = dyntrace::mailbox::spawn(async |_: dyntrace::mailbox::Mailbox<()>| tag());
            assert_eq!(child.await.unwrap(), some("request"));
        }),
    ));
}

#[test]
fn a_blocking_closure_has_a_tag_that_does_not_spread() {
    for runtime in runtimes() {
        runtime.block_on(async {
            put_tag("job").unwrap();
            let handle = Handle::current();
            let blocking = dyntrace::spawn_blocking(move || {
                let within = handle.block_on(async {
                    yield_now().await;
                    tag()
                });
                assert_eq!((tag(), within), (some("job"), some("job")));
                put_tag("changed").unwrap();
                handle.block_on(dyntrace::spawn(async { tag() })).unwrap()
            });
            assert_eq!(blocking.await.unwrap(), some("changed"));
            assert_eq!(tag(), some("job"));
            // The next closure on that thread is another one's.
            assert_eq!(tokio::task::spawn_blocking(tag).await.unwrap(), None);
            let panics = dyntrace::spawn_blocking(|| panic!("on purpose"));
            assert!(panics.await.unwrap_err().is_panic());
            assert_eq!(tokio::task::spawn_blocking(|| (tag(), process::current())).await.unwrap().0, None);
            take_tag();
        });
    }
}

#[test]
fn a_closure_that_never_runs_is_dropped_with_its_tag() {
    let runtime = Builder::new_current_thread().max_blocking_threads(1).build().unwrap();
    let (send, dropped) = mpsc::channel();
    let (go_on, wait) = mpsc::channel::<()>();
    {
        let _guard = runtime.enter();
        put_tag("never ran").unwrap();
        tokio::task::spawn_blocking(move || wait.recv());
        let witness = Witness(send);
        let waits = dyntrace::spawn_blocking(move || drop(witness));
        take_tag();
        waits.abort();
    }
    drop(go_on);
    drop(runtime);
    assert_eq!(dropped.recv().unwrap(), some("never ran"));
}

#[test]
fn an_aborted_task_is_dropped_with_the_tag_that_it_took_along() {
    for runtime in runtimes() {
        let (send, dropped) = mpsc::channel();
        runtime.block_on(with_tag("request", async {
            let mut set = JoinSet::new();
            let witness = Witness(send);
            let task = async move {
                let _witness = witness;
                std::future::pending::<()>().await;
            };
            set.spawn(task.with_current_tag());
            yield_now().await;
            set.shutdown().await;
        }));
        assert_eq!(dropped.recv().unwrap(), some("request"));
    }
}

#[test]
fn children_have_the_tag_that_is_entered_within_an_operation() {
    for runtime in runtimes() {
        runtime.block_on(with_tag("request", async {
            let entered = dyntrace::enter_tag("step");
            let spawned = [dyntrace::spawn(async { tag() }), dyntrace::spawn_blocking(tag)];
            let mut children = Vec::from(spawned.map(JoinHandle::into_inner));
            children.push(tokio::spawn(async { tag() }.with_current_tag()));
            drop(entered);
            for child in children {
                assert_eq!(child.await.unwrap(), some("step"));
            }
            assert_eq!(dyntrace::spawn(async { tag() }).await.unwrap(), some("request"));
        }));
    }
}
