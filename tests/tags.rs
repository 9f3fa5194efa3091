//! Tags and pids follow the task, and only the task.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use dyntrace::process::{self, Pid};
use dyntrace::{TagError, get_tag, get_tag_data, put_tag, restore_tag, spread_tag, take_tag, with_tag};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, yield_now};

fn tag() -> Option<String> {
    get_tag().map(|tag| tag.to_string())
}

fn tag_data() -> Option<String> {
    get_tag_data().map(|tag| tag.to_string())
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn runtimes() -> [Runtime; 2] {
    [Builder::new_current_thread().build().unwrap(), Builder::new_multi_thread().worker_threads(2).build().unwrap()]
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

/// An executor independent of tokio.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// Like tokio's `yield_now`, but for any runtime.
async fn yield_once() {
    let mut yielded = false;
    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Reports the tag that it sees when it is dropped.
struct Witness(mpsc::Sender<(Option<String>, Pid)>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.send((tag(), process::current())).unwrap();
    }
}

#[test]
fn a_process_keeps_its_tag_and_pid_across_awaits() {
    for runtime in runtimes() {
        runtime.block_on(async {
            let mut tasks = Vec::new();
            for number in 0..20 {
                tasks.push(dyntrace::spawn(async move {
                    assert_eq!(tag(), None);
                    let (mine, pid) = (format!("task {number}"), process::current());
                    put_tag(mine.as_str()).unwrap();
                    for _ in 0..20 {
                        yield_now().await;
                        assert_eq!((tag(), process::current()), (some(&mine), pid));
                    }
                    pid
                }));
            }
            let mut pids = vec![process::current()];
            for task in tasks {
                pids.push(task.await.unwrap());
            }
            pids.sort();
            pids.dedup();
            assert_eq!(pids.len(), 21);
            assert_eq!(tag(), None);
        });
    }
}

#[test]
fn a_process_takes_its_tag_to_another_thread() {
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime
        .block_on(async {
            dyntrace::spawn(async {
                put_tag("mover").unwrap();
                let (pid, thread) = (process::current(), thread::current().id());
                let (other_ran, wait) = mpsc::channel();
                tokio::spawn(async move { other_ran.send(()).unwrap() });
                // The runtime's only worker moves to another thread for the other task, and stays there.
                tokio::task::block_in_place(|| wait.recv().unwrap());
                assert_eq!((tag(), process::current()), (some("mover"), pid));
                yield_now().await;
                assert_ne!(thread::current().id(), thread);
                assert_eq!((tag(), process::current()), (some("mover"), pid));
            })
            .await
        })
        .unwrap();
}

#[test]
fn tasks_that_take_turns_on_a_thread_do_not_see_each_other() {
    current_thread().block_on(async {
        let turns = |name: &'static str| {
            dyntrace::spawn(async move {
                for turn in 0..10 {
                    let mine = format!("{name} {turn}");
                    put_tag(mine.as_str()).unwrap();
                    yield_now().await;
                    assert_eq!(tag(), Some(mine));
                }
                take_tag();
                yield_now().await;
                assert_eq!(tag(), None);
            })
        };
        let (one, two) = (turns("one"), turns("two"));
        one.await.unwrap();
        two.await.unwrap();
    });
}

#[test]
fn the_future_of_block_on_has_the_tag_of_its_thread() {
    for runtime in runtimes() {
        put_tag("outside").unwrap();
        let pid = process::current();
        runtime.block_on(async {
            assert_eq!((tag(), process::current()), (some("outside"), pid));
            put_tag("root").unwrap();
            yield_now().await;
            assert_eq!(tag(), some("root"));
            assert_eq!(dyntrace::spawn(async { tag_data() }).await.unwrap(), None);
        });
        assert_eq!(take_tag().as_deref(), Some("root"));
    }
}

#[test]
fn a_foreign_task_has_no_tag_and_cannot_set_one() {
    for runtime in runtimes() {
        runtime.block_on(async {
            put_tag("of the thread").unwrap();
            spread_tag(true);
            tokio::spawn(async {
                assert_eq!((tag(), tag_data()), (None, None));
                assert_eq!(put_tag("lost"), Err(TagError::ForeignTask));
                assert_eq!(take_tag(), None);
                restore_tag(spread_tag(true)).unwrap();
                let child = dyntrace::spawn(async { tag_data() });
                assert_eq!(child.await.unwrap(), None);
                let state = with_tag("x", async { spread_tag(false) }).await;
                assert_eq!(restore_tag(state), Err(TagError::ForeignTask));
            })
            .await
            .unwrap();
            tokio::task::spawn_blocking(|| {
                assert_eq!(tag(), None);
                let error = put_tag("lost").unwrap_err().to_string();
                assert!(error.contains("dyntrace::spawn") && error.contains("dyntrace::with_tag"), "{error}");
            })
            .await
            .unwrap();
            spread_tag(false);
            assert_eq!(take_tag().as_deref(), Some("of the thread"));
        });
    }
}

#[test]
fn a_scope_hides_its_tag_from_the_local_tasks_that_it_polls() {
    let local = LocalSet::new();
    current_thread().block_on(with_tag(
        "scope",
        local.run_until(async {
            assert_eq!(tag(), some("scope"));
            let foreign = tokio::task::spawn_local(async { (tag(), put_tag("lost")) });
            let process = dyntrace::spawn_local(async {
                put_tag("local").unwrap();
                yield_now().await;
                tag()
            });
            assert_eq!(foreign.await.unwrap(), (None, Err(TagError::ForeignTask)));
            assert_eq!(process.await.unwrap(), some("local"));
            assert_eq!(tag(), some("scope"));
        }),
    ));
}

#[test]
fn a_process_hides_its_pid_from_the_local_tasks_that_it_polls() {
    current_thread().block_on(LocalSet::new().run_until(async {
        let thread = process::current();
        let process = dyntrace::spawn_local(async {
            let inner = LocalSet::new();
            let foreign = tokio::task::LocalSet::spawn_local(&inner, async { process::current() });
            (process::current(), inner.run_until(foreign).await.unwrap(), process::current())
        });
        let (before, foreign, after) = process.await.unwrap();
        assert_ne!(before, thread);
        assert_eq!(foreign, thread);
        assert_eq!(after, before);
    }));
}

#[test]
fn with_tag_serves_foreign_tasks_and_other_runtimes() {
    async fn scoped() {
        assert_eq!(tag(), some("scoped"));
        put_tag("changed").unwrap();
        yield_once().await;
        assert_eq!(tag(), some("changed"));
    }
    for runtime in runtimes() {
        runtime.block_on(async { tokio::spawn(with_tag("scoped", scoped())).await.unwrap() });
    }
    put_tag("of the thread").unwrap();
    block_on(async {
        with_tag("scoped", scoped()).await;
        assert_eq!(tag(), some("of the thread"));
    });
}

#[test]
fn with_tag_may_begin_on_one_thread_and_end_on_another() {
    put_tag("of the thread").unwrap();
    let (send, receive) = oneshot::channel();
    let mut future = Box::pin(with_tag("traveller", async move {
        receive.await.unwrap();
        tag()
    }));
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    assert_eq!(tag(), some("of the thread"));
    send.send(()).unwrap();
    assert_eq!(thread::spawn(move || block_on(future)).join().unwrap(), some("traveller"));
}

#[test]
fn with_tag_nests_and_gives_branches_of_join_their_own() {
    current_thread().block_on(with_tag("outer", async {
        with_tag("inner", async {
            yield_now().await;
            assert_eq!(tag(), some("inner"));
            put_tag("changed").unwrap();
        })
        .await;
        assert_eq!(tag(), some("outer"));
        let branch = |name: &'static str| {
            with_tag(name, async move {
                for _ in 0..3 {
                    yield_now().await;
                    assert_eq!(tag(), some(name));
                }
            })
        };
        tokio::join!(branch("left"), branch("right"));
        assert_eq!(tag(), some("outer"));
    }));
}

