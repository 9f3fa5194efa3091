//! A program whose tasks wait in futures that are no coroutines, and by primitives of libraries, for the tests of this crate.
//!
//! Prints `task NAME HEADER` lines, `between NAME TEXT` lines with the addresses of sockets, then `ready`; ends when its standard
//! input does.

use std::future::{Future, poll_fn};
use std::io::Read;
use std::os::fd::OwnedFd;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use futures::channel::{mpsc as futures_mpsc, oneshot as futures_oneshot};
use futures::stream::FuturesUnordered;
use futures::task::AtomicWaker;
use futures::{AsyncReadExt as _, StreamExt, TryStreamExt};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::futures::Notified;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::Sleep;
use tokio_util::codec::{FramedRead, LinesCodec};
use tokio_util::io::StreamReader;
use tokio_util::sync::CancellationToken;
use tokio_util::time::DelayQueue;

/// Prints the header's address of the task that calls it: a task's waker has it.
async fn here(name: &str) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
}

/// Returns both ends of a connection, and prints the addresses of the first.
async fn connection(name: &str) -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("bind to loopback");
    let address = listener.local_addr().expect("an address");
    let near = TcpStream::connect(address).await.expect("connect to loopback");
    let (far, _) = listener.accept().await.expect("accept");
    println!("between {name} {} to {address}", near.local_addr().expect("an address"));
    (near, far)
}

/// As a protocol's connection is written by hand: it reads its socket and hears its channel, or one of them.
struct Relay {
    socket: TcpStream,
    channel: mpsc::Receiver<u32>,
    reads: bool,
    hears: bool,
}

impl Future for Relay {
    type Output = ();

