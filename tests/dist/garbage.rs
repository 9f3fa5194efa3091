//! A node with connections that send garbage, before and after the handshake. It does not panic, and serves its good peer.

use std::sync::atomic::Ordering;
use std::time::Duration;

use dyntrace::dist::{Inbox, Node, Options, term};
use erl_dist::message::Message;
use erl_dist::term::PidOrAtom;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::erl::{COOKIE, World, in_the_end, next};
use crate::hostile::{Hostile, frame, ping};
use crate::refused::panics_of_dist;
use crate::world;

/// Returns the same pseudo-random numbers in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % limit
    }
}

/// Returns messages of every kind that the node handles.
fn messages(peer: &Hostile, inbox: &Inbox) -> Vec<Message> {
    let (from, to, reference) = (peer.pid(1), inbox.pid(), peer.reference(1, 3));
    let token = term!({9, {label, 7}, 5, (from.clone()), 4});
    vec![
        Message::send_sender(from.clone(), to.clone(), term!({hello, #{a => 1}, [1, 2.5, <<"x">>], "text"})),
        Message::send_sender_tt(from.clone(), to.clone(), term!(hello), token.clone()),
        Message::send_tt(to.clone(), term!(hello), token.clone()),
        Message::reg_send(from.clone(), "there".into(), term!((vec![7u8; 300]))),
        Message::reg_send_tt(from.clone(), "there".into(), term!(hello), token),
        Message::link(from.clone(), to.clone()),
        Message::unlink_id(term!(1), from.clone(), to.clone()),
        Message::unlink_id_ack(term!(1), from.clone(), to.clone()),
        Message::monitor_p(from.clone(), PidOrAtom::Pid(to.clone()), reference.clone()),
        Message::demonitor_p(from.clone(), PidOrAtom::Atom("there".into()), reference.clone()),
        Message::payload_exit(from.clone(), to.clone(), term!({some, reason})),
        Message::payload_exit2(from.clone(), to.clone(), term!(reason)),
        Message::payload_monitor_p_exit(PidOrAtom::Pid(from.clone()), to, reference, term!(noproc)),
        ping(from, term!(tag)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn garbage_behind_the_handshake() {
    let world: World = world!();
    let panics = panics_of_dist();
    let node = world.node("near@127.0.0.1");
    let far = world.node("far@127.0.0.1");
    let mut there = node.register("there").unwrap();
    let mut random = Random(88_172_645_463_325_252);
    let kinds = messages(&Hostile::connect(node.address()).await, &there).len();
    for round in 0..400 {
        let mut peer = Hostile::connect(node.address()).await;
        let mut bytes = Vec::new();
        for _ in 0..=random.below(3) {
            bytes.extend(frame(messages(&peer, &there).swap_remove(random.below(kinds))));
        }
        match round % 4 {
            // A cut message.
            0 => bytes.truncate(random.below(bytes.len())),
            // Changed bytes.
            1 => {
                for _ in 0..=random.below(3) {
                    let at = random.below(bytes.len());
                    bytes[at] = [0, 1, 5, 0x7f, 0xff, random.below(256) as u8][random.below(6)];
                }
            }
            // After the length and the kind.
            2 => {
                for byte in &mut bytes[5..] {
                    if random.below(8) == 0 {
                        *byte = random.below(256) as u8;
                    }
                }
            }
            // Random bytes only.
            _ => bytes = (0..random.below(2000)).map(|_| random.below(256) as u8).collect(),
        }
        let _ = peer.socket.write_all(&bytes).await;
        let _ = peer.socket.shutdown().await;
        let mut answers = Vec::new();
        let _ = in_the_end(peer.socket.read_to_end(&mut answers)).await;
        while there.try_recv().is_some() {}
    }
    assert_eq!(panics.load(Ordering::Relaxed), 0);
    far.send(("there", "near@127.0.0.1"), term!(fine)).await.unwrap();
    while next(&mut there).await.term != term!(fine) {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_cut_at_every_byte() {
    let world: World = world!();
    let panics = panics_of_dist();
    let node = world.node("near@127.0.0.1");
    let there = node.register("there").unwrap();
    let mut peer = Hostile::connect(node.address()).await;
    for message in messages(&peer, &there) {
        let bytes = frame(message);
        // A few cuts of each message, as each takes a handshake.
        for end in (0..bytes.len()).step_by(1 + bytes.len() / 40) {
            peer.socket.write_all(&bytes[..end]).await.unwrap();
            peer.socket.shutdown().await.unwrap();
            let _ = in_the_end(peer.socket.read_to_end(&mut Vec::new())).await;
            peer = Hostile::connect(node.address()).await;
        }
    }
    assert_eq!(panics.load(Ordering::Relaxed), 0);
}

/// A byte a second, before and after the handshake.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_byte_a_second_and_noise() {
    let world: World = world!();
    let panics = panics_of_dist();
    let options = Options { setup_time: Duration::from_secs(3), ..world.options() };
    let node = Node::start_with("near@127.0.0.1", COOKIE, options).unwrap();
    let mut there = node.register("there").unwrap();
    let mut slow = Vec::new();
    for number in 0..40 {
        let socket = match number % 2 {
            0 => TcpStream::connect(node.address()).await.unwrap(),
            _ => Hostile::named(&format!("slow{number}@127.0.0.1"), node.address()).await.socket,
        };
        slow.push(tokio::spawn(async move {
            let (_reading, mut writing) = socket.into_split();
            for byte in [0, 29, b'N', 0, 0, 0] {
                tokio::time::sleep(Duration::from_secs(1)).await;
                if writing.write_all(&[byte]).await.is_err() {
                    return;
                }
            }
        }));
    }
    let mut random = Random(7);
    let far = world.node("far@127.0.0.1");
    for number in 0..100 {
        let noise: Vec<u8> = (0..random.below(5000)).map(|_| random.below(256) as u8).collect();
        let mut socket = TcpStream::connect(node.address()).await.unwrap();
        let _ = socket.write_all(&noise).await;
        in_the_end(far.send(("there", "near@127.0.0.1"), term!((number)))).await.unwrap();
        assert_eq!(next(&mut there).await.term, term!((number)));
    }
    for slow in slow {
        in_the_end(slow).await.unwrap();
    }
    assert_eq!(panics.load(Ordering::Relaxed), 0);
}
