//! The waits of locks, channels and timers, as a recording has them, against what the program did.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder"))]

#[path = "common/events.rs"]
mod events;
#[path = "sync_waits/more.rs"]
mod more;
#[path = "sync_waits/rwlock.rs"]
mod rwlock;

use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use dyntrace::sync::{Mutex, MutexGuard, Notify, OwnedMutexGuard, Semaphore, mpsc, oneshot};
use dyntrace::{JoinSetExt, process, time};
use events::{seen, seen_after};
use tokio::runtime::Builder;
use tokio::task::{JoinSet, yield_now};

fn poll(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn on_a_runtime(body: impl AsyncFnOnce()) {
    Builder::new_current_thread().enable_time().start_paused(true).build().unwrap().block_on(body());
}

const WAITS: &[&str] = &["process-wait", "process-resume"];

/// Returns the kinds of the waits, and how they ended.
fn kinds(lines: &[String]) -> Vec<String> {
    lines
        .iter()
        .map(|line| match line.strip_prefix("process-wait ") {
            Some(wait) => wait.split(' ').nth(2).unwrap().to_owned(),
            None => {
                let (outcome, of) = line.split_once(" TIME ").unwrap().1.split_once(' ').unwrap();
                let is_its = |wait: &String| wait.starts_with("process-wait ") && wait.ends_with(of);
                assert!(lines.iter().any(is_its), "the kind and place of a wait: {line}");
                outcome.to_owned()
            }
        })
        .collect()
}

#[test]
fn a_mutex_tells_its_life_and_its_waits() {
    let mut made = 0;
    let lines = seen(&["process-wait", "process-resume", "resource-*"], || {
        on_a_runtime(async || {
            made = line!() + 1;
            let mutex = Arc::new(Mutex::named("cache", 1));
            let guard = mutex.lock().await;
            let waits = dyntrace::spawn({
                let mutex = Arc::clone(&mutex);
                async move { *mutex.lock().await += 1 }
            });
            let mut given_up = Box::pin(mutex.lock());
            assert!(!poll(given_up.as_mut()));
            yield_now().await;
            drop(given_up);
            drop(guard);
            waits.await.unwrap();
        });
    });
    assert_eq!(
        lines,
        [
            format!("resource-new #1 Mutex cache tests/sync_waits.rs:{made}"),
            format!("process-wait A #1 Mutex::lock tests/sync_waits.rs:{}", made + 6),
            format!("process-wait B #1 Mutex::lock tests/sync_waits.rs:{}", made + 4),
            format!("process-resume A #1 TIME cancelled Mutex::lock tests/sync_waits.rs:{}", made + 6),
            format!("process-wait A B task::JoinHandle tests/sync_waits.rs:{}", made + 2),
            format!("process-resume B #1 TIME ready Mutex::lock tests/sync_waits.rs:{}", made + 4),
            format!("process-resume A B TIME ready task::JoinHandle tests/sync_waits.rs:{}", made + 2),
            "resource-drop #1 Mutex".to_owned(),
        ]
    );
}

#[test]
fn resources_from_before_the_tracer_are_named_at_their_first_wait() {
    static STATIC: Mutex<u32> = Mutex::const_new(1);
    let make = || (Semaphore::new(0), oneshot::channel::<u32>());
    let lines =
        seen_after(&["process-wait", "process-resume", "resource-*"], make, |(semaphore, (sender, receiver))| {
            let _held = STATIC.try_lock().unwrap();
            assert!(!poll(pin!(STATIC.lock())));
            assert!(!poll(pin!(STATIC.lock())));
            assert!(!poll(pin!(semaphore.acquire())));
            drop(semaphore);
            assert!(!poll(pin!(receiver)));
            drop(sender);
        });
    let probes: Vec<_> = lines.iter().map(|line| line.split(" tests").next().unwrap()).collect();
    assert_eq!(
        probes,
        [
            "resource-new #1 Mutex ",
            "process-wait A #1 Mutex::lock",
            "process-resume A #1 TIME cancelled Mutex::lock",
            "process-wait A #1 Mutex::lock",
            "process-resume A #1 TIME cancelled Mutex::lock",
            "resource-new #2 Semaphore ",
            "process-wait A #2 Semaphore::acquire",
            "process-resume A #2 TIME cancelled Semaphore::acquire",
            "resource-drop #2 Semaphore",
            "process-wait A #3 oneshot::Receiver",
            "process-resume A #3 TIME cancelled oneshot::Receiver",
        ]
    );
}

#[test]
fn each_wait_has_its_kind() {
    let lines = seen(WAITS, || {
        on_a_runtime(async || {
            let notify = Arc::new(Notify::new());
            assert!(!poll(pin!(notify.notified())));
            assert!(!poll(pin!(Arc::clone(&notify).notified_owned())));
            let (mut sender, receiver) = oneshot::channel::<u32>();
            assert!(!poll(pin!(sender.closed())));
            assert!(!poll(pin!(receiver)));
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            assert!(!poll(pin!(receiver.recv())));
            sender.send(1).await.unwrap();
            assert!(!poll(pin!(sender.send(2))));
            assert!(!poll(pin!(sender.reserve())));
            assert!(!poll(pin!(sender.closed())));
            sender.send_timeout(3, Duration::from_secs(1)).await.unwrap_err();
            let (_sender, mut receiver) = mpsc::unbounded_channel::<u32>();
            assert!(!poll(pin!(receiver.recv_many(&mut Vec::new(), 2))));
            time::sleep(Duration::from_secs(1)).await;
            time::timeout(Duration::from_secs(1), time::sleep(Duration::from_secs(2))).await.unwrap_err();
            let mut interval = time::interval(Duration::from_secs(1));
            interval.tick().await;
            interval.tick().await;
        });
    });
    let expected = "Notify::notified cancelled Notify::notified cancelled oneshot::Sender::closed cancelled \
        oneshot::Receiver cancelled mpsc::Receiver::recv cancelled mpsc::Sender::send cancelled mpsc::Sender::send cancelled \
        mpsc::Sender::closed cancelled mpsc::Sender::send cancelled mpsc::Receiver::recv cancelled \
        time::sleep ready time::sleep time::timeout ready cancelled time::Interval::tick ready";
    let mut kinds = kinds(&lines);
    // The timeout ends before the future in it is dropped.
    if let Some(at) = kinds.iter().position(|kind| kind == "time::timeout") {
        kinds[at + 1..at + 3].sort_by_key(|end| end == "cancelled");
    }
    assert_eq!(kinds.join(" "), expected.split_whitespace().collect::<Vec<_>>().join(" "));
}

#[test]
fn a_channel_is_dropped_with_its_last_half() {
    let lines = seen(&["resource-*"], || {
        let (sender, receiver) = mpsc::named_channel::<u32>("orders", 1);
        let weak = sender.clone().downgrade();
        drop((sender, receiver));
        let (one, other) = oneshot::named_channel::<u32>("answer");
        drop(weak);
        drop(other);
        drop(one);
    });
    let probes: Vec<_> = lines.iter().map(|line| line.split(" tests").next().unwrap()).collect();
    assert_eq!(
        probes,
        [
            "resource-new #1 mpsc orders",
            "resource-new #2 oneshot answer",
            "resource-drop #1 mpsc",
            "resource-drop #2 oneshot"
        ]
    );
}

/// Waits of tasks on two threads and of threads without a runtime.
#[test]
fn contended_waits_are_counted_exactly() {
    let (tasks, rounds) = (8, 50);
    let lines = seen(WAITS, || {
        let mutex = Arc::new(Mutex::new(0));
        let threads = [(); 2].map(|()| {
            let mutex = Arc::clone(&mutex);
            thread::spawn(move || (0..rounds).for_each(|_| *mutex.blocking_lock() += 1))
        });
        Builder::new_multi_thread().worker_threads(2).build().unwrap().block_on(async {
            let mut set = JoinSet::new();
            for _ in 0..tasks {
                let mutex = Arc::clone(&mutex);
                set.spawn_process(async move {
                    for _ in 0..rounds {
                        let mut guard = mutex.lock().await;
                        yield_now().await;
                        *guard += 1;
                    }
                });
            }
            set.join_all().await;
        });
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        assert_eq!(Arc::into_inner(mutex).unwrap().into_inner(), (tasks + 2) * rounds);
    });
    let begun: Vec<_> = lines.iter().filter(|line| line.starts_with("process-wait")).collect();
    // Each task meets the others that wait while it holds the lock over a turn.
    assert!(!begun.is_empty() && begun.len() <= (tasks + 2) * rounds, "{} waits", begun.len());
    let ready = lines.iter().filter(|line| line.contains(" TIME ready Mutex::lock ")).count();
    assert_eq!((ready, lines.len()), (begun.len(), 2 * begun.len()));
}

#[test]
fn a_mutex_knows_its_holder() {
    let lines = seen(&["user_trace-*"], || {
        on_a_runtime(async || {
            let mutex = Arc::new(Mutex::new((1, 2)));
            assert_eq!(mutex.holder(), None);
            let (held, frees) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
            let task = dyntrace::spawn({
                let (mutex, held, frees) = (Arc::clone(&mutex), Arc::clone(&held), Arc::clone(&frees));
                async move {
                    let guard = OwnedMutexGuard::map(mutex.lock_owned().await, |pair| &mut pair.0);
                    held.notify_one();
                    frees.notified().await;
                    drop(guard);
                    process::current()
                }
            });
            held.notified().await;
            let holder = mutex.holder().unwrap();
            assert!(holder.place.file().ends_with("sync_waits.rs") && holder.held.is_none());
            frees.notify_one();
            assert_eq!(holder.pid, task.await.unwrap());
            assert_eq!(mutex.holder(), None);
            // A closure that panics frees the lock, and a guard that is forgotten keeps its holder.
            let guard = mutex.lock().await;
            let panics = std::panic::AssertUnwindSafe(|| drop(MutexGuard::map(guard, |_| -> &mut i32 { panic!() })));
            std::panic::catch_unwind(panics).unwrap_err();
            assert_eq!(mutex.holder(), None);
            std::mem::forget(mutex.lock().await);
            assert_eq!(mutex.holder().map(|holder| holder.pid), Some(process::current()));
        });
    });
    assert_eq!(lines, [""; 0]);
    seen(WAITS, || {
        let mutex = Mutex::new(());
        let _guard = mutex.try_lock().unwrap();
        assert!(mutex.holder().unwrap().held.is_some());
    });
}
