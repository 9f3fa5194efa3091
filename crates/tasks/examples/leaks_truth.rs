//! Tasks that nothing can wake any more, and lookalikes that something can, for the tests of this crate.
//!
//! Prints `task NAME HEADER` lines, names of leaked ones with `leaked_`, then `ready`; ends when its standard input does. With `moving`, a
//! thread moves the sender of a living task around all the time.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::fmt::Debug;
use std::future::{Future, pending, poll_fn};
use std::hint::black_box;
use std::io::Read;
use std::mem::forget;
use std::os::fd::AsRawFd;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::task::{Poll, Waker};
use std::time::Duration;

use futures::FutureExt;
use futures::stream::{FuturesUnordered, StreamExt};
use tokio::io::AsyncReadExt;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{Barrier, Notify, OnceCell, RwLock, Semaphore, broadcast, mpsc, oneshot, watch};
use tokio::task::{AbortHandle, JoinHandle, JoinSet, LocalSet};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Prints the header's address of the task that calls it: a task's waker has it.
async fn here(name: &str) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
}

const LONG: Duration = Duration::from_secs(3600);

fn spawn<T: Send + 'static>(name: &'static str, future: impl Future<Output = T> + Send + 'static) -> JoinHandle<()> {
    overwrite();
    tokio::spawn(async move {
        here(name).await;
        future.await;
    })
}

/// Waits for its own waker, which it puts into `slot`.
async fn parked(slot: Arc<Mutex<Option<Waker>>>) {
    poll_fn(|context| {
        *slot.lock().unwrap() = Some(context.waker().clone());
        Poll::<()>::Pending
    })
    .await;
}

fn oneshot() -> (oneshot::Sender<u32>, oneshot::Receiver<u32>) {
    overwrite();
    oneshot::channel()
}

