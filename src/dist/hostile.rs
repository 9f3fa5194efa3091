//! What becomes of a peer's bytes before anything of them is used: for tests and for the fuzzer, which know no peer.

use super::frame::{self, Frames};
use super::options::Options;
use super::term::{mend, words};
use super::{Term, control, limits, token};

/// Takes in what a peer sends over a connection: whole frames, and of each what a node decodes.
pub fn connection(bytes: &[u8]) {
    let mut frames = Frames::new(bytes, Options::default().max_message);
    futures::executor::block_on(async {
        while let Ok(Some(frame)) = frames.next().await {
            if let Some((&frame::MESSAGE, bytes)) = frame.split_first() {
                message(bytes);
            }
        }
    });
}

/// Takes in one message, of which every term is looked at, shown, and written again.
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
        // One that came can be sent on, and is taken by who limits as this node does.
        let mut again = Vec::new();
        if term.encode(&mut again).is_ok() {
            assert_ne!(limits::check(&again, &Options::default()), Err(limits::Refused::Truncated), "{term}");
        }
    }
}
