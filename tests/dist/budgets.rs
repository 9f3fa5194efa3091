//! Peers with the cookie make a node keep as much as possible. Each kind of kept memory has a limit.
//!
//! Node and peer run on the test's own thread, so the counting allocator counts exactly their memory.

use std::time::Duration;

use dyntrace::dist::{Error, Inbox, Node, Options, Received, Term, hostile, term};
use erl_dist::message::Message;
use erl_dist::term::PidOrAtom;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::erl::{COOKIE, World, in_the_end};
use crate::held;
use crate::hostile::{Hostile, PEER, frame, ping};
use crate::world;

const NODE: &str = "near@127.0.0.1";
const MIB: usize = 1 << 20;

fn options(world: &World) -> Options {
    Options {
        max_message: MIB,
        max_memory: 4 * MIB,
        busy_limit: MIB,
        mailbox_limit: MIB,
        peer_limit: MIB,
        ..world.options()
    }
}

/// Returns the memory that a peer may take with these options, by the formula of their documentation.
fn bound(options: &Options) -> usize {
    let Options { max_message, max_memory, busy_limit, mailbox_limit, peer_limit, .. } = options;
    peer_limit + mailbox_limit + 2 * max_memory + 3 * max_message + 4 * (busy_limit + max_message) + MIB
}

struct Scene {
    node: Node,
    before: isize,
    bound: usize,
}

impl Scene {
    fn new(world: &World) -> Scene {
        let options = options(world);
        let bound = bound(&options);
        let node = Node::start_with(NODE, COOKIE, options).unwrap();
        held::reset_most();
        Scene { node, before: held::now(), bound }
    }

    async fn peer(&self) -> Hostile {
        let peer = Hostile::connect(self.node.address()).await;
        in_the_end(self.connected(true)).await;
        peer
    }

    async fn connected(&self, wanted: bool) {
        while self.node.nodes().is_empty() == wanted {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// Sends until the connection ends, and returns the number of messages.
    async fn sends_until_lost(&self, peer: &mut Hostile, message: impl Fn(&Hostile, u32) -> Message) -> u32 {
        let sends = async {
            let mut bytes = Vec::new();
            for number in 0.. {
                bytes.extend(frame(message(peer, number)));
                if bytes.len() < 64 << 10 {
                    continue;
                }
                if peer.socket.write_all(&bytes).await.is_err() || self.node.nodes().is_empty() {
                    return number;
                }
                bytes.clear();
                tokio::task::yield_now().await;
            }
            unreachable!("it sends for ever")
        };
        let sent = tokio::time::timeout(Duration::from_secs(120), sends).await.expect("the connection ends");
        in_the_end(self.connected(false)).await;
        sent
    }

    fn reason(&self) -> String {
        self.node.lost_connections().last().expect("a connection was lost").reason.clone()
    }

    /// Checks that the peak memory and the node's own count are within the bound.
    fn assert_bounded(&self) {
        let most = held::most() - self.before;
        assert!(most < self.bound as isize, "{most} bytes; the bound is {}", self.bound);
        if let Some([kept, messages]) = hostile::kept(&self.node, PEER) {
            assert!(kept <= MIB, "it counts {kept} bytes");
            assert!(messages <= 5 * MIB, "it counts {messages} bytes of messages");
        }
    }
}

/// Returns the pid of an inbox as the receiver of this peer's messages.
fn to(inbox: &Inbox) -> PidOrAtom {
    PidOrAtom::Pid(inbox.pid())
}

#[tokio::test]
async fn answers_that_are_not_read() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let mut peer = scene.peer().await;
    let mut bonded = scene.node.inbox();
    bonded.monitor(&peer.pid(7)).await.unwrap();
    let tag = Term::from(erl_dist::term::Binary::from(vec![7; 500_000]));
    scene.sends_until_lost(&mut peer, |peer, _| ping(peer.pid(1), tag.clone())).await;
    assert!(scene.reason().contains("Options::peer_limit"), "{}", scene.reason());
    scene.assert_bounded();
    // Told.
    let Received::Down { reason, .. } = in_the_end(bonded.recv()).await else { panic!("it is told") };
    assert_eq!(reason, term!(noconnection));
    assert_eq!(hostile::kept(&scene.node, PEER), Some([0, 0]), "nothing is left of it");
}

#[tokio::test]
async fn answers_to_what_is_not_there() {
    let world: World = world!();
    let scene = Scene::new(&world);
    for kind in 0..3 {
        let mut peer = scene.peer().await;
        let there = scene.node.inbox();
        let own = there.pid();
        drop(there);
        scene
            .sends_until_lost(&mut peer, |peer, number| match kind {
                0 => Message::link(peer.pid(number), own.clone()),
                1 => Message::monitor_p(peer.pid(1), PidOrAtom::Pid(own.clone()), peer.reference(number, 5)),
                _ => Message::unlink_id(term!((vec![7u8; 100_000])), peer.pid(1), own.clone()),
            })
            .await;
        assert!(scene.reason().contains("Options::peer_limit"), "{kind}: {}", scene.reason());
        scene.assert_bounded();
    }
}

#[tokio::test]
async fn monitors_and_links() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let inbox = scene.node.register("there").unwrap();
    for kind in 0..3 {
        let mut peer = scene.peer().await;
        let sent = scene
            .sends_until_lost(&mut peer, |peer, number| match kind {
                0 => Message::monitor_p(peer.pid(1), to(&inbox), peer.reference(number, 3)),
                1 => Message::monitor_p(peer.pid(1), PidOrAtom::Atom("there".into()), peer.reference(number, 5)),
                _ => Message::link(peer.pid(number), inbox.pid()),
            })
            .await;
        assert!(sent > 1000, "{kind}: {sent} bonds are few");
        assert!(scene.reason().contains("Options::peer_limit"), "{kind}: {}", scene.reason());
        scene.assert_bounded();
    }
}

