//! Two dyntrace nodes: user tags; both dialling at once; limits; ends.

use std::time::Duration;

use dyntrace::dist::{Error, Node, Options, Received, term};

use crate::erl::{COOKIE, World, next};
use crate::world;

const NEAR: &str = "near@127.0.0.1";
const FAR: &str = "far@127.0.0.1";

#[tokio::test]
async fn a_tag_that_spreads_goes_along_whoever_dialled() {
    let world: World = world!();
    let (near, far) = (world.node(NEAR), world.node(FAR));
    dyntrace::spawn(async move {
        let mut at_far = far.register("at_far").unwrap();
        let mut at_near = near.register("at_near").unwrap();
        dyntrace::put_tag("request 7").unwrap();
        near.send(("at_far", FAR), term!(untold)).await.unwrap();
        dyntrace::spread_tag(true);
        near.send(("at_far", FAR), term!(told)).await.unwrap();
        assert_eq!(next(&mut at_far).await.tag, None);
        dyntrace::spread_tag(true);
        let told =
            dyntrace::spawn(async move { (next(&mut at_far).await.tag, dyntrace::get_tag_data()) }).await.unwrap();
        assert_eq!((told.0.as_deref(), told.1.as_deref()), (Some("request 7"), Some("request 7")));
        // The other way: the connection was accepted there.
        far.send(("at_near", NEAR), term!(back)).await.unwrap();
        assert_eq!(next(&mut at_near).await.tag.as_deref(), Some("request 7"));
    })
    .await
    .unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_may_dial_at_once() {
    let world: World = world!();
    for round in 0..20 {
        let (near, far) = (world.node(&format!("near{round}@127.0.0.1")), world.node(&format!("far{round}@127.0.0.1")));
        let (mut at_near, mut at_far) = (near.register("box").unwrap(), far.register("box").unwrap());
        let (near_name, far_name) = (near.name(), far.name());
        let sent =
            tokio::join!(near.send(("box", &*far_name), term!(ours)), far.send(("box", &*near_name), term!(theirs)));
        sent.0.unwrap();
        sent.1.unwrap();
        assert_eq!(next(&mut at_far).await.term, term!(ours));
        assert_eq!(next(&mut at_near).await.term, term!(theirs));
    }
}

#[tokio::test]
async fn terms_beyond_a_limit_are_refused_at_the_first_check() {
    let world: World = world!();
    let small = Options { max_message: 4096, max_depth: 4, ..world.options() };
    let near = Node::start_with(NEAR, COOKIE, small).unwrap();
    let far = world.node(FAR);
    let mut at_near = near.register("at_near").unwrap();
    let _at_far = far.register("at_far").unwrap();

    let error = near.send(("at_far", FAR), term!((vec![0u8; 5000]))).await.unwrap_err();
    assert!(matches!(error, Error::TooLarge { limit: 4096, .. }), "{error}");
    near.connect(FAR).await.unwrap();

    // A message above the limit from the other side ends the connection; the next connection works.
    for too_much in [term!((vec![0u8; 5000])), term!([[[[[[deep]]]]]])] {
        far.send(("at_near", NEAR), too_much).await.unwrap();
        while !far.nodes().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        far.send(("at_near", NEAR), term!(fine)).await.unwrap();
        assert_eq!(next(&mut at_near).await.term, term!(fine));
    }
}

#[tokio::test]
async fn silence_is_told_from_ticks() {
    let world: World = world!();
    let ticking = Options { tick_time: Duration::from_millis(1200), ..world.options() };
    let near = Node::start_with(NEAR, COOKIE, ticking).unwrap();
    // This node ticks only every 15 s by itself, but answers ticks.
    let far = world.node(FAR);
    let inbox = near.inbox();
    let _there = far.register("there").unwrap();
    inbox.monitor(("there", FAR)).await.unwrap();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(near.nodes(), [FAR]);
}

#[tokio::test]
async fn flushed_messages_arrive_although_the_node_ends() {
    let world: World = world!();
    let far = world.node(FAR);
    let mut inbox = far.register("there").unwrap();
    let near = world.node(NEAR);
    for n in 0..100 {
        near.send(("there", FAR), term!((n))).await.unwrap();
    }
    near.flush().await;
    drop(near);
    for n in 0..100 {
        assert_eq!(next(&mut inbox).await.term, term!((n)));
    }
}

#[tokio::test]
async fn a_node_ends_with_the_last_who_has_it() {
    let world: World = world!();
    let (near, far) = (world.node(NEAR), world.node(FAR));
    let mut inbox = near.inbox();
    let there = far.register("there").unwrap();
    inbox.monitor(("there", FAR)).await.unwrap();
    drop(far);
    assert_eq!(near.nodes(), [FAR], "an inbox has it still");
    drop(there);
    let Received::Down { .. } = inbox.recv().await else { panic!("it is told") };
    while !near.nodes().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    // Its name is free again.
    world.node(FAR);
}
