//! A program whose tasks hold locks of dyntrace, and wait for them, for its file operations and for each other, for the tests of this
//! crate.
//!
//! Its argument is an empty folder. Prints `task NAME HEADER` lines, then `ready`; ends when its standard input does.

use std::future::{pending, poll_fn};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::process::Command;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use dyntrace::aio_pool::{Fault, Job, Pool, Port};
use dyntrace::efile::Driver;
use dyntrace::fs::OpenOptions;
use dyntrace::mailbox::{self, Mailbox};
use dyntrace::sync::{Holder, MappedMutexGuard, Mutex, MutexGuard, OwnedMutexGuard, OwnedRwLockReadGuard};
use dyntrace::sync::{OwnedRwLockWriteGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Semaphore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;

/// More than a pipe takes.
const MUCH: usize = 1 << 20;

/// Prints the header's address of the task that calls it: a task's waker has it. A process has another waker if there is a table of tasks.
async fn here(name: &str) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
}

async fn holds<G>(name: &'static str, guard: G) {
    here(name).await;
    pending::<()>().await;
    drop(guard);
}

async fn waits<G>(name: String, lock: impl Future<Output = G>) {
    here(&name).await;
    lock.await;
}

/// Starts a task that holds a guard, and one that waits for the lock. Prints the line that took the lock.
fn pair<G, W>(name: &'static str, holder: Option<Holder>, guard: G, lock: impl Future<Output = W> + Send + 'static)
where
    G: Send + 'static,
    W: 'static,
{
    if let Some(holder) = holder {
        println!("takes {name} {}", holder.place.line());
    }
    dyntrace::spawn(holds(name, guard));
    dyntrace::spawn(waits(format!("for_{name}"), lock));
}

fn mutex() -> &'static Arc<Mutex<(u32, u32)>> {
    Box::leak(Box::new(Arc::new(Mutex::new((1, 2)))))
}

fn rwlock() -> &'static Arc<RwLock<(u32, u32)>> {
    Box::leak(Box::new(Arc::new(RwLock::new((1, 2)))))
}

async fn mutexes() {
    let till: &'static Mutex<u32> = Box::leak(Box::new(Mutex::named("till", 1)));
    let guard: MutexGuard<'_, u32> = till.lock().await;
    pair("MutexGuard", till.holder(), guard, till.lock());

    let lock = mutex();
    let guard: OwnedMutexGuard<_> = lock.clone().lock_owned().await;
    pair("OwnedMutexGuard", lock.holder(), guard, lock.lock());

    let lock = mutex();
    let part: MappedMutexGuard<'_, u32> = MutexGuard::map(lock.lock().await, |both| &mut both.1);
    pair("MappedMutexGuard", lock.holder(), part, lock.lock());

    let lock = mutex();
    let part = OwnedMutexGuard::map(lock.clone().lock_owned().await, |both| &mut both.1);
    pair("OwnedMappedMutexGuard", lock.holder(), part, lock.clone().lock_owned());
}

async fn rwlocks() {
    let lock = rwlock();
    // A writer before the reader has left its place.
    drop(lock.write().await);
    let guard: RwLockReadGuard<'_, _> = lock.read().await;
    pair("RwLockReadGuard", None, guard, lock.write());

    let lock = rwlock();
    let guard: OwnedRwLockReadGuard<_> = lock.clone().read_owned().await;
    pair("OwnedRwLockReadGuard", None, guard, lock.clone().write_owned());

    let lock = rwlock();
    let guard: RwLockWriteGuard<'_, _> = lock.write().await;
    pair("RwLockWriteGuard", lock.holder(), guard, lock.read());

    let lock = rwlock();
    let guard: OwnedRwLockWriteGuard<_> = lock.clone().write_owned().await;
    pair("OwnedRwLockWriteGuard", lock.holder(), guard, lock.clone().read_owned());

    let lock = rwlock();
    let part = RwLockWriteGuard::map(lock.write().await, |both| &mut both.1);
    pair("RwLockMappedWriteGuard", lock.holder(), part, lock.write());

    let lock = rwlock();
    let part = OwnedRwLockWriteGuard::map(lock.clone().write_owned().await, |both| &mut both.1);
    pair("OwnedRwLockMappedWriteGuard", lock.holder(), part, lock.write());
}

async fn semaphores() {
    let semaphore: &'static Arc<Semaphore> = Box::leak(Box::new(Arc::new(Semaphore::new(3))));
    // Both before a task waits, which takes the permits that are left.
    let permit = semaphore.acquire().await;
    let owned = semaphore.clone().acquire_owned().await;
    pair("SemaphorePermit", None, permit, semaphore.acquire_many(3));
    pair("OwnedSemaphorePermit", None, owned, semaphore.clone().acquire_many_owned(3));
}

