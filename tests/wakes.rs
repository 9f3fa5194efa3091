//! The probe `process-wake`: what wakes a process, and wakers that outlive polls, processes and runtimes.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder"))]

use std::future::{pending, poll_fn};
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use dyntrace::process;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;
use tokio::task::{LocalSet, yield_now};

#[path = "common/events.rs"]
mod events;
#[path = "common/forked.rs"]
mod forked;

const WAKES: &[&str] = &["process-wake"];

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_time().build().unwrap()
}

/// Returns the wakes that a thread called `name` has left, without the name of the probe.
fn seen_of(name: &str, body: impl FnOnce() + Send) -> Vec<String> {
    let lines = events::seen(WAKES, || {
        thread::scope(|scope| {
            let thread = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, body).unwrap();
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        });
    });
    lines.iter().map(|line| line.strip_prefix("process-wake ").unwrap().to_owned()).collect()
}

/// Gives its waker away at the first poll, and is ready at the second.
fn gives(to: &mpsc::Sender<Waker>) -> impl Future<Output = ()> + Send + use<> {
    let mut to = Some(to.clone());
    poll_fn(move |context| match to.take() {
        Some(to) => {
            to.send(context.waker().clone()).unwrap();
            Poll::Pending
        }
        None => Poll::Ready(()),
    })
}

/// A waker that counts its wakes. `Arc::strong_count` tells how many others have it.
#[derive(Default)]
struct Counted(AtomicUsize);

