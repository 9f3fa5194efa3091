//! Peers that become silent without closing: before, in, and after the handshake.

use std::sync::atomic::Ordering;
use std::time::Duration;

use dyntrace::dist::{Error, Node, Options, Received, term};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use crate::cuts::between;
use crate::erl::{COOKIE, World, in_the_end, next};
use crate::world;

const NEAR: &str = "near@127.0.0.1";
const FAR: &str = "far@127.0.0.1";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_the_handshake_both_sides_take_the_other_for_lost() {
    let world: World = world!();
    let ticking = Options { tick_time: Duration::from_millis(1200), ..world.options() };
    let far = Node::start_with(FAR, COOKIE, ticking.clone()).unwrap();
    let between = between(far.address().port()).await;
    let near = Node::start_with(NEAR, COOKIE, Options { epmd_port: between.epmd, ..ticking }).unwrap();
    let mut there = far.register("there").unwrap();
    let mut inbox = near.inbox();
    let monitor = inbox.monitor(("there", FAR)).await.unwrap();
    inbox.send(("there", FAR), term!(heard)).await.unwrap();
    assert_eq!(next(&mut there).await.term, term!(heard));

    between.silent.store(true, Ordering::Relaxed);
    let Received::Down { monitor: of, reason, .. } = in_the_end(inbox.recv()).await else { panic!("it is told") };
    assert_eq!((of, reason), (monitor, term!(noconnection)));
    assert!(near.nodes().is_empty());
    let lost = async {
        while !far.nodes().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    in_the_end(lost).await;

    between.silent.store(false, Ordering::Relaxed);
    inbox.send(("there", FAR), term!(again)).await.unwrap();
    assert_eq!(next(&mut there).await.term, term!(again));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_handshake_dialling_ends_with_an_error() {
    let world: World = world!();
    let far = world.node(FAR);
    let between = between(far.address().port()).await;
    between.silent.store(true, Ordering::Relaxed);
    let impatient = Options {
        epmd_port: between.epmd,
        setup_time: Duration::from_secs(1),
        backoff: Duration::ZERO,
        ..world.options()
    };
    let near = Node::start_with(NEAR, COOKIE, impatient).unwrap();
    let error = in_the_end(near.connect(FAR)).await.unwrap_err();
    assert!(matches!(&error, Error::TooSlow { node, .. } if node == FAR), "{error}");
    assert!(near.nodes().is_empty() && far.nodes().is_empty());
    between.silent.store(false, Ordering::Relaxed);
    in_the_end(near.connect(FAR)).await.unwrap();
}

/// More peers than may be in the handshake at once.
#[tokio::test]
async fn strangers_that_say_nothing_are_sent_away() {
    let world: World = world!();
    let far =
        Node::start_with(FAR, COOKIE, Options { setup_time: Duration::from_millis(500), ..world.options() }).unwrap();
    let mut strangers = Vec::new();
    for _ in 0..100 {
        strangers.push(TcpStream::connect(far.address()).await.unwrap());
    }
    let near =
        Node::start_with(NEAR, COOKIE, Options { setup_time: Duration::from_secs(20), ..world.options() }).unwrap();
    in_the_end(near.connect(FAR)).await.unwrap();
    for mut stranger in strangers {
        assert!(matches!(in_the_end(stranger.read(&mut [0; 16])).await, Ok(0) | Err(_)), "it was told something");
    }
}
