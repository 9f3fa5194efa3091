//! Loom: a reader of the file beside the thread that fires.
//!
//! A nested handler is no thread of its own, so loom cannot place it: `tests.rs` does, at every step.

use loom::sync::Arc;
use loom::thread;

use dyntrace_metadata::packet::{MAGIC, offset};

use super::*;
use crate::rings::packet::Packet;

/// Room for one packet with few events; each is written as one word.
struct Model {
    headers: Vec<AtomicU64>,
    events: Vec<AtomicU64>,
}

/// The size of an event: its class's header is whole.
const SIZE: u64 = WHOLE_SIZE as u64 + 3;

impl Space for Model {
    fn prepare(&self, position: u64) -> bool {
        position == 0
    }

    fn circular_packets(&self) -> u64 {
        u64::MAX
    }

    fn header(&self, _packet: u64, word: Word) -> &AtomicU64 {
        &self.headers[word as usize]
    }

    fn put(&self, position: u64, header: EventHeader, _payload: &impl Payload, _form: Form) {
        self.events[((position - HEADER) / SIZE) as usize].store(u64::from(Form::class_of(header.id)), Relaxed);
    }

    fn now(&self) -> u64 {
        0
    }
}

#[test]
fn loom_ring_a_reader_finds_whole_events_only() {
    loom::model(|| {
        let model = Model {
            headers: (0..7).map(|_| AtomicU64::new(0)).collect(),
            events: (0..2).map(|_| AtomicU64::new(0)).collect(),
        };
        let ring = Arc::new(Ring::new(model, 1));
        assert!(ring.adopt(1));
        let reader = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let content =
                    ring.space().header(0, Word::ContentSize).load(crate::primitives::atomic::Ordering::Acquire) / 8;
                for event in 0..content.saturating_sub(HEADER) / SIZE {
                    assert_eq!(ring.space().events[event as usize].load(Relaxed), 111 + event);
                }
            })
        };
        ring.record(111, (0u64,));
        ring.record(112, (0u64,));
        reader.join().unwrap();
        assert_eq!(ring.space().header(0, Word::ContentSize).load(Relaxed) / 8, HEADER + 2 * SIZE);
    });
}

/// A circular file of one sub-buffer, which has only a few words.
struct Circle(Vec<AtomicU64>);

/// Where the first event of a packet is.
const FIRST: usize = packet::HEADER / 8;

impl Space for Circle {
    fn prepare(&self, _position: u64) -> bool {
        true
    }

    fn circular_packets(&self) -> u64 {
        1
    }

    fn header(&self, _packet: u64, word: Word) -> &AtomicU64 {
        &self.0[word.offset() / 8]
    }

    fn put(&self, _position: u64, header: EventHeader, _payload: &impl Payload, _form: Form) {
        self.0[FIRST].store(u64::from(Form::class_of(header.id)), Relaxed);
    }

    fn now(&self) -> u64 {
        0
    }
}

/// Each packet has one event, whose id is the packet's sequence.
#[test]
fn loom_ring_a_copy_of_a_packet_that_is_taken_again_is_left_out() {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(|| {
        let words = [u64::from_ne_bytes([MAGIC.to_ne_bytes(), [0; 4]].concat().try_into().unwrap())];
        let words = words.into_iter().chain([0; FIRST + 2]).map(AtomicU64::new).collect();
        let ring = Arc::new(Ring::new(Circle(words), 1));
        assert!(ring.adopt(1));
        ring.record(1, (0u64,));
        let copier = {
            let ring = Arc::clone(&ring);
            thread::spawn(move || {
                let packet = Packet(&ring.space().0);
                let (sequence, mut copy) = (packet.sequence(), Vec::new());
                if sequence != 0 && packet.copy(sequence, [0; 16], &mut copy) {
                    let word = |at: usize| u64::from_ne_bytes(copy[at..at + 8].try_into().unwrap());
                    if word(offset::CONTENT_SIZE) / 8 > HEADER {
                        assert_eq!((word(packet::HEADER), word(offset::TID)), (sequence, sequence));
                    }
                }
            })
        };
        // Another thread's turn, and another packet.
        ring.abandon(1);
        assert!(ring.adopt(2));
        ring.record(2, (0u64,));
        copier.join().unwrap();
    });
}
