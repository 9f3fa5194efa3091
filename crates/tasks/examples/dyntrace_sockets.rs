//! A program whose tasks wait for dyntrace's sockets, for the tests of this crate.
//!
//! Prints `task NAME HEADER` lines, `between NAME ADDRESSES` for sockets, then `ready`; ends when its standard input does.

use std::future::poll_fn;
use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use dyntrace::net::{TcpListener, TcpStream, UdpSocket, UnixStream};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, Interest, ReadBuf};

const ANY: (Ipv4Addr, u16) = (Ipv4Addr::LOCALHOST, 0);

/// More than a socket takes.
const MUCH: usize = 1 << 24;

/// Prints the header's address of the task that calls it: a task's waker has it.
async fn here(name: &str) {
    let header = poll_fn(|context| Poll::Ready(context.waker().data() as usize)).await;
    println!("task {name} {header}");
}

/// Two ends of a connection. Prints the addresses of the first.
async fn connected(name: &str) -> io::Result<(TcpStream, TcpStream)> {
    let listener = TcpListener::bind(ANY).await?;
    let (one, other) = tokio::join!(TcpStream::connect(listener.local_addr()?), listener.accept());
    let one = one?;
    println!("between {name} {} to {}", one.local_addr()?, one.peer_addr()?);
    Ok((one, other?.0))
}

async fn accepts() -> io::Result<()> {
    let listener = TcpListener::bind(ANY).await?;
    println!("between accepts listening on {}", listener.local_addr()?);
    here("accepts").await;
    listener.accept().await.map(drop)
}

async fn receives() -> io::Result<()> {
    let socket = UdpSocket::bind(ANY).await?;
    println!("between receives bound to {}", socket.local_addr()?);
    here("receives").await;
    socket.recv_from(&mut [0; 8]).await.map(drop)
}

async fn reads() -> io::Result<()> {
    let (mut one, _other) = connected("reads").await?;
    here("reads").await;
    one.read_u8().await.map(drop)
}

async fn peeks() -> io::Result<()> {
    let (one, _other) = connected("peeks").await?;
    here("peeks").await;
    one.peek(&mut [0; 8]).await.map(drop)
}

async fn is_readable() -> io::Result<()> {
    let (one, _other) = connected("is_readable").await?;
    here("is_readable").await;
    one.ready(Interest::READABLE).await.map(drop)
}

async fn writes() -> io::Result<()> {
    let (mut one, _other) = connected("writes").await?;
    here("writes").await;
    one.write_all(&vec![7; MUCH]).await
}

async fn halves() -> io::Result<()> {
    let (mut one, _other) = connected("halves").await?;
    let (mut reads, mut writes) = one.split();
    here("halves").await;
    let much = vec![7; MUCH];
    tokio::try_join!(reads.read_u8(), writes.write_all(&much)).map(drop)
}

async fn owned_halves() -> io::Result<()> {
    let (one, _other) = connected("owned_halves").await?;
    let (mut reads, mut writes) = one.into_split();
    here("owned_halves").await;
    let much = vec![7; MUCH];
    tokio::try_join!(reads.read_u8(), writes.write_all(&much)).map(drop)
}

async fn reads_unix() -> io::Result<()> {
    let (one, _other) = UnixStream::pair()?;
    here("reads_unix").await;
    one.into_split().0.read_u8().await.map(drop)
}

/// A future written by hand that reads, as hyper's connection.
struct ByHand(TcpStream);

impl Future for ByHand {
    type Output = io::Result<()>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, &mut ReadBuf::new(&mut [0; 8]))
    }
}

async fn by_hand() -> io::Result<()> {
    let (one, _other) = connected("by_hand").await?;
    here("by_hand").await;
    ByHand(one).await
}

async fn program() {
    tokio::spawn(accepts());
    tokio::spawn(receives());
    tokio::spawn(reads());
    tokio::spawn(peeks());
    tokio::spawn(is_readable());
    tokio::spawn(writes());
    tokio::spawn(halves());
    dyntrace::spawn(owned_halves());
    dyntrace::spawn(reads_unix());
    dyntrace::spawn(by_hand());
    // Each task has printed its name before it waits; then it waits at once.
    tokio::time::sleep(Duration::from_millis(500)).await;
    println!("ready");
    let _ = io::stdin().read(&mut [0]);
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(program());
    std::process::exit(0);
}
