//! Both directions, by name and by pid, with long names and short ones.

use dyntrace::dist::{Received, Term, term};

use crate::erl::{ask, connected, next};
use crate::world;

async fn both_directions(kind: &str, host: &str) {
    let mut world = world!();
    let (ours, theirs) = (format!("worker@{host}"), format!("erl@{host}"));
    let node = world.node(&ours);
    let mut inbox = node.register("worker").unwrap();
    assert!(node.register("worker").is_err(), "the name is taken");
    // The Erlang node connects and sends to a name; the answer goes to its pid.
    world.erl(kind, &theirs, &["dial", &ours, "worker"]);
    let hello = next(&mut inbox).await;
    let sender = hello.sender.expect("who sent it");
    assert_eq!(hello.term, term!({(&sender), hello}));
    assert_eq!((hello.token, hello.tag), (None, None));
    assert_eq!(node.nodes(), [&*theirs]);

    inbox.send(&sender, term!({(inbox.pid()), echo, by_pid})).await.unwrap();
    let answer = next(&mut inbox).await;
    assert_eq!((answer.term, answer.sender.as_ref()), (term!({echo, by_pid}), Some(&sender)));

    // To a name, with every kind of term.
    let terms = term!([
        {}, [], atom, -1, 0, 255, 256, (i32::MIN), (i64::MAX), (u64::MAX), 1.5, true, "text", "täxt", <<"binary">>, [1, 2], [-1, 2],
        [1, [2, [3]]], #{key => 1, 7 => {b}}
    ]);
    let answer = ask(&mut inbox, &theirs, vec![term!(echo), terms.clone()]).await;
    assert_eq!(answer.term, term!({echo, (terms)}));

    let pong = ask(&mut inbox, &theirs, vec![term!(ping), Term::from(dyntrace::dist::Atom::from(&*ours))]).await;
    assert_eq!(pong.term, term!({ping, pong}));
}

#[tokio::test]
async fn with_long_names() {
    both_directions("-name", "127.0.0.1").await;
}

#[tokio::test]
async fn with_short_names() {
    both_directions("-sname", "localhost").await;
}

#[tokio::test]
async fn large_messages() {
    let mut world = world!();
    let node = world.node("worker@127.0.0.1");
    world.erl("-name", "erl@127.0.0.1", &[]);
    connected(&node, "erl@127.0.0.1").await;
    let mut inbox = node.inbox();
    let bytes: Vec<u8> = (0..8 << 20).map(|at: u32| ((at * 7) >> 3) as u8).collect();
    let answer = ask(&mut inbox, "erl@127.0.0.1", vec![term!(echo), term!((bytes.clone()))]).await;
    assert!(answer.term == term!({echo, (bytes)}), "8 MiB come back as they went");
}

#[tokio::test]
async fn a_node_that_restarts_is_connected_to_again() {
    let mut world = world!();
    let node = world.node("worker@127.0.0.1");
    let mut inbox = node.inbox();
    for _ in 0..2 {
        world.erl("-name", "erl@127.0.0.1", &[]);
        connected(&node, "erl@127.0.0.1").await;
        let monitor = inbox.monitor(("driver", "erl@127.0.0.1")).await.unwrap();
        world.kill_last();
        let Received::Down { monitor: of, process, reason } = inbox.recv().await else { panic!("not a message") };
        assert_eq!((of, process, reason), (monitor, term!(driver), term!(noconnection)));
        assert!(node.nodes().is_empty());
    }
}

#[tokio::test]
async fn epmd_may_restart() {
    let mut world = world!();
    let node = world.node("worker@127.0.0.1");
    let mut inbox = node.register("worker").unwrap();
    world.kill_last();
    world.start_epmd();
    // Only the new epmd finds the node, once it has registered there.
    loop {
        world.erl("-name", "erl@127.0.0.1", &["dial", "worker@127.0.0.1", "worker"]);
        if tokio::time::timeout(std::time::Duration::from_secs(3), inbox.recv_message()).await.is_ok() {
            break;
        }
        world.kill_last();
    }
}
