//! Loom: a reader of the file beside the thread that fires.
//!
//! A nested handler is no thread of its own, so loom cannot place it: `tests.rs` does, at every step.

use loom::sync::Arc;
use loom::thread;

use super::*;

/// Room for one packet with few events; each is written as one word.
struct Model {
    headers: Vec<AtomicU64>,
    events: Vec<AtomicU64>,
}

const SIZE: u64 = EVENT_HEADER as u64 + 8;

impl Space for Model {
    fn prepare(&self, position: u64) -> bool {
        position == 0
    }

    fn circle(&self) -> u64 {
        u64::MAX
    }

    fn header(&self, _packet: u64, word: Word) -> &AtomicU64 {
        &self.headers[word as usize]
    }

    fn put(&self, position: u64, id: u16, _time: u64, _payload: &impl Payload) {
        self.events[((position - HEADER) / SIZE) as usize].store(u64::from(id), Relaxed);
    }

    fn now(&self) -> u64 {
        0
    }
}

#[test]
fn loom_ring_a_reader_finds_whole_events_only() {
    loom::model(|| {
        let ring = Arc::new(Ring::new(Model {
            headers: (0..5).map(|_| AtomicU64::new(0)).collect(),
            events: (0..2).map(|_| AtomicU64::new(0)).collect(),
        }));
        assert!(ring.adopt(1));
        let reader = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let content =
                    ring.space().header(0, Word::ContentSize).load(crate::sync::atomic::Ordering::Acquire) / 8;
                for event in 0..content.saturating_sub(HEADER) / SIZE {
                    assert_eq!(ring.space().events[event as usize].load(Relaxed), 11 + event);
                }
            })
        };
        ring.record(11, &(0u64,));
        ring.record(12, &(0u64,));
        reader.join().unwrap();
        assert_eq!(ring.space().header(0, Word::ContentSize).load(Relaxed) / 8, HEADER + 2 * SIZE);
    });
}
