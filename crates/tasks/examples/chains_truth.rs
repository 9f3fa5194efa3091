//! A program whose tasks wait for known things, for the tests of this crate.
//!
//! Prints `task NAME HEADER` and `range NAME FROM TO` lines, then `ready`; ends when its standard input does.

use std::future::{Future, poll_fn};
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::FuturesUnordered;
use tokio::io::{AsyncBufReadExt, AsyncReadExt};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::{Mutex, Notify, OwnedMutexGuard, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};

/// Prints the header's address of the task that calls it: a task's waker has it.
async fn here(name: &str) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
}

fn range<T>(name: &str, value: &T) {
    let from = std::ptr::from_ref(value) as usize;
    println!("range {name} {from} {}", from + size_of::<T>());
}

/// The tasks that were spawned; none of them ends.
static TASKS: AtomicUsize = AtomicUsize::new(0);

fn spawn<F: Future<Output = ()> + Send + 'static>(future: F) -> tokio::task::JoinHandle<()> {
    TASKS.fetch_add(1, Ordering::Relaxed);
    tokio::spawn(future)
}

async fn sleeps() {
    here("sleeps").await;
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

async fn notified(notify: Arc<Notify>) {
    here("notified").await;
    notify.notified().await;
}

async fn holds(lock: Arc<Mutex<u32>>, notify: Arc<Notify>, locked: oneshot::Sender<()>) {
    here("holds").await;
    let guard = lock.lock().await;
    let _ = locked.send(());
    notify.notified().await;
    drop(guard);
}

async fn waits(lock: Arc<Mutex<u32>>) {
    here("waits").await;
    *lock.lock().await += 1;
}

async fn locks_two(name: &str, first: Arc<Mutex<u32>>, second: Arc<Mutex<u32>>) {
    here(name).await;
    let held = first.lock().await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    let wanted = second.lock().await;
    println!("{} {}", *held, *wanted);
}

async fn holds_owned(name: &str, guard: OwnedMutexGuard<u32>, other: Arc<Mutex<u32>>) {
    here(name).await;
    let other = other.lock_owned().await;
    println!("{} {}", *guard, *other);
}

async fn selects(notify: Arc<Notify>, mut receiver: mpsc::Receiver<u32>) {
    here("selects").await;
    tokio::select! {
        () = notify.notified() => {}
        _ = receiver.recv() => {}
    }
}

async fn selects_one(notify: Arc<Notify>, mut receiver: mpsc::Receiver<u32>, both: bool) {
    here("selects_one").await;
    tokio::select! {
        _ = receiver.recv(), if both => {}
        () = notify.notified() => {}
    }
}

async fn joins_both(notify: Arc<Notify>, receiver: oneshot::Receiver<u32>) {
    here("joins_both").await;
    let _ = tokio::join!(notify.notified(), receiver);
}

fn boxed(notify: Arc<Notify>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move { notify.notified().await })
}

async fn awaits_boxed(notify: Arc<Notify>) {
    here("awaits_boxed").await;
    boxed(notify).await;
}

async fn receives(mut receiver: mpsc::UnboundedReceiver<u32>) {
    here("receives").await;
    receiver.recv().await;
}

async fn sends(sender: mpsc::Sender<u32>) {
    here("sends").await;
    for number in 0.. {
        let _ = sender.send(number).await;
    }
}

async fn joins(handle: tokio::task::JoinHandle<()>) {
    here("joins").await;
    let _ = handle.await;
}

async fn reads(mut stream: TcpStream) {
    here("reads").await;
    let mut bytes = [0; 16];
    let _ = stream.read(&mut bytes).await;
}

async fn reads_unix(stream: UnixStream) {
    here("reads_unix").await;
    let _ = stream.readable().await;
}

async fn accepts(listener: TcpListener) {
    here("accepts").await;
    let _first = listener.accept().await;
    let _second = listener.accept().await;
}

async fn times_out(notify: Arc<Notify>) {
    here("times_out").await;
    let _ = tokio::time::timeout(Duration::from_secs(3600), notify.notified()).await;
}

async fn reads_lock(lock: Arc<RwLock<u32>>, notify: Arc<Notify>, locked: oneshot::Sender<()>) {
    here("reads_lock").await;
    let guard = lock.read().await;
    let _ = locked.send(());
    notify.notified().await;
    println!("{}", *guard);
}

async fn writes_lock(lock: Arc<RwLock<u32>>) {
    here("writes_lock").await;
    *lock.write().await += 1;
}

async fn has_permits(semaphore: Arc<Semaphore>, notify: Arc<Notify>, locked: oneshot::Sender<()>) {
    here("has_permits").await;
    let permits = semaphore.acquire_many_owned(2).await;
    let _ = locked.send(());
    notify.notified().await;
    drop(permits);
}

async fn wants_permits(semaphore: Arc<Semaphore>) {
    here("wants_permits").await;
    let _permits = semaphore.acquire_many(3).await;
}

async fn ticks() {
    here("ticks").await;
    let mut interval = tokio::time::interval(Duration::from_secs(3600));
    loop {
        interval.tick().await;
    }
}

async fn hears(mut receiver: broadcast::Receiver<u32>) {
    here("hears").await;
    let _ = receiver.recv().await;
}

async fn watches(mut receiver: watch::Receiver<u32>) {
    here("watches").await;
    let _ = receiver.changed().await;
}

