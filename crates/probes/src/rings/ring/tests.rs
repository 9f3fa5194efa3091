//! A handler fires at every step of a firing, and a reader looks at every step.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use dyntrace_metadata::event_header::{TIME_BITS, WHOLE};

use super::*;
use crate::rings::field::Field;
use crate::rings::form::COMPACT_TIGHT;

thread_local! {
    /// The body of a handler for the next interruptions.
    static HANDLER: RefCell<Option<Box<dyn Fn()>>> = const { RefCell::new(None) };
    static CLOCK: Cell<u64> = const { Cell::new(0) };
}

/// Memory for `packets` packets; as a circle or as a file that ends.
struct Memory {
    packets: u64,
    circular: bool,
    headers: Vec<[AtomicU64; 7]>,
    /// One word for each byte; that of an event's first byte is used.
    events: RefCell<Vec<u128>>,
    /// The steps until now, and the ones at which the handler fires.
    step: Cell<u64>,
    fire_at: RefCell<Vec<u64>>,
}

/// The bit of an event whose header is compact: its time is the low bits.
const COMPACT: u128 = 1 << 127;

/// The smallest event of a class that has a whole header.
const SMALLEST: u64 = WHOLE_SIZE as u64 + 1;

impl Memory {
    fn new(packets: u64, circular: bool) -> Memory {
        Memory {
            packets,
            circular,
            headers: (0..packets).map(|_| Default::default()).collect(),
            events: RefCell::new(vec![0; (packets * SUB_BUFFER) as usize]),
            step: Cell::new(0),
            fire_at: RefCell::default(),
        }
    }
}

impl Space for Memory {
    fn prepare(&self, position: u64) -> bool {
        self.circular || position / SUB_BUFFER < self.packets
    }

    fn circular_packets(&self) -> u64 {
        if self.circular { self.packets } else { u64::MAX }
    }

    fn header(&self, packet: u64, word: Word) -> &AtomicU64 {
        &self.headers[(packet % self.packets) as usize][word as usize]
    }

    fn put(&self, position: u64, header: EventHeader, payload: &impl Payload, form: Form) {
        let size = (header.size() + payload.size(form)) as u128;
        let at = position % (self.packets * SUB_BUFFER);
        let time = match header.compact() {
            Some(_) => COMPACT | u128::from(header.time % (1 << TIME_BITS)),
            None => header.time.into(),
        };
        self.events.borrow_mut()[at as usize] = time | u128::from(Form::class_of(header.id)) << 64 | size << 80;
    }

    fn now(&self) -> u64 {
        CLOCK.set(CLOCK.get() + 1);
        CLOCK.get()
    }

    fn interrupted(&self) {
        let step = self.step.get();
        self.step.set(step + 1);
        if self.fire_at.borrow().contains(&step) {
            HANDLER.with_borrow(|handler| handler.as_ref().expect("a handler")());
        }
    }
}

/// The committed events, `(packet, id, time)`, by packet.
fn committed(ring: &Ring<Memory>) -> Vec<(u64, u16, u64)> {
    let memory = ring.space();
    let mut order: BTreeMap<u64, u64> = BTreeMap::new();
    for packet in 0..memory.packets {
        let sequence = memory.header(packet, Word::Sequence).load(Relaxed);
        if sequence != 0 {
            order.insert(sequence - 1, packet);
        }
    }
    let mut events = Vec::new();
    let words = memory.events.borrow();
    for (number, packet) in order {
        let end = memory.header(packet, Word::ContentSize).load(Relaxed) / 8;
        let (mut at, mut last) = (HEADER, None);
        while at < end {
            let word = words[(packet * SUB_BUFFER + at) as usize];
            let (id, size, low) = ((word >> 64) as u16, (word >> 80) as u64 & 0xffff, word as u64);
            assert!(size > 0, "packet {number}: committed up to {end}, nothing was written at {at}");
            let time = match last {
                _ if word & COMPACT == 0 => low,
                Some(last) => low.wrapping_sub(last) % (1 << TIME_BITS) + last,
                None => panic!("packet {number}: its first event has a compact header"),
            };
            last = Some(time);
            events.push((number, id, time));
            at += size;
        }
        assert!(at <= HEADER.max(end), "packet {number}: an event ends behind its content");
    }
    assert!(events.is_sorted_by_key(|(_, _, time)| *time), "time goes back: {events:?}");
    events
}

