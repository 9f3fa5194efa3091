//! Tasks that come and go as fast as they can, beside others that stay, `churn STILL`. At each line of its standard input it ends some of
//! those that stay, begins others, and prints what it knows of them: a line of JSON.
//!
//! Each task has a tag, by which a reader of the table of tasks finds it here:
//!
//! - `lane L, N`: of lane L the Nth one. A lane spawns a task, awaits it, and spawns the next one.
//! - `standing N`: it sleeps again and again, and is renewed at each line.
//! - `spinning N`: it wakes itself in each poll, without end.
//! - `still N`: it waits for ever.

use std::array;
use std::collections::VecDeque;
use std::env;
use std::future::{pending, poll_fn};
use std::io::stdin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use dyntrace::task::JoinHandle;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::yield_now;

const LANES: usize = 16;
const STANDING: usize = 100;
/// Standing tasks that end at each line.
const RENEWED: usize = 20;
const SPINNING: usize = 2;

/// The number of the last task of each lane that has ended.
type Ended = [AtomicU64; LANES];

/// Spawns a task that has its tag from the beginning.
async fn tagged<T: Send + 'static>(tag: String, future: impl Future<Output = T> + Send + 'static) -> JoinHandle<T> {
    let mut future = Some(future);
    let spawn = poll_fn(move |_| Poll::Ready(dyntrace::spawn(future.take().expect("it is polled once"))));
    dyntrace::with_tag(tag, spawn).await
}

async fn passing() {
    yield_now().await;
}

async fn lane(lane: usize, ended: Arc<Ended>) {
    for number in 1.. {
        let task = tagged(format!("lane {lane}, {number}"), passing()).await;
        task.await.expect("it does not panic");
        ended[lane].store(number, Ordering::SeqCst);
    }
}

async fn standing(polled: oneshot::Sender<()>) {
    polled.send(()).expect("the program waits for it");
    loop {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

async fn spinning() {
    loop {
        yield_now().await;
    }
}

/// Spawns a standing task, and waits until it has been polled: before that, the table does not know its id.
fn stand(runtime: &Runtime, number: u64) -> JoinHandle<()> {
    let (sender, polled) = oneshot::channel();
    let task = runtime.block_on(tagged(format!("standing {number}"), standing(sender)));
    runtime.block_on(polled).expect("it is polled");
    task
}

fn main() {
    let still: usize = env::args().nth(1).and_then(|count| count.parse().ok()).expect("churn STILL");
    let runtime =
        dyntrace::runtime::Builder::new_multi_thread().worker_threads(2).enable_time().build().expect("a runtime");
    let ended: Arc<Ended> = Arc::new(array::from_fn(|_| AtomicU64::new(0)));
    runtime.block_on(async {
        for number in 0..still {
            tagged(format!("still {number}"), pending::<()>()).await;
        }
        for number in 0..SPINNING {
            tagged(format!("spinning {number}"), spinning()).await;
        }
    });
    for number in 0..LANES {
        runtime.spawn(lane(number, Arc::clone(&ended)));
    }
    let (mut tasks, mut numbers) = (VecDeque::new(), 0..);
    for _ in stdin().lines() {
        for (_, task) in tasks.drain(..RENEWED.min(tasks.len())) {
            let task: JoinHandle<()> = task;
            task.abort();
            assert!(runtime.block_on(task).expect_err("it has no end").is_cancelled());
        }
        while tasks.len() < STANDING {
            let number = numbers.next().expect("there are enough");
            tasks.push_back((number, stand(&runtime, number)));
        }
        let ended: Vec<u64> = ended.iter().map(|ended| ended.load(Ordering::SeqCst)).collect();
        let standing: Vec<String> = tasks.iter().map(|(number, task)| format!("\"{number}\": {}", task.id())).collect();
        println!("{{\"ended\": {ended:?}, \"standing\": {{{}}}, \"spinning\": {SPINNING}}}", standing.join(", "));
    }
}