    fn poll(self: Pin<&mut Relay>, context: &mut Context<'_>) -> Poll<()> {
        let relay = self.get_mut();
        let mut bytes = [0; 16];
        let read =
            relay.reads && Pin::new(&mut relay.socket).poll_read(context, &mut ReadBuf::new(&mut bytes)).is_ready();
        let heard = relay.hears && relay.channel.poll_recv(context).is_ready();
        if read || heard { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn relays(name: &str, socket: TcpStream, channel: mpsc::Receiver<u32>, reads: bool, hears: bool) {
    here(name).await;
    Relay { socket, channel, reads, hears }.await;
}

/// Wakes the task whose waker it has.
#[derive(Default)]
struct Forwarder(AtomicWaker);

impl Wake for Forwarder {
    fn wake(self: Arc<Forwarder>) {
        self.0.wake();
    }
}

/// Reads its socket with a forwarder's waker, as a WebSocket stream does. The forwarder may have no waker.
struct Forwarded {
    socket: TcpStream,
    forwarder: Arc<Forwarder>,
    forwards: bool,
}

impl Future for Forwarded {
    type Output = ();

    fn poll(self: Pin<&mut Forwarded>, context: &mut Context<'_>) -> Poll<()> {
        let forwarded = self.get_mut();
        if forwarded.forwards {
            forwarded.forwarder.0.register(context.waker());
        }
        let waker = Waker::from(forwarded.forwarder.clone());
        forwarded.socket.poll_read_ready(&mut Context::from_waker(&waker)).map(drop)
    }
}

async fn forwarded(name: &str, socket: TcpStream, forwards: bool) {
    here(name).await;
    Forwarded { socket, forwarder: Arc::default(), forwards }.await;
}

/// The other end neither reads nor writes.
async fn halves(socket: TcpStream) {
    here("halves").await;
    let (mut read, mut write) = socket.into_split();
    let bytes = [0; 65536];
    let reads = async { read.read(&mut [0; 16]).await };
    let writes = async { while write.write_all(&bytes).await.is_ok() {} };
    let _ = tokio::join!(reads, writes);
}

/// Has both halves of a socket: it reads one and waits until it can write to the other.
struct Halves(OwnedReadHalf, OwnedWriteHalf);

impl Future for Halves {
    type Output = ();

    fn poll(self: Pin<&mut Halves>, context: &mut Context<'_>) -> Poll<()> {
        let Halves(read, write) = self.get_mut();
        let read = Pin::new(read).poll_read(context, &mut ReadBuf::new(&mut [0; 16])).is_ready();
        if read || fill(write, context) { Poll::Ready(()) } else { Poll::Pending }
    }
}

/// Writes until the socket has no more room. Returns whether it failed.
fn fill(write: &mut (impl AsyncWrite + Unpin), context: &mut Context<'_>) -> bool {
    loop {
        match Pin::new(&mut *write).poll_write(context, &[0; 65536]) {
            Poll::Ready(Ok(_)) => {}
            Poll::Ready(Err(_)) => return true,
            Poll::Pending => return false,
        }
    }
}

async fn halves_by_hand(socket: TcpStream) {
    here("halves_by_hand").await;
    let (read, write) = socket.into_split();
    Halves(read, write).await;
}

/// Writes before it reads, as TLS may.
struct Tunnel(TcpStream);

impl AsyncRead for Tunnel {
    fn poll_read(
        self: Pin<&mut Tunnel>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<std::io::Result<()>> {
        let socket = &mut self.get_mut().0;
        let _failed = fill(socket, context);
        Pin::new(socket).poll_read(context, into)
    }
}

async fn reads_tunnel(socket: TcpStream) {
    here("reads_tunnel").await;
    let _ = Tunnel(socket).read(&mut [0; 16]).await;
}

/// Its socket still has the waker of the reading that it has given up.
async fn writes_after_reading(mut socket: TcpStream) {
    here("writes_after_reading").await;
    tokio::select! {
        biased;
        _ = async { socket.read(&mut [0; 16]).await } => {}
        () = std::future::ready(()) => {}
    }
    let bytes = [0; 65536];
    while socket.write_all(&bytes).await.is_ok() {}
}

/// Its answer is a future, it is none itself.
trait Serve: Send {
    #[allow(dead_code)] // debug information names it
    type Answer;
}

#[allow(dead_code)] // nothing polls it
struct Service(tokio::time::Sleep);

impl Serve for Service {
    type Answer = Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Waits for its channel. Its service and permit only lie in it.
struct Limited {
    channel: mpsc::Receiver<u32>,
    service: Box<dyn Serve<Answer = Pin<Box<dyn Future<Output = ()> + Send>>>>,
    permit: OwnedSemaphorePermit,
}

impl Future for Limited {
    type Output = ();

    fn poll(self: Pin<&mut Limited>, context: &mut Context<'_>) -> Poll<()> {
        self.get_mut().channel.poll_recv(context).map(drop)
    }
}

async fn limited(channel: mpsc::Receiver<u32>, permit: OwnedSemaphorePermit) {
    here("limited").await;
    let service = Box::new(Service(tokio::time::sleep(Duration::from_secs(1))));
    let mut limited = Limited { channel, service, permit };
    (&mut limited).await;
    println!("{:p} {:?}", limited.service, limited.permit);
}

/// Waits for its channel, and for the others that it keeps if it polls them.
struct Keeper<'a> {
    channel: mpsc::Receiver<u32>,
    answer: oneshot::Receiver<u32>,
    later: Pin<Box<Sleep>>,
    child: JoinHandle<()>,
    notified: Pin<Box<Notified<'a>>>,
    polls: bool,
}

impl Future for Keeper<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let keeper = self.get_mut();
        let mut is_ready = keeper.channel.poll_recv(context).is_ready();
        if keeper.polls {
            is_ready |= Pin::new(&mut keeper.answer).poll(context).is_ready();
            is_ready |= keeper.later.as_mut().poll(context).is_ready();
            is_ready |= Pin::new(&mut keeper.child).poll(context).is_ready();
            is_ready |= keeper.notified.as_mut().poll(context).is_ready();
        }
        if is_ready { Poll::Ready(()) } else { Poll::Pending }
    }
}

async fn keeps(name: &str, channel: mpsc::Receiver<u32>, answer: oneshot::Receiver<u32>, polls: bool) {
    here(name).await;
    let notify = Notify::new();
    let notified = Box::pin(notify.notified());
    let later = Box::pin(tokio::time::sleep(Duration::from_secs(3600)));
    let child = tokio::spawn(std::future::pending());
    Keeper { channel, answer, later, child, notified, polls }.await;
}

async fn wants_permit(semaphore: Arc<Semaphore>) {
    here("wants_permit").await;
    let _permit = semaphore.acquire().await;
}

async fn watched(sender: watch::Sender<u32>) {
    here("watched").await;
    sender.closed().await;
}

async fn asked(mut sender: oneshot::Sender<u32>) {
    here("asked").await;
    sender.closed().await;
}

type Boxed = Pin<Box<dyn Future<Output = ()> + Send>>;

async fn layer(inner: Boxed) {
    inner.await;
}

async fn hears(mut channel: mpsc::Receiver<u32>) {
    channel.recv().await;
}

/// Waits for its channel below boxed futures, as a request does below many layers of a server.
async fn layers(channel: mpsc::Receiver<u32>) {
    here("layers").await;
    let mut future: Boxed = Box::pin(hears(channel));
    for _ in 0..60 {
        future = Box::pin(layer(future));
    }
    future.await;
}

async fn relays_boxed(socket: TcpStream) {
    here("relays_boxed").await;
    let boxed: Box<dyn AsyncRead + Send + Unpin> = Box::new(socket);
    let _ = FramedRead::new(boxed, LinesCodec::new()).next().await;
}

async fn frames(socket: TcpStream) {
    here("frames").await;
    let _ = FramedRead::new(socket, LinesCodec::new()).next().await;
}

/// A collection polls each of its futures with a waker of its own.
async fn relays_many(sockets: [TcpStream; 2], channel: mpsc::Receiver<u32>) {
    here("relays_many").await;
    let (_sender, other) = mpsc::channel(1);
    let relays = sockets.into_iter().zip([channel, other]);
    let relay = |(socket, channel)| Relay { socket, channel, reads: true, hears: false };
    relays.map(relay).collect::<FuturesUnordered<_>>().next().await;
}

async fn relays_selected(socket: TcpStream, channel: mpsc::Receiver<u32>, token: CancellationToken) {
    here("relays_selected").await;
    let relay = Relay { socket, channel, reads: true, hears: false };
    tokio::select! {
        () = relay => {}
        () = token.cancelled() => {}
        () = std::future::ready(()), if false => {}
    }
}

async fn relays_joined(socket: TcpStream, channel: mpsc::Receiver<u32>) {
    here("relays_joined").await;
    let relay = Relay { socket, channel, reads: true, hears: false };
    tokio::join!(relay, std::future::ready(()));
}

async fn copies(mut from: TcpStream, mut to: TcpStream) {
    here("copies").await;
    let _ = tokio::io::copy(&mut from, &mut to).await;
}

/// The other end of `to` reads nothing.
async fn copies_much(mut to: TcpStream, from: TcpStream) {
    here("copies_much").await;
    let mut from = tokio::io::repeat(0).chain(from);
    let _ = tokio::io::copy(&mut from, &mut to).await;
}

async fn copies_both(mut near: TcpStream, mut far: TcpStream) {
    here("copies_both").await;
    let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
}

async fn writes(mut to: TcpStream) {
    here("writes").await;
    let bytes = [0; 65536];
    while to.write_all(&bytes).await.is_ok() {}
}

async fn is_writable(to: TcpStream) {
    here("is_writable").await;
    let bytes = [0; 65536];
    while to.writable().await.is_ok() {
        let _ = to.try_write(&bytes);
    }
}

#[allow(deprecated)] // older versions of tokio have no other function
async fn watches_descriptor(descriptor: OwnedFd) {
    here("watches_descriptor").await;
    let descriptor = AsyncFd::new(descriptor).expect("register a socket");
    let _ready = descriptor.readable().await;
}

async fn has_child() {
    here("has_child").await;
    // it ends with its standard input
    let mut command = tokio::process::Command::new("cat");
    let child = command.stdin(std::process::Stdio::piped()).kill_on_drop(true).spawn();
    let mut child = child.expect("start cat");
    println!("child {}", child.id().expect("a process id"));
    let input = child.stdin.take();
    let _ = child.wait().await;
    drop(input);
}

async fn cancelled(name: &str, token: CancellationToken) {
    here(name).await;
    token.cancelled().await;
}

async fn cancelled_owned(token: CancellationToken) {
    here("cancelled_owned").await;
    token.cancelled_owned().await;
}

async fn runs_until_cancelled(token: CancellationToken) {
    here("runs_until_cancelled").await;
    token.run_until_cancelled(tokio::time::sleep(Duration::from_secs(3600))).await;
}

async fn futures_receives(mut receiver: futures_mpsc::Receiver<u32>) {
    here("futures_receives").await;
    receiver.next().await;
}

async fn futures_receives_many(mut receiver: futures_mpsc::UnboundedReceiver<u32>) {
    here("futures_receives_many").await;
    receiver.next().await;
}

async fn futures_answered(receiver: futures_oneshot::Receiver<u32>) {
    here("futures_answered").await;
    let _ = receiver.await;
}

async fn futures_locks(lock: Arc<futures::lock::Mutex<u32>>) {
    here("futures_locks").await;
    *lock.lock().await += 1;
}

async fn delays() {
    here("delays").await;
    let mut queue = DelayQueue::new();
    queue.insert(1, Duration::from_secs(3600));
    queue.next().await;
}

async fn reads_stream(receiver: futures_mpsc::Receiver<Result<&'static [u8], std::io::Error>>) {
    here("reads_stream").await;
    let mut reader = pin!(StreamReader::new(receiver));
    let _ = reader.read_u8().await;
}

async fn reads_futures_stream(receiver: futures_mpsc::Receiver<Result<&'static [u8], std::io::Error>>) {
    here("reads_futures_stream").await;
    let mut reader = receiver.into_async_read();
    let _ = reader.read_exact(&mut [0; 1]).await;
}

async fn program() {
    let mut kept: Vec<Box<dyn Send>> = Vec::new();
    let mut senders = Vec::new();
    for (name, reads, hears) in [("relays", true, true), ("relay_reads", true, false), ("relay_hears", false, true)] {
        let (near, far) = connection(name).await;
        let (sender, receiver) = mpsc::channel(1);
        tokio::spawn(relays(name, near, receiver, reads, hears));
        kept.push(Box::new(far));
        senders.push(sender);
    }
    let semaphore = Arc::new(Semaphore::new(1));
    let (sender, receiver) = mpsc::channel(1);
    senders.push(sender);
    let permit = semaphore.clone().acquire_owned().await.expect("a permit");
    tokio::spawn(limited(receiver, permit));
    tokio::spawn(wants_permit(semaphore));
    let mut answers = Vec::new();
    for (name, polls) in [("keeps", false), ("keeps_and_polls", true)] {
        let ((sender, channel), (answer, answered)) = (mpsc::channel(1), oneshot::channel());
        tokio::spawn(keeps(name, channel, answered, polls));
        senders.push(sender);
        answers.push(answer);
    }
    let (sender, watching) = watch::channel(0);
    tokio::spawn(watched(sender));
    let (sender, asking) = oneshot::channel();
    tokio::spawn(asked(sender));
    let ((near, far_first), (other, far_second)) = (connection("relays_many").await, connection("relays_second").await);
    let (sender, receiver) = mpsc::channel(1);
    senders.push(sender);
    tokio::spawn(relays_many([near, other], receiver));
    for name in ["relays_selected", "relays_joined"] {
        let (near, far) = connection(name).await;
        let (sender, receiver) = mpsc::channel(1);
        match name {
            "relays_selected" => tokio::spawn(relays_selected(near, receiver, CancellationToken::new())),
            _ => tokio::spawn(relays_joined(near, receiver)),
        };
        kept.push(Box::new(far));
        senders.push(sender);
    }
    for (name, forwards) in [("forwarded", true), ("not_forwarded", false)] {
        let (near, far) = connection(name).await;
        tokio::spawn(forwarded(name, near, forwards));
        kept.push(Box::new(far));
    }
    for name in ["halves", "halves_by_hand", "reads_tunnel", "writes_after_reading"] {
        let (near, far) = connection(name).await;
        match name {
            "halves" => tokio::spawn(halves(near)),
            "halves_by_hand" => tokio::spawn(halves_by_hand(near)),
            "reads_tunnel" => tokio::spawn(reads_tunnel(near)),
            _ => tokio::spawn(writes_after_reading(near)),
        };
        kept.push(Box::new(far));
    }
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(layers(receiver));
    senders.push(sender);
    let (near, far_boxed) = connection("relays_boxed").await;
    tokio::spawn(relays_boxed(near));
    let (near, far_frames) = connection("frames").await;
    tokio::spawn(frames(near));
    let ((from, far_from), (to, far_to)) = (connection("copies").await, connection("copies_to").await);
    tokio::spawn(copies(from, to));
    let ((to, far_much), (from, far_unread)) = (connection("copies_much").await, connection("unread").await);
    tokio::spawn(copies_much(to, from));
    let ((near, far_near), (far, far_far)) = (connection("copies_both").await, connection("copies_both_far").await);
    tokio::spawn(copies_both(near, far));
    let (to, far_writes) = connection("writes").await;
    tokio::spawn(writes(to));
    let (to, far_writable) = connection("is_writable").await;
    tokio::spawn(is_writable(to));
    let (unix, far_unix) = UnixStream::pair().expect("a pair of sockets");
    tokio::spawn(watches_descriptor(unix.into_std().expect("the socket").into()));
    tokio::spawn(has_child());

    let token = CancellationToken::new();
    tokio::spawn(cancelled("cancelled", token.clone()));
    tokio::spawn(cancelled("cancelled_child", token.child_token()));
    tokio::spawn(cancelled_owned(token.clone()));
    tokio::spawn(runs_until_cancelled(token.clone()));
    let (bounded, receiver) = futures_mpsc::channel(1);
    tokio::spawn(futures_receives(receiver));
    let (unbounded, receiver) = futures_mpsc::unbounded();
    tokio::spawn(futures_receives_many(receiver));
    let (answer, receiver) = futures_oneshot::channel();
    tokio::spawn(futures_answered(receiver));
    let lock = Arc::new(futures::lock::Mutex::new(1));
    let guard = lock.lock().await;
    tokio::spawn(futures_locks(lock.clone()));
    println!("lock {} {}", &raw const *lock as usize, &raw const *lock as usize + size_of_val(&*lock));
    tokio::spawn(delays());
    let (bytes, receiver) = futures_mpsc::channel(1);
    tokio::spawn(reads_stream(receiver));
    let (more_bytes, receiver) = futures_mpsc::channel(1);
    tokio::spawn(reads_futures_stream(receiver));

    tokio::time::sleep(Duration::from_millis(500)).await;
    println!("ready");
    let _ = tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await;
    drop((kept, senders, answers, bounded, unbounded, answer, guard, token, bytes, more_bytes));
    drop((
        watching, asking, far_first, far_second, far_boxed, far_frames, far_from, far_to, far_much, far_unread,
        far_near, far_far, far_writes, far_writable, far_unix,
    ));
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(program());
    runtime.shutdown_background();
}