fn ids(ring: &Ring<Memory>) -> Vec<u16> {
    let mut ids: Vec<u16> = committed(ring).into_iter().map(|(_, id, _)| id).collect();
    ids.sort();
    ids
}

fn ring(packets: u64, circular: bool) -> &'static Ring<Memory> {
    CLOCK.set(0);
    let ring = Box::leak(Box::new(Ring::new(Memory::new(packets, circular), 1)));
    assert!(ring.adopt(7));
    ring
}

/// Leaves `room` bytes in the current packet.
fn fill(ring: &Ring<Memory>, room: u64) {
    let text = [b'x'; 500];
    ring.record(WHOLE, ());
    while let left @ 1.. = Cursor::of(ring.word.load(Relaxed)).room() - room {
        // The rest must be exactly one more event, or nothing.
        let size = if left <= 500 { left } else { (left / 2).min(500) };
        ring.record(WHOLE, (&text[..(size - SMALLEST) as usize],));
    }
}

/// A string, and when its event happened.
#[derive(Clone, Copy)]
struct Timed(Option<u64>, &'static [u8]);

impl Payload for Timed {
    fn form(&self) -> Form {
        Form::Tight
    }

    fn size(&self, form: Form) -> usize {
        (self.1,).size(form)
    }

    unsafe fn put(&self, at: *mut u8, form: Form) {
        // SAFETY: as the caller promises.
        unsafe { (self.1,).put(at, form) }
    }

    fn time(&self) -> Option<u64> {
        self.0
    }

    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        (self.1,).show(look)
    }
}

/// A time for the next event: none, a new one, sometimes long after the last, or one from before the ring's last event.
fn time(which: impl Into<u64>) -> Option<u64> {
    match which.into() {
        0 => None,
        1 => {
            let before = CLOCK.get();
            CLOCK.set(before + if before.is_multiple_of(3) { 1 << TIME_BITS } else { 1 });
            Some(CLOCK.get())
        }
        _ => Some(CLOCK.get() - 1),
    }
}

/// Fires once where `room` bytes are left, and handlers at each step or pair of steps in turn; each fires `burst` times.
fn interrupt_everywhere(packets: u64, circular: bool, room: u64, burst: u16) {
    // Events of many are long ones.
    let text: &'static [u8] = &[b'x'; 400][..if burst > 4 { 400 } else { 7 }];
    for first in 0.. {
        let mut interrupted = false;
        for second in [first + 1, first + 2, first + 5, first + 9] {
            let ring = ring(packets, circular);
            fill(ring, room);
            let before = ids(ring).len();
            let next: &'static Cell<u16> = Box::leak(Box::new(Cell::new(100)));
            HANDLER.set(Some(Box::new(move || {
                for _ in 0..burst {
                    next.set(next.get() + 1);
                    // Odd ones have whole headers.
                    let id = next.get();
                    ring.record(if id.is_multiple_of(2) { id % COMPACT_TIGHT } else { id }, Timed(time(id % 2), text));
                }
                // A reader that looks now finds whole events only.
                committed(ring);
            })));
            ring.space().step.set(0);
            *ring.space().fire_at.borrow_mut() = vec![first, second];
            ring.record(2, Timed(time(second % 3), b"1234567"));
            ring.space().fire_at.borrow_mut().clear();
            interrupted = next.get() > 100;
            let lost = ring.discarded() as usize;
            let fired = 1 + usize::from(next.get() - 100);
            if !circular {
                assert_eq!(ids(ring).len() + lost, before + fired, "interrupted at {first} and {second}");
                assert!(lost == 0 || packets < 3, "{lost} events lost");
            } else {
                assert!(ids(ring).contains(&2) || burst > 4, "interrupted at {first} and {second}");
            }
            assert_eq!(Cursor::of(ring.word.load(Relaxed)).level, 0);
        }
        if !interrupted {
            return;
        }
    }
}

