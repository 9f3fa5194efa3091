//! Locks that futures have which their tasks do not poll, and near misses, for the tests of this crate.
//!
//! Prints `task NAME HEADER` and `range NAME FROM TO` lines, then `ready`; ends when its standard input does.

use std::future::{Future, pending, poll_fn};
use std::io::Read;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::sync::{Mutex, OwnedMutexGuard};

type Lock = Arc<Mutex<u32>>;
type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Prints the header's address of the task that calls it: a task's waker has it.
async fn here(name: &str) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
}

/// Waits long enough for the locks to be granted.
async fn long() {
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

async fn add(lock: Lock) {
    *lock.lock().await += 1;
}

/// Keeps the lock once it has it.
async fn keep(lock: Lock) {
    let guard = lock.lock().await;
    pending::<()>().await;
    drop(guard);
}

/// Polls a future once.
async fn once<F: Future<Output = ()> + Unpin>(future: &mut F) {
    poll_fn(|context| {
        let _ = Pin::new(&mut *future).poll(context);
        Poll::Ready(())
    })
    .await;
}

async fn waits(name: &str, lock: Lock) {
    here(name).await;
    *lock.lock().await += 1;
}

// Futurelocks.

async fn selects(lock: Lock) {
    here("selects").await;
    let mut slow = pin!(add(lock));
    tokio::select! {
        () = &mut slow => {}
        () = tokio::time::sleep(Duration::from_millis(20)) => long().await,
    }
}

async fn waits_for_itself(lock: Lock) {
    here("waits_for_itself").await;
    let mut slow: Boxed = Box::pin(add(lock.clone()));
    once(&mut slow).await;
    add(lock).await;
    slow.await;
}

async fn collects(lock: Lock) {
    here("collects").await;
    let mut slow = FuturesUnordered::new();
    slow.push(Box::pin(add(lock)) as Boxed);
    slow.push(Box::pin(async {}));
    while let Some(()) = slow.next().await {
        long().await;
    }
}

async fn lists(lock: Lock) {
    here("lists").await;
    let mut slow = vec![Box::pin(async {}) as Boxed, Box::pin(add(lock))];
    for future in &mut slow {
        once(future).await;
    }
    long().await;
    drop(slow);
}

async fn pins(lock: Lock) {
    here("pins").await;
    let slow = add(lock);
    tokio::pin!(slow);
    once(&mut slow).await;
    long().await;
    slow.await;
}

/// Its future has the guard itself, and waits for something else.
async fn stops_within(lock: Lock) {
    here("stops_within").await;
    let mut slow = Box::pin(keep(lock));
    tokio::select! {
        () = &mut slow => {}
        () = tokio::time::sleep(Duration::from_millis(200)) => {}
    }
    long().await;
    slow.await;
}

// Near misses.

/// Its future is queued and was granted nothing.
async fn queues(lock: Lock) {
    here("queues").await;
    let mut slow: Boxed = Box::pin(add(lock));
    once(&mut slow).await;
    long().await;
    slow.await;
}

/// Its futures are polled as soon as they are granted something.
async fn polls(lock: Lock) {
    here("polls").await;
    let mut slow: FuturesUnordered<_> = (0..40).map(|_| keep(lock.clone())).collect();
    while let Some(()) = slow.next().await {}
}

/// Drops its future before it waits for something else.
async fn leaves(lock: Lock) {
    here("leaves").await;
    tokio::select! {
        () = add(lock) => {}
        () = tokio::time::sleep(Duration::from_millis(20)) => long().await,
    }
}

/// Drops its future after it was granted the lock.
async fn drops(lock: Lock) {
    here("drops").await;
    let mut slow: Boxed = Box::pin(add(lock));
    once(&mut slow).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    drop(slow);
    long().await;
}

async fn has(lock: Lock) {
    here("has_after_drop").await;
    keep(lock).await;
}

/// Gives its future to another task, which has the lock.
async fn gives(future: Boxed) {
    here("gives").await;
    tokio::spawn(future);
    long().await;
}

async fn given(lock: Lock) {
    here("given").await;
    keep(lock).await;
}

// Guards behind pointers.

async fn guards_in_vec(guards: Vec<OwnedMutexGuard<u32>>) {
    here("guards_in_vec").await;
    long().await;
    drop(guards);
}

async fn guard_in_box(guard: Box<OwnedMutexGuard<u32>>) {
    here("guard_in_box").await;
    long().await;
    drop(guard);
}

/// Holds a new lock while a task and then a waiter queue for it, and prints the lock's range. Returns the lock, still held.
async fn held<F: Future<Output = ()> + Send + 'static>(
    name: &str,
    task: impl FnOnce(Lock) -> F,
) -> OwnedMutexGuard<u32> {
    let lock = Lock::default();
    let from = std::ptr::from_ref(&*lock) as usize;
    println!("range {name} {from} {}", from + size_of::<Mutex<u32>>());
    let guard = lock.clone().lock_owned().await;
    tokio::spawn(task(lock.clone()));
    tokio::time::sleep(Duration::from_millis(40)).await;
    let name: &'static str = format!("waits_{name}").leak();
    tokio::spawn(async move { waits(name, lock).await });
    tokio::time::sleep(Duration::from_millis(10)).await;
    guard
}

async fn program() -> OwnedMutexGuard<u32> {
    drop(held("selects", selects).await);
    drop(held("waits_for_itself", waits_for_itself).await);
    drop(held("collects", collects).await);
    drop(held("lists", lists).await);
    drop(held("pins", pins).await);
    drop(held("stops_within", stops_within).await);
    drop(held("polls", polls).await);
    let own = |lock: Lock| async {
        let owned = lock.lock_owned().await;
        guard_in_box(Box::new(owned)).await;
    };
    drop(held("guard_in_box", own).await);
    let own = |lock: Lock| async { guards_in_vec(vec![lock.lock_owned().await]).await };
    drop(held("guards_in_vec", own).await);
    drop(held("gives", |lock| gives(Box::pin(given(lock)))).await);

    // Its future was dropped, so the lock goes to the next in the queue, and then to one that keeps it.
    let guard = held("drops", drops).await;
    let lock = OwnedMutexGuard::mutex(&guard).clone();
    tokio::spawn(has(lock.clone()));
    tokio::time::sleep(Duration::from_millis(10)).await;
    drop(guard);
    tokio::time::sleep(Duration::from_millis(300)).await;
    tokio::spawn(waits("waits_after_drop", lock));
    drop(held("leaves", leaves).await);
    held("queues", queues).await
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(async {
        let _held = program().await;
        tokio::time::sleep(Duration::from_millis(300)).await;
        println!("ready");
        let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
    });
    runtime.shutdown_background();
}