#[test]
fn with_tag_does_not_change_the_process() {
    current_thread().block_on(async {
        let thread = process::current();
        assert_eq!(with_tag("x", async { process::current() }).await, thread);
        let process = async { (process::current(), with_tag("x", async { process::current() }).await) };
        let (outside, inside) = dyntrace::spawn(process).await.unwrap();
        assert_eq!(outside, inside);
        assert_ne!(outside, thread);
    });
}

#[test]
fn a_panic_leaves_the_outer_tag_in_force() {
    put_tag("of the thread").unwrap();
    std::panic::catch_unwind(|| block_on(with_tag("panics", async { panic!("on purpose") }))).unwrap_err();
    assert_eq!(tag(), some("of the thread"));
    current_thread().block_on(async {
        let task = dyntrace::spawn(async {
            put_tag("panics").unwrap();
            panic!("on purpose");
        });
        assert!(task.await.unwrap_err().is_panic());
        assert_eq!(tag(), some("of the thread"));
        assert_eq!(dyntrace::spawn(async { tag() }).await.unwrap(), None);
    });
}

#[test]
fn an_aborted_process_is_dropped_as_itself() {
    for runtime in runtimes() {
        let (send, dropped) = mpsc::channel();
        let pid = runtime.block_on(async {
            let (started, start) = oneshot::channel();
            let task = dyntrace::spawn(async move {
                let _witness = Witness(send);
                put_tag("aborted").unwrap();
                started.send(process::current()).unwrap();
                std::future::pending::<()>().await;
            });
            let pid = start.await.unwrap();
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
            assert_eq!(tag(), None);
            pid
        });
        assert_eq!(dropped.recv().unwrap(), (some("aborted"), pid));
    }
}