/// A cycle of references that nothing else has.
struct Node<T>(#[allow(dead_code)] T, Mutex<Option<Arc<Node<T>>>>);

fn cycle<T>(value: T) {
    overwrite();
    let node = Arc::new(Node(value, Mutex::new(None)));
    *node.1.lock().unwrap() = Some(node.clone());
}

#[inline(never)]
fn leak_channels() {
    let (sender, receiver) = oneshot();
    forget(sender);
    spawn("leaked_oneshot_forgotten", receiver);
    let (sender, receiver) = oneshot();
    forget(Arc::new(sender));
    spawn("leaked_oneshot_in_leaked_arc", receiver);
    let (sender, receiver) = oneshot();
    cycle(sender);
    spawn("leaked_oneshot_in_cycle", receiver);
    let (sender, receiver) = oneshot();
    Box::leak(Box::new(HashMap::from([(7, sender)])));
    spawn("leaked_oneshot_in_leaked_map", receiver);
    let (sender, receiver) = oneshot();
    spawn("leaked_oneshot_own_sender", async move {
        let _ = receiver.await;
        drop(sender);
    });
    let (sender, receiver) = oneshot();
    std::thread::spawn(move || forget(Box::new(sender))).join().unwrap();
    spawn("leaked_oneshot_of_ended_thread", receiver);

    let [(to_one, one), (to_other, other)] = [oneshot(), oneshot()];
    let each = |sender: oneshot::Sender<u32>, receiver: oneshot::Receiver<u32>| async move {
        let number = receiver.await.unwrap();
        sender.send(number).unwrap();
    };
    spawn("leaked_pair_one", each(to_other, one));
    spawn("leaked_pair_other", each(to_one, other));

    overwrite();
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    forget(sender);
    spawn("leaked_mpsc_forgotten", async move { receiver.recv().await });
    overwrite();
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    spawn("leaked_mpsc_own_sender", async move {
        while let Some(number) = receiver.recv().await {
            sender.send(number).await.unwrap();
        }
    });
    overwrite();
    let (sender, mut receiver) = mpsc::unbounded_channel::<u32>();
    spawn("leaked_unbounded_own_sender", async move {
        while let Some(number) = receiver.recv().await {
            sender.send(number).unwrap();
        }
    });
    overwrite();
    let (sender, receiver) = mpsc::channel::<u32>(1);
    forget(receiver);
    spawn("leaked_mpsc_full", async move { while sender.send(1).await.is_ok() {} });
    overwrite();
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    spawn("leaked_mpsc_own_receiver", async move {
        while sender.send(1).await.is_ok() {}
        receiver.recv().await;
    });
    overwrite();
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    forget(sender);
    spawn("leaked_closed_over_receiver", poll_fn(move |context| receiver.poll_recv(context)));
    // The answer stays in the queue of a channel that nobody reads.
    overwrite();
    let (requests, queue) = mpsc::unbounded_channel();
    let (sender, receiver) = oneshot();
    requests.send(sender).unwrap();
    forget((requests, queue));
    spawn("leaked_request_in_queue", receiver);

    overwrite();
    let (sender, mut receiver) = watch::channel(1);
    forget(sender);
    spawn("leaked_watch_forgotten", async move {
        receiver.borrow_and_update();
        let _ = receiver.changed().await;
    });
    overwrite();
    let (sender, mut receiver) = watch::channel(1);
    spawn("leaked_watch_own_sender", async move {
        let _ = receiver.changed().await;
        sender.send(2).unwrap();
    });
    overwrite();
    let (sender, receiver) = watch::channel(1);
    forget(receiver);
    spawn("leaked_watch_closed", async move { sender.closed().await });
    overwrite();
    let (sender, mut receiver) = broadcast::channel::<u32>(4);
    forget(sender);
    spawn("leaked_broadcast_forgotten", async move { receiver.recv().await });
    overwrite();
    let (sender, mut receiver) = broadcast::channel::<u32>(4);
    spawn("leaked_broadcast_own_sender", async move {
        let _ = receiver.recv().await;
        drop(sender);
    });
    overwrite();
    let (sender, mut receiver) = futures::channel::mpsc::unbounded::<u32>();
    forget(sender);
    spawn("leaked_futures_mpsc", async move { receiver.next().await });
    overwrite();
    let (sender, receiver) = futures::channel::oneshot::channel::<u32>();
    forget(sender);
    spawn("leaked_futures_oneshot", receiver);
    overwrite();
    let (sender, receiver) = flume::unbounded::<u32>();
    spawn("leaked_flume_own_sender", async move {
        let _ = receiver.recv_async().await;
        drop(sender);
    });
    overwrite();
    let (sender, receiver) = async_channel::bounded::<u32>(1);
    spawn("leaked_async_channel_own_sender", async move {
        let _ = receiver.recv().await;
        drop(sender);
    });
    overwrite();
    let (other, mut own) = tokio::io::duplex(16);
    forget(other);
    spawn("leaked_duplex_forgotten", async move { own.read_u8().await });
    overwrite();
    let (other, mut own) = tokio::io::duplex(16);
    spawn("leaked_duplex_own", async move {
        let _ = own.read_u8().await;
        drop(other);
    });
}

#[inline(never)]
fn leak_locks() {
    overwrite();
    let notify = Arc::new(Notify::new());
    spawn("leaked_notify_own", async move { notify.notified().await });
    let notify: &'static Notify = Box::leak(Box::default());
    spawn("leaked_notify_static", notify.notified());
    overwrite();
    let semaphore = Arc::new(Semaphore::new(0));
    spawn("leaked_semaphore_own", async move { drop(semaphore.acquire().await) });
    overwrite();
    let semaphore = Arc::new(Semaphore::new(1));
    forget(semaphore.clone().try_acquire_owned().unwrap());
    spawn("leaked_permit_forgotten", semaphore.acquire_owned());
    overwrite();
    let lock = Arc::new(tokio::sync::Mutex::new(1));
    forget(lock.clone().try_lock_owned().unwrap());
    spawn("leaked_guard_forgotten", lock.lock_owned());
    overwrite();
    let lock = Arc::new(tokio::sync::Mutex::new(1));
    spawn("leaked_locks_twice", async move {
        let first = lock.lock().await;
        *lock.lock().await += *first;
    });
    overwrite();
    let lock = Arc::new(RwLock::new(1));
    forget(lock.clone().try_write_owned().unwrap());
    spawn("leaked_writer_forgotten", lock.read_owned());
    overwrite();
    let [one, other] = [1, 2].map(|number| Arc::new(tokio::sync::Mutex::new(number)));
    for (name, first, second) in [("leaked_deadlock_one", &one, &other), ("leaked_deadlock_other", &other, &one)] {
        let (first, second) = (first.clone(), second.clone());
        spawn(name, async move {
            let number = first.lock().await;
            sleep(Duration::from_millis(30)).await;
            *second.lock().await += *number;
        });
    }
    overwrite();
    let barrier = Arc::new(Barrier::new(2));
    spawn("leaked_barrier", async move { barrier.wait().await.is_leader() });
    overwrite();
    let cell = Arc::new(OnceCell::new());
    for name in ["leaked_cell_first", "leaked_cell_second"] {
        let cell = cell.clone();
        spawn(name, async move { *cell.get_or_init(pending::<u32>).await });
    }
    overwrite();
    let token = CancellationToken::new();
    spawn("leaked_token_own", async move { token.cancelled().await });
    overwrite();
    let token = CancellationToken::new();
    spawn("leaked_token_of_parent", token.child_token().cancelled_owned());
    forget(token);
    spawn("leaked_waker_own", parked(Arc::default()));
    overwrite();
    let slot = Arc::default();
    forget(Arc::clone(&slot));
    spawn("leaked_waker_in_leaked_arc", parked(slot));
}

#[inline(never)]
fn leak_futures() {
    spawn("leaked_pending", pending::<()>());
    spawn("leaked_boxed", Box::pin(async { pending::<()>().await }) as Boxed);
    spawn("leaked_select", async {
        let (sender, receiver) = oneshot();
        let (other, mut messages) = mpsc::channel::<u32>(1);
        forget((sender, other));
        tokio::select! {
            _ = receiver => {}
            _ = messages.recv() => {}
            () = pending() => {}
        }
    });
    spawn("leaked_join", async {
        let [(one, first), (other, second)] = [oneshot(), oneshot()];
        forget((one, other));
        let _ = tokio::join!(first, second);
    });
    spawn("leaked_unordered", async {
        let mut all = FuturesUnordered::new();
        for _ in 0..3 {
            let (sender, receiver) = oneshot();
            forget(sender);
            all.push(receiver);
        }
        let _ = all.next().await;
    });
    let (sender, receiver) = oneshot();
    forget(sender);
    let shared = receiver.shared();
    spawn("leaked_shared_one", shared.clone());
    spawn("leaked_shared_other", shared);
    let child = spawn("leaked_child", pending::<()>());
    spawn("leaked_awaits_child", child);
    forget(spawn("leaked_handle_forgotten", pending::<()>()));
    forget(spawn("leaked_abort_handle_forgotten", pending::<()>()).abort_handle());
    spawn("leaked_set", async {
        let mut set = JoinSet::new();
        set.spawn(async {
            here("leaked_of_set").await;
            pending::<()>().await;
        });
        set.join_next().await;
    });
    overwrite();
    let [(to_one, one), (to_other, other)] = [1, 2].map(|_| oneshot::channel::<JoinHandle<()>>());
    let awaits = |handle: oneshot::Receiver<JoinHandle<()>>| async move { handle.await.unwrap().await };
    let first = spawn("leaked_handles_one", awaits(one));
    let second = spawn("leaked_handles_other", awaits(other));
    to_one.send(second).unwrap();
    to_other.send(first).unwrap();
}

static SENDERS: Mutex<Vec<oneshot::Sender<u32>>> = Mutex::new(Vec::new());
static LARGE: Mutex<Vec<Option<oneshot::Sender<u32>>>> = Mutex::new(Vec::new());
static HANDLES: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());
static ABORTS: Mutex<Vec<AbortHandle>> = Mutex::new(Vec::new());
static OTHERS: Mutex<Vec<Box<dyn Debug + Send>>> = Mutex::new(Vec::new());
static NOTIFY: Notify = Notify::const_new();
static WEAK: OnceLock<Weak<Notify>> = OnceLock::new();
static ADDRESSES: [AtomicUsize; 2] = [const { AtomicUsize::new(0) }; 2];

