//! The parsers of a peer's bytes, for tests and for the fuzzer, which have no peer.

use erl_dist::epmd::{EpmdClient, NodeEntry};
use erl_dist::node::{Creation, LocalNode, NodeName};
use futures::executor::block_on;

use super::frame::{self, Frames};
use super::options::Options;
use super::stream::Stream;
use super::term::{mend, words};
use super::{Error, Node, Term, control, epmd, handshake, limits, token};

/// Parses the bytes that a peer sends over a connection: frames and their messages.
pub fn connection(bytes: &[u8]) {
    let mut frames = Frames::new(bytes, Options::default().max_message, None);
    block_on(async {
        while let Ok(Some(frame)) = frames.next().await {
            if let Some((&frame::MESSAGE, bytes)) = frame.split_first() {
                message(bytes);
            }
        }
    });
}

/// Parses the bytes that a peer sends in the handshake, on either side, over TCP and over TLS.
pub fn handshaking(bytes: &[u8]) {
    let (own, peer) = (name("fuzzed@127.0.0.1"), name("peer@127.0.0.1"));
    let mut local = LocalNode::new(own, Creation::new(7));
    local.flags = handshake::flags();
    for long in [false, true] {
        let stream = || Stream::over(tokio::io::join(bytes, tokio::io::sink()), long);
        let refuses = |name: &NodeName| name.len().is_multiple_of(2);
        let accepted = block_on(handshake::accept(stream(), "a peer".to_owned(), &local, "cookie", refuses));
        let dialled = block_on(handshake::dial(stream(), &local, "cookie", &peer));
        // The challenges are random, so no recorded bytes prove the cookie.
        let unproved = accepted.err().map(|error| error.to_string());
        assert!(unproved.is_some_and(|text| text.len() < 2000));
        assert!(!matches!(dialled, Ok(handshake::Dialled::Connected(_))));
    }
}

/// Parses an answer of epmd, to either question.
pub fn epmd(bytes: &[u8]) {
    let stream = || Stream::over(tokio::io::join(bytes, tokio::io::sink()), false);
    let peer = name("peer@127.0.0.1");
    let absent = |error| Error::NoEpmd { host: "a host".to_owned(), port: 0, error };
    if let Err(error) = block_on(epmd::ask(stream(), &peer, absent)) {
        assert!(error.to_string().len() < 2000);
    }
    let _ = block_on(EpmdClient::new(stream()).register(NodeEntry::new_hidden("fuzzed", 1)));
}

fn name(name: &str) -> NodeName {
    name.parse().expect("a name")
}

/// The bytes that a node has charged to a peer: data that cannot wait, and messages.
pub fn kept(node: &Node, peer: &str) -> Option<[usize; 2]> {
    let budget = node.life.inner.peers.budget(peer)?;
    Some([budget.kept.used(), budget.messages.used()])
}

/// The number of peers that a node remembers.
pub fn known(node: &Node) -> usize {
    node.life.inner.peers.known()
}

/// Parses one message, and measures, formats and encodes its terms.
pub fn message(bytes: &[u8]) {
    let Ok(memory) = limits::check(bytes, &Options::default()) else { return };
    assert!(memory >= bytes.len());
    let _ = control::decode(bytes).map(|message| format!("{message:?}"));
    let mut rest = bytes;
    while let Ok(mut term) = Term::decode(&mut rest) {
        assert!(!term.to_string().is_empty());
        words(&term);
        token::of_term(term.clone());
        mend(&mut term);
        // It can be sent on, and a node with the same limits accepts it.
        let mut again = Vec::new();
        if term.encode(&mut again).is_ok() {
            assert_ne!(limits::check(&again, &Options::default()), Err(limits::Refused::Truncated), "{term}");
        }
    }
}