#[test]
fn a_process_that_never_ran_is_dropped_as_itself() {
    let (send, dropped) = mpsc::channel();
    let runtime = current_thread();
    {
        let _guard = runtime.enter();
        let witness = Witness(send);
        dyntrace::spawn(with_tag("never ran", async move { drop(witness) }));
    }
    drop(runtime);
    let (tag, pid) = dropped.recv().unwrap();
    assert_eq!(tag, some("never ran"));
    assert_ne!(pid, process::current());
}

#[test]
fn the_locals_of_a_future_are_dropped_before_its_tag() {
    let (send, dropped) = mpsc::channel();
    put_tag("of the thread").unwrap();
    let mut future = Box::pin(with_tag("scoped", async move {
        let _witness = Witness(send);
        std::future::pending::<()>().await;
    }));
    assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(future);
    assert_eq!(dropped.recv().unwrap().0, some("scoped"));
    assert_eq!(tag(), some("of the thread"));
}

#[test]
fn a_tag_travels_while_it_is_spread() {
    for runtime in runtimes() {
        runtime.block_on(async {
            put_tag("parent").unwrap();
            let child = || dyntrace::spawn(async { (tag(), tag_data()) });
            assert_eq!(child().await.unwrap(), (None, None));

            let before = spread_tag(true);
            assert_eq!(child().await.unwrap(), (None, some("parent")));
            let grandchild = dyntrace::spawn(async { dyntrace::spawn(async { tag_data() }).await.unwrap() });
            assert_eq!(grandchild.await.unwrap(), some("parent"));
            let scoped = with_tag("scoped", async { dyntrace::spawn(async { tag_data() }).await.unwrap() });
            assert_eq!(scoped.await, some("scoped"));

            put_tag("changed").unwrap();
            restore_tag(before).unwrap();
            assert_eq!(tag(), some("parent"));
            assert_eq!(child().await.unwrap(), (None, None));
            take_tag();
        });
    }
}

#[test]
fn an_own_tag_goes_before_a_received_one() {
    current_thread().block_on(async {
        put_tag("parent").unwrap();
        spread_tag(true);
        dyntrace::spawn(async {
            put_tag("own").unwrap();
            assert_eq!(tag_data(), some("own"));
            take_tag();
            assert_eq!((tag(), tag_data()), (None, some("parent")));
        })
        .await
        .unwrap();
    });
}

#[test]
fn a_state_can_be_restored_in_another_process() {
    current_thread().block_on(async {
        put_tag("parent").unwrap();
        let state = spread_tag(true);
        let child = dyntrace::spawn(async move {
            restore_tag(state).unwrap();
            (tag(), dyntrace::spawn(async { tag_data() }).await.unwrap())
        });
        assert_eq!(child.await.unwrap(), (some("parent"), None));
    });
}

#[test]
fn a_thread_does_not_inherit_a_tag() {
    put_tag("here").unwrap();
    spread_tag(true);
    let there = thread::spawn(|| (tag_data(), put_tag("there").unwrap(), tag()));
    assert_eq!(there.join().unwrap(), (None, None, some("there")));
    assert_eq!(tag(), some("here"));
}

#[test]
fn the_last_destructors_of_a_thread_may_ask() {
    struct Last(mpsc::Sender<Pid>);
    impl Drop for Last {
        fn drop(&mut self) {
            let _ = (put_tag("late"), tag_data(), take_tag());
            block_on(with_tag("later", yield_once()));
            self.0.send(process::current()).unwrap();
        }
    }
    thread_local! {
        static FIRST: std::cell::OnceCell<Last> = const { std::cell::OnceCell::new() };
        static SECOND: std::cell::OnceCell<Last> = const { std::cell::OnceCell::new() };
    }
    let (send, last) = mpsc::channel();
    let pid = thread::spawn(move || {
        // Before and after the tag's value, in the platform's order.
        FIRST.with(|cell| cell.set(Last(send.clone())).is_ok());
        put_tag("mine").unwrap();
        SECOND.with(|cell| cell.set(Last(send)).is_ok());
        process::current()
    })
    .join()
    .unwrap();
    assert_eq!(last.iter().collect::<Vec<_>>(), [pid, pid]);
}