thread_local! {
    static OF_THREAD: RefCell<Option<oneshot::Sender<u32>>> = const { RefCell::new(None) };
}

#[inline(never)]
fn live_by_memory() {
    let sender = |name: &'static str| {
        let (sender, receiver) = oneshot();
        spawn(name, receiver);
        sender
    };
    SENDERS.lock().unwrap().push(sender("static"));
    LARGE.lock().unwrap().resize_with(100_000, || None);
    LARGE.lock().unwrap()[70_000] = Some(sender("large"));
    OF_THREAD.set(Some(sender("thread_local")));
    let on_stack = sender("stack");
    std::thread::spawn(move || {
        std::thread::park();
        drop(on_stack);
    });
    let of_other = sender("thread_local_of_other");
    std::thread::spawn(move || {
        OF_THREAD.set(Some(of_other));
        loop {
            std::thread::park();
        }
    });
    let in_job = sender("job");
    tokio::task::spawn_blocking(move || {
        std::thread::sleep(LONG);
        drop(in_job);
    });
    for (place, tag) in [0, 1].into_iter().enumerate() {
        let name = ["as_number", "tagged"][place];
        ADDRESSES[place].store(Box::into_raw(Box::new(sender(name))) as usize | tag, Relaxed);
    }
    let mut mapped = memmap2::MmapMut::map_anon(8192).unwrap();
    mapped[4096..4104].copy_from_slice(&(Box::into_raw(Box::new(sender("mapped"))) as usize).to_ne_bytes());
    forget(mapped);
    // Only the kernel has the address.
    let (one, other) = std::os::unix::net::UnixStream::pair().unwrap();
    let data = Box::into_raw(Box::new(sender("epoll"))) as u64;
    let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: data };
    // SAFETY: the kernel reads the event from a local variable.
    let added = unsafe {
        let epoll = libc::epoll_create1(libc::EPOLL_CLOEXEC);
        libc::epoll_ctl(epoll, libc::EPOLL_CTL_ADD, one.as_raw_fd(), &raw mut event)
    };
    assert_eq!(added, 0);
    forget((one, other));
    HANDLES.lock().unwrap().push(spawn("handle", pending::<()>()));
    ABORTS.lock().unwrap().push(spawn("abort_handle", pending::<()>()).abort_handle());
    spawn("notify", NOTIFY.notified());
    overwrite();
    let notify = Arc::new(Notify::new());
    WEAK.get_or_init(|| Arc::downgrade(&notify));
    spawn("weak", async move { notify.notified().await });
    overwrite();
    let semaphore = Arc::new(Semaphore::new(0));
    OTHERS.lock().unwrap().push(Box::new(semaphore.clone()));
    spawn("semaphore", semaphore.acquire_owned());
    overwrite();
    let (sender, mut receiver) = mpsc::channel::<u32>(1);
    OTHERS.lock().unwrap().push(Box::new(sender.downgrade()));
    spawn("mpsc_weak_and_own", async move {
        let _ = receiver.recv().await;
        drop(sender);
    });
    overwrite();
    let (sender, mut receiver) = watch::channel(1);
    OTHERS.lock().unwrap().push(Box::new(sender));
    spawn("watch", async move { receiver.changed().await });
    overwrite();
    let (sender, mut receiver) = broadcast::channel::<u32>(1);
    OTHERS.lock().unwrap().push(Box::new(sender));
    spawn("broadcast", async move { receiver.recv().await });
    overwrite();
    let slot: Arc<Mutex<Option<Waker>>> = Arc::default();
    OTHERS.lock().unwrap().push(Box::new(slot.clone()));
    spawn("waker", parked(slot));
    overwrite();
    let token = CancellationToken::new();
    spawn("token", token.child_token().cancelled_owned());
    OTHERS.lock().unwrap().push(Box::new(token));
}

