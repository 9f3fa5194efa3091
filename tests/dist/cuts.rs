//! Cuts the connection at each byte of the handshake, in both directions, between two of our nodes and to an Erlang node. Each
//! attempt ends with a result, and the next one succeeds.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use dyntrace::dist::{Node, Options, term};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::erl::{COOKIE, World, connected};
use crate::world;

/// An epmd that returns the port of a proxy, and a proxy that cuts after a number of bytes in one direction, or keeps silent.
pub struct Between {
    pub epmd: u16,
    /// Forwards nothing more on its connections, without closing them.
    pub silent: Arc<AtomicBool>,
    /// Number of bytes from, and to, the dialling node before the cut.
    limits: Arc<[AtomicUsize; 2]>,
}

pub async fn between(peer_port: u16) -> Between {
    let epmd = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let proxy = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let limits = Arc::new([AtomicUsize::new(usize::MAX), AtomicUsize::new(usize::MAX)]);
    let silent = Arc::new(AtomicBool::new(false));
    let between = Between { epmd: epmd.local_addr().unwrap().port(), silent: silent.clone(), limits: limits.clone() };
    let port = proxy.local_addr().unwrap().port();
    tokio::spawn(async move {
        loop {
            let (mut socket, _) = epmd.accept().await.unwrap();
            tokio::spawn(async move {
                let length = socket.read_u16().await?;
                let mut request = vec![0; length.into()];
                socket.read_exact(&mut request).await?;
                if request[0] == 120 {
                    socket.write_all(&[118, 0, 0, 0, 0, 7]).await?;
                    // A node is registered while it is connected.
                    return socket.read_u8().await.map(drop);
                }
                let name = &request[1..];
                let mut answer = vec![119, 0, (port >> 8) as u8, port as u8, 77, 0, 0, 6, 0, 5, 0, name.len() as u8];
                answer.extend_from_slice(name);
                answer.extend_from_slice(&[0, 0]);
                socket.write_all(&answer).await
            });
        }
    });
    tokio::spawn(async move {
        loop {
            let (near, _) = proxy.accept().await.unwrap();
            let limits = [0, 1].map(|way| limits[way].load(Ordering::Relaxed));
            let silent = silent.clone();
            tokio::spawn(async move {
                let far = TcpStream::connect(("127.0.0.1", peer_port)).await.unwrap();
                let (near, far) = (near.into_split(), far.into_split());
                // Cuts both directions.
                tokio::select! {
                    () = carry(near.0, far.1, limits[0], &silent) => {}
                    () = carry(far.0, near.1, limits[1], &silent) => {}
                }
            });
        }
    });
    between
}

async fn carry(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    mut limit: usize,
    silent: &AtomicBool,
) {
    let mut bytes = [0; 4096];
    while limit > 0 {
        let at_most = limit.min(bytes.len());
        let Ok(read @ 1..) = from.read(&mut bytes[..at_most]).await else { return };
        if silent.load(Ordering::Relaxed) {
            std::future::pending().await
        }
        if to.write_all(&bytes[..read]).await.is_err() {
            return;
        }
        limit -= read;
    }
}

/// Cuts at each byte until an attempt succeeds, and returns the number of bytes in each direction.
async fn cut_everywhere(port: u16, peer: &str) -> [usize; 2] {
    cut_every(1, port, peer, Options::default()).await
}

/// The same with a step of several bytes.
pub async fn cut_every(step: usize, port: u16, peer: &str, options: Options) -> [usize; 2] {
    let between = between(port).await;
    // A tick follows the handshake.
    let tick_time = Duration::from_secs(2);
    let options = Options { epmd_port: between.epmd, backoff: Duration::ZERO, tick_time, ..options };
    let node = Node::start_with("dialler@127.0.0.1", COOKIE, options).unwrap();
    let attempt = async || tokio::time::timeout(Duration::from_secs(20), node.connect(peer)).await.expect("an answer");
    let mut through = [0; 2];
    for way in [0, 1] {
        loop {
            between.limits[way].store(through[way], Ordering::Relaxed);
            let cut = attempt().await;
            between.limits[way].store(usize::MAX, Ordering::Relaxed);
            if cut.is_ok() {
                break;
            }
            through[way] += step;
            assert!(through[way] < 1000 * step, "{cut:?}");
        }
        // The last connection was cut after the handshake.
        while !node.nodes().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
    attempt().await.expect("uncut it comes through");
    through
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn between_two_of_ours() {
    let world: World = world!();
    let peer = world.node("peer@127.0.0.1");
    let through = cut_everywhere(peer.address().port(), "peer@127.0.0.1").await;
    // From the dialler: a name and a response, with one byte more, so that the cut comes after the acknowledgement. To it: a status, a
    // challenge and the acknowledgement.
    assert_eq!(through, [17 + 17 + 23 + 1, 5 + 21 + 14 + 19]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn to_a_real_node() {
    let mut world: World = world!();
    world.erl("-name", "erl@127.0.0.1", &[]);
    let asker = world.node("asker@127.0.0.1");
    connected(&asker, "erl@127.0.0.1").await;
    let port = port_of(&world, "erl").await;
    let through = cut_everywhere(port, "erl@127.0.0.1").await;
    assert!(through[0] >= 57 && through[1] >= 50, "{through:?}");
    // The Erlang node survives, too.
    connected(&asker, "erl@127.0.0.1").await;
    asker.send(("driver", "erl@127.0.0.1"), term!({seen, cuts})).await.unwrap();
}

/// Asks epmd as any node does.
async fn port_of(world: &World, name: &str) -> u16 {
    let mut epmd = TcpStream::connect(("127.0.0.1", world.port)).await.unwrap();
    epmd.write_all(&[&[0, 1 + name.len() as u8, 122], name.as_bytes()].concat()).await.unwrap();
    let mut answer = [0; 4];
    epmd.read_exact(&mut answer).await.unwrap();
    u16::from_be_bytes([answer[2], answer[3]])
}