#[tokio::test]
async fn a_reference_of_60_000_words() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let inbox = scene.node.inbox();
    let mut peer = scene.peer().await;
    let message = |peer: &Hostile, number| Message::monitor_p(peer.pid(1), to(&inbox), peer.reference(number, 60_000));
    scene.sends_until_lost(&mut peer, message).await;
    assert!(scene.reason().contains("a reference of more than 5 words"), "{}", scene.reason());
    scene.assert_bounded();
}

/// An unacknowledged end is charged to the peer that does not acknowledge it.
#[tokio::test]
async fn ends_of_links_that_are_not_acknowledged() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let peer = scene.peer().await;
    let inbox = scene.node.inbox();
    let ends = async {
        for number in 0.. {
            if scene.node.nodes().is_empty() {
                return;
            }
            inbox.link(&peer.pid(number)).await.unwrap();
            inbox.unlink(&peer.pid(number));
            tokio::task::yield_now().await;
        }
    };
    in_the_end(ends).await;
    assert!(scene.reason().contains("Options::peer_limit"), "{}", scene.reason());
    scene.assert_bounded();
}

#[tokio::test]
async fn messages_for_many_mailboxes() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let mut inboxes: Vec<Inbox> = (0..100).map(|_| scene.node.inbox()).collect();
    let mut peer = scene.peer().await;
    let pids: Vec<_> = inboxes.iter().map(Inbox::pid).collect();
    // 100 MiB, of which the node reads up to its limits: the peer waits, and its connection stays.
    let sends = async {
        for round in 0..1000 {
            let to = pids[round % pids.len()].clone();
            let message = Message::send_sender(peer.pid(1), to, term!((vec![7u8; 100_000])));
            peer.socket.write_all(&frame(message)).await.unwrap();
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(1), sends).await;
    assert!(waited.is_err(), "it took 100 MiB");
    scene.assert_bounded();
    assert_eq!(scene.node.nodes(), [PEER]);
    // Receiving makes room for the waiting messages.
    let mut taken = 0;
    for inbox in &mut inboxes {
        while inbox.try_recv().is_some() {
            taken += 1;
        }
    }
    assert!(taken > 5);
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(inboxes.iter_mut().any(|inbox| inbox.try_recv().is_some()), "it reads on");
}

/// Each connection leaves its exit messages in a mailbox without a reader.
#[tokio::test]
async fn ends_of_connections_that_come_and_go() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let inbox = scene.node.inbox();
    let mut blocked = false;
    for round in 0..40 {
        let mut peer = scene.peer().await;
        for number in 0..1000 {
            peer.send(Message::link(peer.pid(round * 1000 + number), inbox.pid())).await.unwrap();
        }
        // The answer comes after the links, if they are accepted.
        peer.send(ping(peer.pid(1), term!(1))).await.unwrap();
        blocked = tokio::time::timeout(Duration::from_millis(300), peer.socket.read_u8()).await.is_err();
        if blocked {
            break;
        }
        drop(peer);
        in_the_end(scene.connected(false)).await;
    }
    assert!(blocked, "40,000 ends went into a mailbox of 1 MiB");
    scene.assert_bounded();
}

#[tokio::test]
async fn peers_under_many_names() {
    let world: World = world!();
    let scene = Scene::new(&world);
    for number in 0..300 {
        let name = format!("{}{number}@127.0.0.1", "x".repeat(200));
        drop(Hostile::named(&name, scene.node.address()).await);
        in_the_end(scene.connected(false)).await;
        assert!(hostile::known(&scene.node) <= 20, "it remembers {number} peers that have gone");
    }
}

#[tokio::test]
async fn a_frame_that_does_not_end_and_one_that_is_too_long() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let mut peer = scene.peer().await;
    peer.socket.write_all(&(MIB as u32).to_be_bytes()).await.unwrap();
    peer.socket.write_all(&vec![112; MIB - 1]).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    scene.assert_bounded();
    assert_eq!(scene.node.nodes(), [PEER], "it may end yet");
    drop(peer);
    in_the_end(scene.connected(false)).await;
    let mut peer = scene.peer().await;
    peer.socket.write_all(&(MIB as u32 + 1).to_be_bytes()).await.unwrap();
    in_the_end(scene.connected(false)).await;
    assert!(scene.reason().contains("Options::max_message"), "{}", scene.reason());
}