#[inline(never)]
fn live_by_tasks() {
    spawn("sleeps", sleep(LONG));
    spawn("times_out", tokio::time::timeout(LONG, pending::<()>()));
    spawn("ticks", async {
        let mut interval = tokio::time::interval(Duration::from_millis(5));
        loop {
            interval.tick().await;
        }
    });
    let (sender, receiver) = oneshot();
    spawn("answers", async move {
        let kept = HashMap::from([(7, Box::new(sender))]);
        sleep(LONG).await;
        drop(kept);
    });
    spawn("awaits_answer", receiver);
    let other = spawn("joined", sleep(LONG));
    spawn("joins", other);
    overwrite();
    let lock = Arc::new(tokio::sync::Mutex::new(1));
    let held = lock.clone().try_lock_owned().unwrap();
    spawn("holds", async move {
        sleep(LONG).await;
        drop(held);
    });
    spawn("locks", lock.lock_owned());
    spawn("set", async {
        let mut set = JoinSet::new();
        set.spawn(async {
            here("of_set").await;
            sleep(LONG).await;
        });
        set.join_next().await;
    });
    spawn("receives", async {
        let socket = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let _ = socket.recv(&mut [0; 16]).await;
    });
    spawn("accepts", async {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let _ = listener.accept().await;
    });
    spawn("reads", async {
        let (mut one, other) = tokio::net::UnixStream::pair().unwrap();
        let _ = one.read_u8().await;
        drop(other);
    });
    spawn("signalled", async {
        let mut signal = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::user_defined2()).unwrap();
        signal.recv().await;
    });
    // A message goes round and round, with the sender.
    let (sender, receiver) = oneshot();
    spawn("awaits_message", receiver);
    overwrite();
    let (to_first, first) = mpsc::channel(1);
    overwrite();
    let (to_second, second) = mpsc::channel(1);
    to_first.try_send(Box::new(sender)).unwrap();
    for (name, mut from, to) in [("carries_there", first, to_second), ("carries_back", second, to_first)] {
        spawn(name, async move {
            while let Some(message) = from.recv().await {
                tokio::task::yield_now().await;
                to.send(message).await.unwrap();
                sleep(Duration::from_millis(1)).await;
            }
        });
    }
}