impl Wake for Counted {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counted {
    fn wakes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_process_that_wakes_itself_or_another_one() {
    let lines = seen_of("main", || {
        runtime().block_on(async {
            let itself = dyntrace::spawn(async {
                let mut polled = false;
                poll_fn(|context| {
                    context.waker().wake_by_ref();
                    if mem::replace(&mut polled, true) { Poll::Ready(()) } else { Poll::Pending }
                })
                .await;
            });
            itself.await.unwrap();
            let (sender, receiver) = oneshot::channel();
            let waits = dyntrace::spawn(async { receiver.await.unwrap() });
            yield_now().await;
            dyntrace::spawn(async { sender.send(()).unwrap() });
            waits.await.unwrap();
            let (sender, receiver) = oneshot::channel();
            let waits = dyntrace::spawn(async { receiver.await.unwrap() });
            yield_now().await;
            dyntrace::spawn_blocking(|| sender.send(()).unwrap()).await.unwrap();
            waits.await.unwrap();
        });
    });
    // Each time that the poll wakes it.
    assert_eq!(lines, ["A A", "A A", "B C", "D E"]);
}

#[test]
fn tasks_that_are_no_process_and_threads() {
    let mut id = None;
    let lines = seen_of("of-the-program", || {
        runtime().block_on(async {
            let (to, wakers) = mpsc::channel();
            let waits = async || {
                let waits = dyntrace::spawn(gives(&to));
                yield_now().await;
                (waits, wakers.recv().unwrap())
            };

            let (ends, waker) = waits().await;
            let task = tokio::spawn(async move { waker.wake() });
            id = Some(task.id());
            ends.await.unwrap();

            let (ends, waker) = waits().await;
            thread::Builder::new().name("sender".to_owned()).spawn(|| waker.wake()).unwrap().join().unwrap();
            ends.await.unwrap();

            let (ends, waker) = waits().await;
            waker.wake_by_ref();
            ends.await.unwrap();

            // The runtime's driver is on this thread.
            dyntrace::spawn(tokio::time::sleep(Duration::from_millis(1))).await.unwrap();
        });
    });
    let task = format!("task {} A", id.unwrap());
    // With tokio_unstable, only runtimes of dyntrace tell of their tasks.
    assert_eq!(
        lines,
        [&*task, "thread sender B", "runtime thread of-the-program C", "runtime thread of-the-program D"]
    );
}

#[test]
fn a_process_inside_of_a_task_and_a_task_inside_of_a_process() {
    let mut id = None;
    let lines = seen_of("main", || {
        runtime().block_on(async {
            let (to, wakers) = mpsc::channel();
            let waits = dyntrace::spawn(gives(&to));
            yield_now().await;
            let waker = wakers.recv().unwrap();
            // A task of the runtime in a process that the root future polls: it is not the process.
            let outer = process::child(async {
                let set = LocalSet::new();
                let task = set.spawn_local(async move { waker.wake_by_ref() });
                id = Some(task.id());
                set.run_until(async { task.await.unwrap() }).await;
            });
            outer.await;
            waits.await.unwrap();
            // Parts of a task are processes of their own.
            let waits = dyntrace::spawn(gives(&to));
            yield_now().await;
            let waker = wakers.recv().unwrap();
            tokio::spawn(process::child(async move { waker.wake() })).await.unwrap();
            waits.await.unwrap();
        });
    });
    let task = format!("task {} ", id.unwrap());
    let lines: Vec<&str> =
        lines.iter().map(String::as_str).filter(|line| !line.starts_with("runtime thread")).collect();
    assert!(lines[0].starts_with(&task), "{lines:?}");
    let [waker, woken] = lines.last().unwrap().split(' ').collect::<Vec<_>>()[..] else { panic!("{lines:?}") };
    assert!(waker.len() == 1 && woken.len() == 1 && waker != woken, "{lines:?}");
}

#[test]
fn a_waker_that_outlives_its_process_and_its_runtime_wakes_nothing() {
    let lines = seen_of("main", || {
        let (to, wakers) = mpsc::channel();
        let runtime = runtime();
        runtime.block_on(async {
            // One returns, one panics, one is cancelled, one ends with the runtime.
            let returns = dyntrace::spawn(gives(&to));
            let panics = dyntrace::spawn({
                let gives = gives(&to);
                async {
                    gives.await;
                    panic!("no flour")
                }
            });
            let cancelled = dyntrace::spawn({
                let gives = gives(&to);
                async {
                    gives.await;
                    pending::<()>().await
                }
            });
            yield_now().await;
            let first: Vec<Waker> = wakers.try_iter().collect();
            assert_eq!(first.len(), 3);
            first.iter().for_each(Waker::wake_by_ref);
            returns.await.unwrap();
            panics.await.unwrap_err();
            cancelled.abort();
            cancelled.await.unwrap_err();
            for waker in &first {
                waker.wake_by_ref();
                let clone = waker.clone();
                clone.wake();
            }
            first.into_iter().for_each(Waker::wake);
            dyntrace::spawn({
                let gives = gives(&to);
                async {
                    gives.await;
                    pending::<()>().await
                }
            });
            yield_now().await;
        });
        drop(runtime);
        for waker in wakers.try_iter() {
            waker.wake_by_ref();
            thread::spawn(move || drop(waker.clone())).join().unwrap();
        }
    });
    assert_eq!(lines, ["A", "B", "C"].map(|pid| format!("runtime thread main {pid}")));
}

/// The waker that a future sees at this poll.
fn polled_with(future: Pin<&mut impl Future<Output = Waker>>, outer: &Waker) -> Waker {
    let Poll::Ready(waker) = future.poll(&mut Context::from_waker(outer)) else { panic!("it is ready at each poll") };
    waker
}

/// A future that returns its waker at each poll.
struct Shows;

impl Future for Shows {
    type Output = Waker;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Waker> {
        Poll::Ready(context.waker().clone())
    }
}

#[test]
fn a_process_has_one_waker_for_each_that_it_is_polled_with() {
    let (one, other) = (Arc::new(Counted::default()), Arc::new(Counted::default()));
    let [of_one, of_other] = [&one, &other].map(|counted| Waker::from(Arc::clone(counted)));
    let lines = seen_of("main", || {
        let mut child = Box::pin(process::child(poll_fn(|context| Poll::Ready(context.waker().clone()))));
        let first = polled_with(child.as_mut(), &of_one);
        assert!(!first.will_wake(&of_one), "it is its own");
        assert!(polled_with(child.as_mut(), &of_one).will_wake(&first));
        assert!(polled_with(child.as_mut(), &of_one).will_wake(&first.clone()));
        first.wake_by_ref();
        assert_eq!((one.wakes(), other.wakes()), (1, 0));
        let second = polled_with(child.as_mut(), &of_other);
        assert!(!second.will_wake(&first));
        second.wake_by_ref();
        // It no longer is this process's waker, but wakes whatever it has woken.
        first.wake();
        assert_eq!((one.wakes(), other.wakes()), (2, 1));
        drop(child);
        let clone = second.clone();
        clone.wake();
        assert_eq!((Arc::strong_count(&one), Arc::strong_count(&other), other.wakes()), (2, 3, 2));
        drop(second);
    });
    assert_eq!(lines, ["thread main A", "thread main A"]);
    drop((of_one, of_other));
    assert_eq!((Arc::strong_count(&one), Arc::strong_count(&other)), (1, 1), "no waker is left");
    // Nobody looks: a process is polled with the waker that its executor has.
    let waker = Waker::from(Arc::clone(&one));
    assert!(polled_with(Box::pin(process::child(Shows)).as_mut(), &waker).will_wake(&waker));
}

/// An executor that drops a future with the last waker of it.
struct Dropping(Mutex<Option<Pin<Box<dyn Future<Output = ()> + Send>>>>);

impl Wake for Dropping {
    fn wake(self: Arc<Self>) {
        self.poll();
    }
}

impl Dropping {
    fn poll(self: &Arc<Self>) {
        let waker = Waker::from(Arc::clone(self));
        let future = self.0.lock().unwrap().take();
        let Some(mut future) = future else { return };
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_pending() {
            *self.0.lock().unwrap() = Some(future);
        }
    }
}

#[test]
fn a_process_that_nothing_can_wake_does_not_keep_itself_alive() {
    let lines = seen_of("main", || {
        let witness = Arc::new(());
        let of_future = Arc::clone(&witness);
        let (to, wakers) = mpsc::channel();
        let gives = gives(&to);
        let future = process::child(async move {
            let _witness = of_future;
            gives.await;
            pending::<()>().await;
        });
        let task = Arc::new(Dropping(Mutex::new(Some(Box::pin(future)))));
        task.poll();
        drop(task);
        assert_eq!(Arc::strong_count(&witness), 2, "its waker is there");
        wakers.recv().unwrap().wake();
        assert_eq!(Arc::strong_count(&witness), 1, "nothing has it any more");
    });
    assert_eq!(lines, ["thread main A"]);
}

#[test]
fn wakers_are_dropped_in_any_order_on_any_thread() {
    let inner = Arc::new(Counted::default());
    let outer = Waker::from(Arc::clone(&inner));
    seen_of("main", || {
        for first in 0..4 {
            let mut child = Box::pin(process::child(poll_fn(|context| Poll::Ready(context.waker().clone()))));
            let mut wakers: Vec<Waker> = (0..3).map(|_| polled_with(child.as_mut(), &outer)).collect();
            let mut child = Some(child);
            for number in 0..4 {
                match (first + number) % 4 {
                    0 => drop(child.take()),
                    number => {
                        let waker = wakers.pop().unwrap();
                        thread::spawn(move || if number == 1 { waker.wake() } else { drop(waker) }).join().unwrap();
                    }
                }
            }
            assert_eq!(Arc::strong_count(&inner), 2, "all are gone");
        }
    });
    assert_eq!(inner.wakes(), 4);
}

#[test]
fn a_waker_may_be_called_and_dropped_by_destructors() {
    /// Wakes when it is dropped: within the process's own drop, or at the end of a thread.
    struct Last(Option<Waker>);

    impl Drop for Last {
        fn drop(&mut self) {
            self.0.take().unwrap().wake();
        }
    }

    thread_local! {
        static LAST: std::cell::RefCell<Option<Last>> = const { std::cell::RefCell::new(None) };
    }

    let lines = seen_of("main", || {
        let runtime = runtime();
        let (to, wakers) = mpsc::channel();
        runtime.block_on(async {
            let waits = dyntrace::spawn(gives(&to));
            let itself = dyntrace::spawn(async {
                let waker = poll_fn(|context| Poll::Ready(context.waker().clone())).await;
                let _last = Last(Some(waker));
                pending::<()>().await;
            });
            yield_now().await;
            let waker = wakers.recv().unwrap();
            thread::Builder::new()
                .name("ends".to_owned())
                .spawn(|| LAST.with(|last| *last.borrow_mut() = Some(Last(Some(waker)))))
                .unwrap()
                .join()
                .unwrap();
            waits.await.unwrap();
            itself.abort();
            itself.await.unwrap_err();
        });
    });
    assert_eq!(lines, ["thread ends A", "B B"]);
}

#[test]
fn wakes_between_two_runtimes() {
    let lines = seen_of("main", || {
        let (one, other) = (Builder::new_multi_thread().worker_threads(1).build().unwrap(), runtime());
        let (to, wakers) = mpsc::channel();
        let there = gives(&to);
        let entered = one.enter();
        let waits = dyntrace::spawn(there);
        drop(entered);
        let waker = wakers.recv().unwrap();
        other.block_on(async { dyntrace::spawn(async move { waker.wake() }).await.unwrap() });
        one.block_on(waits).unwrap();
    });
    assert_eq!(lines, ["A B"]);
}

#[test]
fn a_waker_works_in_a_forked_child() {
    let inner = Arc::new(Counted::default());
    let outer = Waker::from(Arc::clone(&inner));
    let lines = seen_of("main", || {
        let mut child = Box::pin(process::child(poll_fn(|context| Poll::Ready(context.waker().clone()))));
        let waker = polled_with(child.as_mut(), &outer);
        forked::in_child(|| {
            waker.wake_by_ref();
            assert_eq!(inner.wakes(), 1);
            // No session records the child.
            assert!(polled_with(child.as_mut(), &outer).will_wake(&outer));
        });
        assert_eq!(inner.wakes(), 0);
        waker.wake();
        drop(child);
    });
    assert_eq!((lines, inner.wakes()), (vec!["thread main A".to_owned()], 1));
}