#[test]
fn a_handler_may_fire_at_any_step() {
    interrupt_everywhere(4, false, 5000, 1);
    interrupt_everywhere(4, false, 5000, 3);
}

/// The two of a pair follow one another, whatever a handler fires between the steps.
#[test]
fn a_handler_may_fire_at_any_step_of_two_firings() {
    for step in 0.. {
        let ring = ring(4, false);
        ring.record(1, (0u64,));
        let fires: &'static Cell<u16> = Box::leak(Box::new(Cell::new(0)));
        HANDLER.set(Some(Box::new(move || {
            fires.set(fires.get() + 1);
            ring.record(4, Timed(time(step % 3), b"handler"));
            committed(ring);
        })));
        ring.space().step.set(0);
        *ring.space().fire_at.borrow_mut() = vec![step];
        let first = Timed(time(step % 2), b"first");
        let are_recorded = ring.record_both((2, first), (3, Timed(None, b"second")));
        ring.space().fire_at.borrow_mut().clear();
        let events = committed(ring);
        let at = |class| events.iter().position(|(_, id, _)| *id == class);
        assert_eq!(events.len(), 1 + 2 * usize::from(are_recorded) + usize::from(fires.get()), "interrupted at {step}");
        match (at(2), at(3)) {
            (Some(first), Some(second)) => assert_eq!((first + 1, events[first].2), (second, events[second].2)),
            neither => assert_eq!((neither, are_recorded), ((None, None), false)),
        }
        assert_eq!(Cursor::of(ring.word.load(Relaxed)).level, 0);
        if fires.get() == 0 {
            assert!(are_recorded);
            return;
        }
    }
}

#[test]
fn two_firings_that_are_not_as_most_are_not_recorded_as_one() {
    let ring = ring(4, false);
    let fires = |first, second| ring.record_both((first, Timed(None, b"1")), (second, Timed(None, b"2")));
    assert!(!fires(2, 3), "the first event of a packet");
    ring.record(1, (0u64,));
    assert!(fires(2, 3));
    assert!(!fires(COMPACT_TIGHT, 3) && !fires(2, COMPACT_TIGHT), "a class without compact headers");
    assert!(!ring.record_both((2, (1u32,)), (3, (256u32,))) && !ring.record_both((2, (256u32,)), (3, (1u32,))));
    fill(ring, 11);
    assert!(!fires(2, 3), "there is room for only one");
    assert_eq!(ring.discarded(), 0);
    let last = committed(ring).into_iter().filter(|(_, id, _)| (2..4).contains(id)).collect::<Vec<_>>();
    assert!(matches!(last[..], [(0, 2, time), (0, 3, same)] if time == same));
}

#[test]
fn a_handler_may_fire_at_any_step_of_a_switch() {
    // No room, room for one of the two, room for the outer one and the first of the handler's.
    for room in [0, 5, 18, 20, 36, 40, 54] {
        interrupt_everywhere(4, false, room, 1);
        interrupt_everywhere(4, false, room, 3);
    }
}

#[test]
fn a_handler_may_fill_whole_packets() {
    let to_fill_one = (SUB_BUFFER / 400 + 5) as u16;
    for room in [0, 18, 100] {
        interrupt_everywhere(6, false, room, to_fill_one);
    }
}