/// Moves the sender of a task through three places, all the time.
fn move_around() {
    let (sender, receiver) = oneshot();
    spawn("moved", receiver);
    std::thread::spawn(move || {
        let (mut one, mut other) = (VecDeque::from([Box::new(sender)]), Vec::new());
        loop {
            other.push(black_box(one.pop_front().unwrap()));
            black_box(&mut other);
            one.push_back(black_box(other.pop().unwrap()));
            black_box(&mut one);
        }
    });
}

/// Writes over what earlier calls have left below.
#[inline(never)]
fn overwrite() {
    black_box([0_u64; 8192]);
}

/// Many tasks take turns, so that queues and stacks of the workers have other addresses.
fn busy(handle: &Handle) {
    let tasks: Vec<_> = (0..1200).map(|_| handle.spawn(async { tokio::task::yield_now().await })).collect();
    handle.block_on(async {
        for task in tasks {
            task.await.unwrap();
        }
    });
}

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let entered = runtime.enter();
    leak_channels();
    leak_locks();
    leak_futures();
    live_by_memory();
    live_by_tasks();
    if std::env::args().any(|argument| argument == "moving") {
        move_around();
    }
    drop(entered);
    let (to_other, from_main) = std::sync::mpsc::channel();
    let handle = runtime.handle().clone();
    let (sender, receiver) = oneshot();
    handle.spawn(async move {
        here("other_runtime").await;
        let _ = receiver.await;
    });
    std::thread::spawn(move || {
        let local = LocalSet::new();
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        local.spawn_local(async {
            here("leaked_local").await;
            pending::<()>().await;
        });
        local.spawn_local(async {
            here("local_sleeps").await;
            sleep(LONG).await;
        });
        runtime.spawn(async {
            let (sender, receiver) = oneshot();
            forget(sender);
            here("leaked_of_one_thread").await;
            let _ = receiver.await;
        });
        runtime.block_on(local.run_until(async move {
            sleep(Duration::from_millis(50)).await;
            for _ in 0..200 {
                tokio::spawn(tokio::task::yield_now()).await.unwrap();
            }
            to_other.send(()).unwrap();
            sleep(LONG).await;
            drop(sender);
        }));
    });
    from_main.recv().unwrap();
    for _ in 0..4 {
        busy(&handle);
        overwrite();
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("ready");
    let _ = std::io::stdin().read(&mut [0]);
    // A compiler removes what nothing reads.
    black_box((&ADDRESSES, &WEAK, &SENDERS, &LARGE, &HANDLES, &ABORTS, &OTHERS));
    std::process::exit(0);
}
