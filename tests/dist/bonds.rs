//! Links and monitors between this program's inboxes and Erlang's processes.

use std::time::Duration;

use dyntrace::dist::{Inbox, Pid, Received, Term, term};

use crate::erl::{ask, connected, next};
use crate::world;

const ERL: &str = "erl@127.0.0.1";

async fn spawned(inbox: &mut Inbox, kind: Term) -> Pid {
    let answer = ask(inbox, ERL, vec![kind]).await;
    let Term::Tuple(tuple) = answer.term else { panic!("{}", answer.term) };
    let Term::Pid(pid) = &tuple.elements[1] else { panic!("{tuple}") };
    pid.clone()
}

async fn signal(inbox: &mut Inbox) -> Received {
    tokio::time::timeout(Duration::from_secs(20), inbox.recv()).await.expect("a signal within 20 s")
}

async fn seen(inbox: &mut Inbox) -> Term {
    loop {
        let answer = ask(inbox, ERL, vec![term!(seen)]).await;
        if answer.term != term!({seen, undefined}) {
            return answer.term;
        }
    }
}

#[tokio::test]
async fn ends_are_told_across_nodes() {
    let mut world = world!();
    let node = world.node("worker@127.0.0.1");
    world.erl("-name", ERL, &[]);
    connected(&node, ERL).await;
    let mut inbox = node.inbox();

    // Theirs ends.
    let other = spawned(&mut inbox, term!(spawn)).await;
    inbox.link(&other).await.unwrap();
    let monitor = inbox.monitor(&other).await.unwrap();
    inbox.send(&other, term!({exit, {some, reason}})).await.unwrap();
    let (mut exits, mut downs) = (0, 0);
    for _ in 0..2 {
        match signal(&mut inbox).await {
            Received::Exit { from, reason } => {
                assert_eq!((from, reason), (other.clone(), term!({some, reason})));
                exits += 1;
            }
            Received::Down { monitor: of, process, reason } => {
                assert_eq!((of, process, reason), (monitor.clone(), term!((&other)), term!({some, reason})));
                downs += 1;
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!((exits, downs), (1, 1));

    // No such process.
    inbox.link(&other).await.unwrap();
    assert!(matches!(signal(&mut inbox).await, Received::Exit { reason, .. } if reason == term!(noproc)));
    inbox.monitor(("nobody", ERL)).await.unwrap();
    assert!(matches!(signal(&mut inbox).await, Received::Down { reason, .. } if reason == term!(noproc)));

    // A removed link sends no exit, whichever side removes it.
    let other = spawned(&mut inbox, term!(spawn)).await;
    inbox.link(&other).await.unwrap();
    inbox.unlink(&other);
    inbox.send(&other, term!({exit, quietly})).await.unwrap();
    let theirs = spawned(&mut inbox, term!(linked)).await;
    assert_eq!(next(&mut inbox).await.term, term!(ready));
    inbox.send(&theirs, term!(unlink)).await.unwrap();
    assert_eq!(next(&mut inbox).await.term, term!(unlinked));
    assert_eq!(ask(&mut inbox, ERL, vec![term!(echo), term!(1)]).await.term, term!({echo, 1}));

    // Ours ends.
    for (kind, told) in [("linked", term!({seen, {exit, {done, 1}}})), ("monitoring", term!({seen, {down, {done, 1}}}))]
    {
        let mut ends = node.inbox();
        spawned(&mut ends, dyntrace::dist::Atom::from(kind).into()).await;
        assert_eq!(next(&mut ends).await.term, term!(ready));
        ends.exit(term!({done, 1}));
        let mut said = seen(&mut inbox).await;
        while said != told {
            said = seen(&mut inbox).await;
        }
    }
}
