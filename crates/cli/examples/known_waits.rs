//! Waits in each way, gives the blocking pool jobs that end in each way, and prints how many, so that tests can compare the output of
//! scripts with it:
//!
//!     dyntrace run task_waits -- target/release/examples/known_waits [COUNT]
//!     dyntrace run blocking_pool -- target/release/examples/known_waits [COUNT]
//!
//! COUNT tasks of each function (3 without) wait on one thread. The pool has one thread, too: while a job keeps it, COUNT jobs of each
//! function wait in the queue. It prints JSON: for each kind of wait and for each function that waits how its waits ended, and for each
//! function how its jobs ended, and the longest queue.

use std::future::{Future, poll_fn};
use std::mem;
use std::sync::Arc;
use std::sync::mpsc;
use std::task::Poll;
use std::thread;
use std::time::Duration;

use dyntrace::sync::{Mutex, Notify, Semaphore};
use serde_json::{Map, Value, json};
use tokio::runtime::Builder;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, yield_now};

async fn locks(shelf: Arc<Mutex<()>>) {
    drop(shelf.lock().await);
}

async fn naps() {
    dyntrace::time::sleep(Duration::from_millis(1)).await;
}

async fn rings(bell: Arc<Notify>) {
    bell.notified().await;
}

async fn burns() {
    let mut is_hot = false;
    let bakes = poll_fn(|context| {
        assert!(!is_hot, "the bread is burnt");
        is_hot = true;
        context.waker().wake_by_ref();
        Poll::<()>::Pending
    });
    dyntrace::wait("oven", bakes).await;
}

/// Waits until the program ends.
async fn queues(seats: Arc<Semaphore>) {
    drop(seats.acquire().await);
}

/// Starts tasks, and returns when each has been polled once. Waits for tokio's handles are not seen.
async fn start<F: Future<Output = ()> + Send + 'static>(count: u64, task: impl Fn() -> F) -> Vec<JoinHandle<()>> {
    let mut tasks = Vec::new();
    for number in 1..=count {
        let tag = format!("request {}", 1 + number % 2);
        dyntrace::with_tag(tag, async { tasks.push(dyntrace::spawn(task()).into_inner()) }).await;
    }
    for _ in 0..count {
        // Meanwhile the runtime polls one of them at least.
        yield_now().await;
    }
    tasks
}

/// Returns how the waits of each kind ended, and those of each function.
async fn waits(count: u64) -> [Value; 2] {
    let (shelf, bell, seats) = (Arc::new(Mutex::new(())), Arc::new(Notify::new()), Arc::new(Semaphore::new(0)));
    let held = shelf.lock().await;
    let locks = start(count, || locks(Arc::clone(&shelf))).await;
    drop(held);
    for task in locks.into_iter().chain(start(count, naps).await) {
        task.await.expect("it ends");
    }
    for task in start(count, || rings(Arc::clone(&bell))).await {
        task.abort();
        assert!(task.await.is_err_and(|error| error.is_cancelled()));
    }
    for task in start(count, burns).await {
        assert!(task.await.is_err_and(|error| error.is_panic()));
    }
    drop(start(count, || queues(Arc::clone(&seats))).await);
    // No task's.
    dyntrace::wait("closing time", yield_now()).await;
    let own = dyntrace::process::current().to_string();
    let kinds = json!({
        "Mutex::lock": {"waits": count},
        "time::sleep": {"waits": count},
        "Notify::notified": {"waits": count, "cancelled": count},
        "wait": {"waits": count + 1, "panicked": count},
        "Semaphore::acquire": {"waiting": count},
    });
    let functions = json!({
        "known_waits::locks": {"waits": count},
        "known_waits::naps": {"waits": count},
        "known_waits::rings": {"waits": count},
        "known_waits::burns": {"waits": count},
        own: {"waits": 1},
    });
    [kinds, functions]
}

fn reads() {}

fn fails() {
    panic!("no flour");
}

fn given_up() {}

/// Keeps its thread until the program ends.
fn stays(runs: oneshot::Sender<()>) {
    runs.send(()).expect("the program waits");
    loop {
        thread::park();
    }
}

/// Returns how the jobs of each function ended.
async fn jobs(count: u64) -> Map<String, Value> {
    let (runs, begins) = oneshot::channel();
    let (end, ends) = mpsc::channel::<()>();
    let holds = dyntrace::spawn_blocking(move || {
        runs.send(()).expect("the program waits");
        ends.recv().expect("the program ends it");
    })
    .into_inner();
    begins.await.expect("the job runs");
    let (mut read, mut failed, mut cancelled) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1..=count {
        let _entered = dyntrace::enter_tag(format!("request {}", 1 + number % 2));
        read.push(dyntrace::spawn_blocking(reads).into_inner());
    }
    for _ in 0..count {
        failed.push(dyntrace::spawn_blocking(fails).into_inner());
    }
    for _ in 0..count {
        let job = dyntrace::spawn_blocking(given_up).into_inner();
        job.abort();
        cancelled.push(job);
    }
    end.send(()).expect("the job waits");
    holds.await.expect("it ends");
    for job in read {
        job.await.expect("it ends");
    }
    for job in failed {
        assert!(job.await.is_err_and(|error| error.is_panic()));
    }
    for job in cancelled {
        assert!(job.await.is_err_and(|error| error.is_cancelled()));
    }
    let (runs, begins) = oneshot::channel();
    drop(dyntrace::spawn_blocking(|| stays(runs)));
    begins.await.expect("the job runs");
    for _ in 0..count {
        drop(dyntrace::spawn_blocking(|| ()));
    }
    let functions = json!({
        "known_waits::jobs::{{closure}}": {"jobs": 1, "running": 1, "queued": count, "length": count},
        "known_waits::reads": {"jobs": count, "length": count},
        "known_waits::fails": {"jobs": count, "panicked": count, "length": 2 * count},
        "known_waits::given_up": {"cancelled": count, "length": 3 * count},
    });
    functions.as_object().expect("an object").clone()
}

fn main() {
    let count: u64 = std::env::args().nth(1).map_or(3, |count| count.parse().expect("a count of jobs"));
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = Builder::new_current_thread().enable_all().max_blocking_threads(1).build().expect("a runtime");
    let [kinds, waiters] = runtime.block_on(waits(count));
    let functions = runtime.block_on(jobs(count));
    println!("{}", json!({"waits": kinds, "waiters": waiters, "jobs": functions}));
    // Its end would wait for the job that stays.
    mem::forget(runtime);
}