async fn joins_set(notify: Arc<Notify>) {
    here("joins_set").await;
    let mut set = tokio::task::JoinSet::new();
    for _ in 0..3 {
        let notify = notify.clone();
        set.spawn(async move { notify.notified().await });
        TASKS.fetch_add(1, Ordering::Relaxed);
    }
    set.join_next().await;
}

async fn joins_many(notify: Arc<Notify>) {
    here("joins_many").await;
    let mut many: FuturesUnordered<_> = (0..40).map(|_| notify.notified()).collect();
    many.next().await;
}

async fn joins_few(notify: Arc<Notify>) {
    here("joins_few").await;
    futures::future::join_all((0..3).map(|_| notify.notified())).await;
}

async fn signalled() {
    here("signalled").await;
    let kind = tokio::signal::unix::SignalKind::user_defined1();
    let mut signal = tokio::signal::unix::signal(kind).expect("a signal handler");
    signal.recv().await;
}

async fn reads_lines(stream: UnixStream) {
    here("reads_lines").await;
    let (half, _other_half) = stream.into_split();
    let mut lines = tokio::io::BufReader::new(half).lines();
    let _ = lines.next_line().await;
}

async fn selects_all(notify: Arc<Notify>) {
    here("selects_all").await;
    let futures = (0..3).map(|_| Box::pin(notify.notified()));
    futures::future::select_all(futures).await;
}

async fn streams(receiver: mpsc::Receiver<u32>) {
    here("streams").await;
    let receiver = Arc::new(Mutex::new(receiver));
    let stream = futures::stream::unfold(receiver, |receiver| async move {
        let next = receiver.lock().await.recv().await?;
        Some((next, receiver))
    });
    let mut stream = std::pin::pin!(stream.map(|number| number + 1));
    stream.next().await;
}

async fn blocks() {
    here("blocks").await;
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
}

async fn forever() {
    here("forever").await;
    std::future::pending::<()>().await;
}

async fn program() {
    let notify = Arc::new(Notify::new());
    range("notify", &*notify);
    let spawn_after = |locked: oneshot::Receiver<()>| async move { locked.await.expect("the holder runs") };
    let sleeper = spawn(sleeps());
    spawn(joins(sleeper));
    spawn(notified(notify.clone()));

    let lock = Arc::new(Mutex::new(0));
    range("lock", &*lock);
    let (locked, holder) = oneshot::channel();
    spawn(holds(lock.clone(), notify.clone(), locked));
    spawn_after(holder).await;
    spawn(waits(lock));

    let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    spawn(locks_two("locks_ab", a.clone(), b.clone()));
    spawn(locks_two("locks_ba", b, a));
    let (a, b) = (Arc::new(Mutex::new(1)), Arc::new(Mutex::new(2)));
    let (held_a, held_b) = (a.clone().lock_owned().await, b.clone().lock_owned().await);
    spawn(holds_owned("owns_a", held_a, b));
    spawn(holds_owned("owns_b", held_b, a));

    let (_sender, receiver) = mpsc::channel(1);
    spawn(selects(notify.clone(), receiver));
    let (_other_sender, receiver) = mpsc::channel(1);
    spawn(selects_one(notify.clone(), receiver, false));
    let (_answer, receiver) = oneshot::channel();
    spawn(joins_both(notify.clone(), receiver));
    spawn(awaits_boxed(notify.clone()));
    let (_unbounded, receiver) = mpsc::unbounded_channel();
    spawn(receives(receiver));
    let (sender, _full) = mpsc::channel(2);
    spawn(sends(sender));

    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind to loopback");
    let address = listener.local_addr().expect("an address");
    println!("address {address}");
    spawn(reads(TcpStream::connect(address).await.expect("connect to loopback")));
    spawn(accepts(listener));
    let (unix, _other) = UnixStream::pair().expect("a pair of sockets");
    spawn(reads_unix(unix));
    spawn(times_out(notify.clone()));

    let lock = Arc::new(RwLock::new(0));
    let (locked, holder) = oneshot::channel();
    spawn(reads_lock(lock.clone(), notify.clone(), locked));
    spawn_after(holder).await;
    spawn(writes_lock(lock));
    let semaphore = Arc::new(Semaphore::new(4));
    let (locked, holder) = oneshot::channel();
    spawn(has_permits(semaphore.clone(), notify.clone(), locked));
    spawn_after(holder).await;
    spawn(wants_permits(semaphore));

    spawn(ticks());
    let (_station, receiver) = broadcast::channel(4);
    spawn(hears(receiver));
    let (_watched, receiver) = watch::channel(0);
    spawn(watches(receiver));
    spawn(joins_set(notify.clone()));
    spawn(joins_many(notify.clone()));
    spawn(joins_few(notify.clone()));
    spawn(forever());
    spawn(signalled());
    let (unix, _other_end) = UnixStream::pair().expect("a pair of sockets");
    spawn(reads_lines(unix));
    spawn(selects_all(notify.clone()));
    let (_stream_sender, receiver) = mpsc::channel(1);
    spawn(streams(receiver));
    spawn(blocks());

    tokio::time::sleep(Duration::from_millis(300)).await;
    println!("count {}", TASKS.load(Ordering::Relaxed));
    println!("ready");
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(program());
    runtime.shutdown_background();
}
