//! Strangers that connect and stay, and a silent epmd, do not block other peers.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::pin::pin;
use std::task::{Context, Waker};
use std::time::Duration;

use dyntrace::dist::{Error, Node, Options};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

use crate::erl::{COOKIE, World, in_the_end};
use crate::hostile::{Hostile, PEER};
use crate::world;

const NEAR: &str = "near@127.0.0.1";
const FAR: &str = "far@127.0.0.1";

/// Longer than `in_the_end` waits, so that no stranger times out here.
const SETUP: Duration = Duration::from_secs(60);

async fn from(address: [u8; 4], to: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind((address, 0).into()).unwrap();
    socket.connect(to).await.unwrap()
}

#[tokio::test]
async fn a_good_peer_comes_through_among_silent_ones() {
    let world: World = world!();
    let patient = Options { setup_time: SETUP, ..world.options() };
    let far = Node::start_with(FAR, COOKIE, patient.clone()).unwrap();
    let near = Node::start_with(NEAR, COOKIE, patient).unwrap();
    let mut strangers = Vec::new();
    for _ in 0..80 {
        strangers.push(from([127, 0, 0, 1], far.address()).await);
    }
    in_the_end(near.connect(FAR)).await.unwrap();
}

#[tokio::test]
async fn repeated_connections_displace_no_peer_of_another_address() {
    let world: World = world!();
    let far = Node::start_with(FAR, COOKIE, Options { setup_time: SETUP, ..world.options() }).unwrap();
    let mut name = vec![0, 29, b'N'];
    name.extend_from_slice(&(!(1u64 << 33)).to_be_bytes());
    name.extend_from_slice(&7u32.to_be_bytes());
    name.extend_from_slice(&[0, 14]);
    name.extend_from_slice(b"peer@127.0.0.1");
    let (begun, rest) = name.split_at(9);
    let mut good = from([127, 0, 0, 1], far.address()).await;
    good.write_all(begun).await.unwrap();
    let mut flood = Vec::new();
    for _ in 0..150 {
        flood.push(from([127, 0, 0, 2], far.address()).await);
    }
    // A peer from a third address is accepted at once, in place of the oldest strangers.
    let mut third = from([127, 0, 0, 3], far.address()).await;
    third.write_all(&name).await.unwrap();
    let mut status = [0; 5];
    in_the_end(third.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"\0\x03sok");
    good.write_all(rest).await.unwrap();
    in_the_end(good.read_exact(&mut status)).await.unwrap();
    assert_eq!(&status, b"\0\x03sok");
    assert!(matches!(in_the_end(flood[0].read(&mut [0; 8])).await, Ok(0) | Err(_)), "the oldest went");
}

/// An epmd that registers nodes and answers nothing else.
fn silent_epmd(first_answer: &'static [u8], pause: Duration) -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            std::thread::spawn(move || {
                let mut length = [0; 2];
                socket.read_exact(&mut length)?;
                let mut request = vec![0; u16::from_be_bytes(length).into()];
                socket.read_exact(&mut request)?;
                if request[0] == 120 {
                    for byte in first_answer {
                        std::thread::sleep(pause);
                        socket.write_all(&[*byte])?;
                    }
                }
                // Until the other side closes.
                socket.read(&mut [0]).map(drop)
            });
        }
    });
    port
}

#[tokio::test]
async fn a_silent_epmd_is_named_and_holds_up_no_peer_that_connects() {
    let world: World = world!();
    let epmd = silent_epmd(&[118, 0, 0, 0, 0, 7], Duration::ZERO);
    let options = Options { epmd_port: epmd, setup_time: Duration::from_secs(2), ..world.options() };
    let node = Node::start_with(NEAR, COOKIE, options).unwrap();
    let error = in_the_end(node.connect(FAR)).await.unwrap_err();
    assert!(matches!(&error, Error::TooSlow { what, .. } if what.contains("epmd")), "{error}");
    // The node also asks epmd whether the peer is a dyntrace node.
    let _peer = Hostile::hidden(node.address()).await;
    let connected = async {
        while node.nodes() != [PEER] {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    in_the_end(connected).await;
}

#[tokio::test]
async fn a_caller_that_is_not_polled_keeps_nobody_from_an_answer() {
    let world: World = world!();
    let epmd = silent_epmd(&[118, 0, 0, 0, 0, 7], Duration::ZERO);
    let options = Options { epmd_port: epmd, setup_time: Duration::from_millis(500), ..world.options() };
    let node = Node::start_with(NEAR, COOKIE, options).unwrap();
    let mut forgotten = pin!(node.connect(FAR));
    assert!(forgotten.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    in_the_end(node.connect(FAR)).await.unwrap_err();
}

#[tokio::test]
async fn a_setup_may_take_for_ever() {
    let world: World = world!();
    let options = Options { setup_time: Duration::MAX, ..world.options() };
    let node = Node::start_with(NEAR, COOKIE, options).unwrap();
    let error = in_the_end(node.connect(FAR)).await.unwrap_err();
    assert!(!matches!(error, Error::Lost { .. }), "{error}");
}

#[tokio::test]
async fn an_epmd_that_answers_a_byte_a_second_is_absent() {
    let epmd = silent_epmd(&[118, 0, 0, 0, 0, 7], Duration::from_secs(1));
    let error = Node::start_with(NEAR, COOKIE, Options { epmd_port: epmd, ..Options::default() }).unwrap_err();
    assert!(matches!(&error, Error::NoEpmd { port, .. } if *port == epmd), "{error}");
}