#[test]
fn events_without_room_are_counted_in_the_packet() {
    interrupt_everywhere(2, false, 0, 3);
    let ring = ring(1, false);
    fill(ring, 0);
    for _ in 0..10 {
        ring.record(9, (1u64,));
    }
    assert_eq!(ring.discarded(), 10);
    assert_eq!(ring.space().header(0, Word::Discarded).load(Relaxed), 10);
}

#[test]
fn a_circle_keeps_the_newest() {
    let ring = ring(3, true);
    let text = [b'x'; 400];
    for event in 0..1000u16 {
        ring.record(event, (&text[..],));
    }
    let ids = ids(ring);
    assert!(ids.ends_with(&[998, 999]));
    assert_eq!(ids.len(), (1000 - usize::from(ids[0])));
    assert_eq!(ring.discarded(), 0);
    for room in [0, 18, 40] {
        interrupt_everywhere(3, true, room, 3);
    }
}

#[test]
fn a_circle_never_overwrites_what_is_being_written() {
    let around = (3 * SUB_BUFFER / 400 + 5) as u16;
    interrupt_everywhere(2, true, 100, around);
}

#[test]
fn an_event_has_the_time_when_it_happened_unless_it_is_too_old() {
    let ring = ring(2, false);
    ring.record(1, (0u64,));
    CLOCK.set(7);
    ring.record(2, Timed(Some(2), b""));
    ring.record(3, Timed(None, b""));
    ring.record(4, Timed(Some(7), b""));
    let times: Vec<_> = committed(ring).into_iter().map(|(_, _, time)| time).collect();
    assert_eq!(times, [1, 2, 8, 9]);
}

#[test]
fn a_ring_goes_to_another_thread_with_a_new_packet() {
    let ring = ring(3, false);
    ring.record(1, (0u64,));
    assert!(!ring.adopt(8) && !ring.abandon(8));
    assert!(ring.abandon(7));
    assert!(ring.adopt(8));
    ring.record(2, (0u64,));
    let threads = [0, 1].map(|packet| ring.space().header(packet, Word::Thread).load(Relaxed));
    assert_eq!(threads, [7, 8]);
    assert_eq!(committed(ring).iter().map(|(packet, id, _)| (*packet, *id)).collect::<Vec<_>>(), [(0, 1), (1, 2)]);
}

#[test]
fn a_ring_is_taken_once_from_a_thread_that_has_ended() {
    let ring = ring(3, false);
    ring.record(1, (0u64,));
    assert!(ring.adopt_from(7, 8));
    assert!(!ring.adopt_from(7, 9) && !ring.abandon(7), "it is 8's now");
    ring.record(2, (0u64,));
    let threads = [0, 1].map(|packet| ring.space().header(packet, Word::Thread).load(Relaxed));
    assert_eq!(threads, [7, 8]);
}

/// As after a kill: the prepared packets are still there.
#[test]
fn counts_never_go_down_in_a_file() {
    use crate::rings::mode::Mode;
    use crate::rings::ring_file::RingFile;
    use crate::rings::synthetic::{packets, place};

    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("ring");
    let (folder, name) = place(&path).unwrap();
    let ring = Ring::new(RingFile::create(&folder, name, [0; 16], 0, Mode::Stream, 1 << 20).unwrap(), 1);
    ring.adopt(1);
    let counts = || -> Vec<u64> {
        packets(&std::fs::read(&path).unwrap()).unwrap().iter().map(|packet| packet.discarded).collect()
    };
    ring.record(0, (0u64,));
    let word = ring.word.load(Relaxed);
    ring.word.store(Cursor { level: DEPTH, ..Cursor::of(word) }.word(), Relaxed);
    ring.record(0, (0u64,));
    ring.record(0, (0u64,));
    ring.word.store(word, Relaxed);
    assert_eq!(ring.discarded(), 2);
    assert!(counts().iter().all(|&count| count == 2), "{:?}", counts());
    ring.space().prepare_ahead(0, 1 << 18).unwrap();
    assert!(counts().iter().all(|&count| count == 2), "{:?}", counts());
}
