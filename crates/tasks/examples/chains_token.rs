//! Two pairs of tasks hand a token over, through an inner `async fn` that lives for one turn, for the test of torn reads.

use std::future::poll_fn;
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use tokio::sync::Notify;

/// The turns of all pairs, printed at the end.
static TURNS: AtomicU64 = AtomicU64::new(0);

async fn inner(turn: u64, own: &Notify, other: &Notify) -> u64 {
    match turn % 3 {
        0 => own.notified().await, // turn 0
        1 => own.notified().await, // turn 1
        _ => own.notified().await, // turn 2
    }
    other.notify_one();
    TURNS.fetch_add(1, Ordering::Relaxed);
    turn + 1
}

async fn outer(name: &'static str, own: Arc<Notify>, other: Arc<Notify>) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
    let mut turn = 0;
    loop {
        turn = match turn % 3 {
            0 => inner(turn, &own, &other).await, // turn 0
            1 => inner(turn, &own, &other).await, // turn 1
            _ => inner(turn, &own, &other).await, // turn 2
        };
    }
}

/// The same with futures in boxes, which are outside the task's cell.
async fn outer_boxed(name: &'static str, own: Arc<Notify>, other: Arc<Notify>) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
    let mut turn = 0;
    loop {
        turn = match turn % 3 {
            0 => Box::pin(inner(turn, &own, &other)).await, // turn 0
            1 => Box::pin(inner(turn, &own, &other)).await, // turn 1
            _ => Box::pin(inner(turn, &own, &other)).await, // turn 2
        };
    }
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    let (a, b) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    a.notify_one();
    runtime.spawn(outer("a", a.clone(), b.clone()));
    runtime.spawn(outer("b", b, a));
    let (a, b) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    a.notify_one();
    runtime.spawn(outer_boxed("c", a.clone(), b.clone()));
    runtime.spawn(outer_boxed("d", b, a));
    std::thread::sleep(std::time::Duration::from_millis(100));
    println!("ready");
    let _ = std::io::stdin().read_to_end(&mut Vec::new());
    println!("turns {}", TURNS.load(Ordering::Relaxed));
    runtime.shutdown_background();
}