/// An invalid term may be as long as a message, and formatting a large integer in decimal would take hours.
#[tokio::test]
async fn texts_of_errors() {
    let world: World = world!();
    let scene = Scene::new(&world);
    for wrong in [
        // A binary, then an integer, in place of the tuple; an integer in place of the operation's number.
        [&[131, 109][..], &900_000u32.to_be_bytes(), &[7; 900_000]].concat(),
        [&[131, 111][..], &900_000u32.to_be_bytes(), &[0], &[7; 900_000]].concat(),
        [&[131, 104, 1, 111][..], &900_000u32.to_be_bytes(), &[0], &[7; 900_000]].concat(),
    ] {
        let mut peer = scene.peer().await;
        let mut bytes = vec![0, 0, 0, 0, 112];
        bytes.extend(wrong);
        let length = bytes.len() as u32 - 4;
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        peer.socket.write_all(&bytes).await.unwrap();
        in_the_end(scene.connected(false)).await;
        assert!(scene.reason().len() < 600, "{}", scene.reason().len());
        scene.assert_bounded();
    }
}

/// A peer cannot change the bonds of other peers.
#[tokio::test]
async fn signals_in_the_name_of_another_node() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let mut inbox = scene.node.inbox();
    let far = world.node("far@127.0.0.1");
    let there = far.register("there").unwrap();
    inbox.link(&there.pid()).await.unwrap();
    for kind in 0..5 {
        let mut peer = Hostile::connect(scene.node.address()).await;
        let reference = peer.reference(1, 3);
        let message = match kind {
            0 => Message::exit(there.pid(), inbox.pid(), term!(killed)),
            1 => Message::unlink(there.pid(), inbox.pid()),
            2 => Message::link(there.pid(), inbox.pid()),
            3 => Message::monitor_p(there.pid(), to(&inbox), reference),
            _ => Message::demonitor_p(there.pid(), to(&inbox), reference),
        };
        peer.send(message).await.unwrap();
        let mut byte = [0];
        assert!(matches!(in_the_end(peer.socket.read(&mut byte)).await, Ok(0) | Err(_)), "{kind}: it is sent away");
        let text = scene.reason();
        assert!(text.contains("another node, far@127.0.0.1"), "{kind}: {text}");
    }
    assert!(inbox.try_recv().is_none());
    assert_eq!(scene.node.nodes(), ["far@127.0.0.1"]);
    there.exit(term!(done));
    let Received::Exit { reason, .. } = in_the_end(inbox.recv()).await else { panic!("the link is there") };
    assert_eq!(reason, term!(done));
}

/// A node that announces tags in epmd sends a tag in a frame of its own, before its message.
#[tokio::test]
async fn tags() {
    use erl_dist::epmd::{EpmdClient, NodeEntry};
    let world: World = world!();
    let scene = Scene::new(&world);
    let port = world.port;
    let registered = tokio::task::spawn_blocking(move || {
        let socket = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
        let mut entry = NodeEntry::new_hidden("hostile", 1);
        entry.extra = b"dyntrace-1".to_vec();
        let client = EpmdClient::new(futures::io::AllowStdIo::new(socket));
        futures::executor::block_on(client.register(entry)).unwrap()
    });
    let _registered = registered.await.unwrap();
    let mut peer = Hostile::hidden(scene.node.address()).await;
    in_the_end(scene.connected(true)).await;
    let mut inbox = scene.node.inbox();
    let tag = [&500_001u32.to_be_bytes()[..], &[0xd7], &vec![b'x'; 500_000]].concat();
    let message = frame(Message::send_sender(peer.pid(1), inbox.pid(), term!(1)));
    let sends = async {
        for _ in 0..200 {
            peer.socket.write_all(&tag).await.unwrap();
            peer.socket.write_all(&message).await.unwrap();
        }
    };
    assert!(tokio::time::timeout(Duration::from_secs(1), sends).await.is_err(), "it took 100 MB of tags");
    scene.assert_bounded();
    let Some(Received::Message(message)) = inbox.try_recv() else { panic!("messages have come") };
    assert_eq!(message.tag.map(|tag| tag.len()), Some(500_000));
}

/// A sender that waits for a peer gets the reason why the connection ended.
#[tokio::test]
async fn a_waiting_sender_is_told_why() {
    let world: World = world!();
    let scene = Scene::new(&world);
    let mut peer = scene.peer().await;
    let node = scene.node.clone();
    let sender = tokio::spawn(async move {
        loop {
            if let Err(error) = node.send(("sink", PEER), term!((vec![7u8; 100_000]))).await {
                return error;
            }
        }
    });
    let tag = Term::from(erl_dist::term::Binary::from(vec![7; 100_000]));
    scene.sends_until_lost(&mut peer, |peer, _| ping(peer.pid(1), tag.clone())).await;
    let error = in_the_end(sender).await.unwrap();
    assert!(matches!(&error, Error::Lost { reason, .. } if reason.contains("Options::peer_limit")), "{error}");
}