fn pipe(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    assert!(Command::new("mkfifo").arg(&path).status().expect("mkfifo runs").success());
    path
}

async fn opens(path: PathBuf) {
    here("opens").await;
    let _ = dyntrace::fs::File::open(path).await;
}

async fn reads_whole(path: PathBuf) {
    here("reads_whole").await;
    let _ = dyntrace::fs::read(path).await;
}

async fn reads(path: PathBuf) {
    let mut both_ends = OpenOptions::new().read(true).write(true).open(path).await.expect("a pipe");
    here("reads").await;
    let _ = both_ends.read_u8().await;
}

async fn writes(path: PathBuf) {
    let mut both_ends = OpenOptions::new().read(true).write(true).open(path).await.expect("a pipe");
    here("writes").await;
    let _ = both_ends.write_all(&vec![0; MUCH]).await;
    let _ = both_ends.flush().await;
}

async fn queued(driver: Driver, path: PathBuf) {
    here("queued").await;
    let _ = OpenOptions::new().read(true).open_with(&driver, path).await;
}

async fn syncs(driver: Driver, path: PathBuf) {
    let file = OpenOptions::new().write(true).create(true).open_with(&driver, path).await.expect("a file");
    here("syncs").await;
    let _ = file.sync_data().await;
}

/// A job of another driver.
struct Sleeps;

impl Job for Sleeps {
    type Output = ();

    fn run(&mut self) {
        loop {
            std::thread::park();
        }
    }

    fn settle(&mut self, _: Result<&(), &Fault>) {}
}

async fn computes() {
    here("computes").await;
    let _ = Pool::builder().build().submit(Port::new(), Sleeps).await;
}

async fn operations(folder: &Path) {
    dyntrace::spawn(dyntrace::with_tag("order-7", opens(pipe(folder, "opened"))));
    dyntrace::spawn(reads_whole(pipe(folder, "whole")));
    dyntrace::spawn(reads(pipe(folder, "read")));
    dyntrace::spawn(writes(pipe(folder, "written")));
    dyntrace::spawn(computes());
    // A pool without threads: jobs are queued until this program runs them.
    let pool = Pool::builder().threads(0).build();
    let driver = Driver::new(pool.clone());
    dyntrace::spawn(syncs(driver.clone(), folder.join("synced")));
    while !pool.run_one() {
        tokio::task::yield_now().await;
    }
    dyntrace::spawn(queued(driver, folder.join("queued")));
}

async fn joined() {
    here("joined").await;
    pending().await
}

async fn joins() {
    here("joins").await;
    let _ = dyntrace::spawn(joined()).await;
}

async fn receives(mut mailbox: Mailbox<u32>) {
    here("receives").await;
    let _ = mailbox.recv_matching(|_| false).await;
}

async fn sends() {
    let (address, _mailbox) = mailbox::channel(1);
    here("sends").await;
    for number in 0.. {
        let _ = address.send(number).await;
    }
}

fn processes() {
    dyntrace::spawn(joins());
    dyntrace::spawn(sends());
    let (address, _) = mailbox::spawn(receives);
    std::mem::forget(address);
}

/// Waits for two channels, and does not say so.
struct ByHand {
    first: mpsc::Receiver<u32>,
    second: mpsc::UnboundedReceiver<u32>,
}

impl Future for ByHand {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if self.first.poll_recv(context).is_ready() || self.second.poll_recv(context).is_ready() {
            return Poll::Ready(());
        }
        Poll::Pending
    }
}

/// A future around a process that waits in this way.
struct Around(dyntrace::process::Child<ByHand>);

impl Future for Around {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        // Movable: so are the receivers.
        Pin::new(&mut self.0).poll(context)
    }
}

fn by_hand() -> ByHand {
    let ((sender, first), (unbounded, second)) = (mpsc::channel(1), mpsc::unbounded_channel());
    std::mem::forget((sender, unbounded));
    ByHand { first, second }
}

/// Tasks of tokio's that poll a process: here the waker is the runtime's.
fn parts() {
    tokio::spawn(async {
        here("by_hand").await;
        dyntrace::process::child(by_hand()).await;
    });
    tokio::spawn(async {
        here("around").await;
        Around(dyntrace::process::child(by_hand())).await;
    });
}

async fn program() {
    let folder = std::env::args().nth(1).expect("a folder");
    mutexes().await;
    rwlocks().await;
    semaphores().await;
    operations(Path::new(&folder)).await;
    processes();
    parts();
    // Each task has printed its name before it waits; then it waits at once.
    tokio::time::sleep(Duration::from_millis(500)).await;
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(program());
    std::process::exit(0);
}
