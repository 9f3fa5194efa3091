//! One thread's ring: reserving and committing space, and switching from sub-buffer to sub-buffer.
//!
//! One thread writes a ring, and signal handlers that interrupt it, which may fire probes during a firing. A handler ends before the code
//! that it interrupted continues, so firings nest. No lock and no locked instruction is needed if each change of the state is one
//! instruction. The maintenance thread reads the position; readers of the files read all committed events.
//!
//! # State
//!
//! - `word`: the **position** up to which space is reserved, in bytes since the ring began, and the **level**, the number of firings that
//!   have reserved and not committed. One word, so that both change together. The level is a **mark** in the highest byte, see [`Cursor`].
//! - a **frame** for each level: the packet that this firing holds, and where that packet ends if a nested firing has left it (`closed`).
//! - in the file, for each packet, the **content size**, its commit word: readers read up to it.
//!
//! Invariant: a packet that no frame holds is committed up to its end.
//!
//! # A firing
//!
//! 1. Read the word. If no frame is left, discard.
//! 2. If the packet has room: store the packet in the frame of this level, read the clock, and exchange the word for one with the new
//!    position and level. That fails if a handler has fired since the read: back to 1. So time never goes back: of two firings, the one
//!    that reserves later has read the clock later. A time that the call site has read is used, unless it is older than the last stored
//!    one. The event's header is compact if an event is before it in the packet, and less than 2^25 cycles have passed since the last
//!    stored time, which is never later than the time of that event.
//! 3. Store the time, and write the event. (Between 2 and 3 a handler may store a later time, which is then overwritten. A firing that
//!    compares with it has read the clock after the handler.)
//! 4. Commit, and lower the level: if an outer frame holds the same packet, that one will commit for both. Else store the content size,
//!    then exchange the word for one with the lower level. If that fails, a handler has fired since: repeat. The common firing, which
//!    goes from level 0 to 1 and back, adds to the mark instead: it is [`ALONE`], and wraps to 0, unless a handler has recorded since 2.
//!
//! Two firings of the same time may take these steps once, with the room for both events.
//!
//! # A switch, in step 2 without room
//!
//! a. Make sure that the next sub-buffer is available: it is prepared, now or before; in a circular file, no frame holds the packet that
//!    it overwrites. Else discard.
//! b. Exchange the word for the next packet's beginning, after its header, and the next level: this frame holds the packet, so no firing
//!    commits it before its header is written. If that fails: back to 1.
//! c. The previous packet ends at the old position. If frames hold it, the outermost one gets that end (`closed`), since it will commit.
//! d. Write the header, commit as in 4, and continue with 1.
//!
//! A discarded firing is counted in the packet's header, and first in the headers of the prepared packets after it. While these are
//! written, the level is at its bound, so that a handler that would enter one is discarded.

mod cas;
#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

use std::hint::black_box;
use std::ptr;

use dyntrace_metadata::checksum;
use dyntrace_metadata::event_header::{COMPACT_SIZE, EventHeader, WHOLE_SIZE};
use dyntrace_metadata::packet::{self, offset};

use super::form::{COMPACT_TIGHT, Form};
use super::payload::Payload;
use crate::primitives::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::primitives::atomic::{AtomicPtr, AtomicU64, fence};

const SUB_BUFFER: u64 = packet::SUB_BUFFER as u64;
const HEADER: u64 = packet::HEADER as u64;

/// The deepest nesting of firings.
pub const DEPTH: usize = 6;

/// The memory of a ring: the mapped file, or memory of a test. Positions never wrap; a circular file takes them modulo its size.
pub trait Space {
    /// Prepares one more sub-buffer at the position. Returns `false` if there is no space.
    fn prepare(&self, position: u64) -> bool;

    /// The number of sub-buffers of a circular file; else `u64::MAX`.
    fn circular_packets(&self) -> u64;

    /// A word of a packet's header.
    fn header(&self, packet: u64, word: Word) -> &AtomicU64;

    /// Stores the count of discarded firings in the prepared packets from the position on, and in later ones: counts never go down in a
    /// file. No firing enters these packets meanwhile.
    fn show_discarded(&self, _position: u64, _discarded: u64) {}

    /// Writes an event. `form`: the form of its arguments.
    fn put(&self, position: u64, header: EventHeader, payload: &impl Payload, form: Form);

    /// The clock's time.
    fn now(&self) -> u64;

    /// Called between steps, so that tests can fire there.
    #[inline(always)]
    fn interrupted(&self) {}
}

/// The words of a packet's header that a ring writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Word {
    ContentSize,
    PacketSize,
    Discarded,
    Sequence,
    Thread,
    Number,
    Checksum,
}

impl Word {
    /// Its offset in the packet, in bytes.
    #[inline(always)]
    pub fn offset(self) -> usize {
        match self {
            Word::ContentSize => offset::CONTENT_SIZE,
            Word::PacketSize => offset::PACKET_SIZE,
            Word::Discarded => offset::DISCARDED,
            Word::Sequence => offset::SEQUENCE,
            Word::Thread => offset::TID,
            Word::Number => offset::RING,
            Word::Checksum => offset::CHECKSUM,
        }
    }
}

#[derive(Debug)]
struct Frame {
    packet: AtomicU64,
    /// The position of the packet's end; 0 while it is the current packet.
    closed: AtomicU64,
}

/// One thread's ring. Relaxed but for the commit: the order that matters is that of one thread with its signal handlers.
#[derive(Debug)]
pub struct Ring<S> {
    word: AtomicU64,
    frames: [Frame; DEPTH],
    discarded: AtomicU64,
    /// The time of the last event, or of one before it.
    last: AtomicU64,
    /// The system's number of the thread that owns the ring; 0 for none.
    thread: AtomicU64,
    /// Its number in the session.
    number: u64,
    /// The session's previous ring. Written before other threads see this ring.
    next: AtomicPtr<Ring<S>>,
    space: S,
}

/// One more in the mark.
const MARK: u64 = 1 << 56;
/// The mark of level 1 while no handler has recorded an event since the level was raised.
const ALONE: u64 = 0xff * MARK;
/// The other marks above level 0 are this and twice the level, or one more after an addition to it that did not wrap.
const NESTED: u64 = 0x40 * MARK;

#[derive(Clone, Copy)]
struct Cursor {
    position: u64,
    level: usize,
}

impl Cursor {
    fn of(word: u64) -> Cursor {
        let level = match word & ALONE {
            0 => 0,
            ALONE => 1,
            nested => ((nested - NESTED) / (2 * MARK)) as usize,
        };
        Cursor { position: word % MARK, level }
    }

    /// A handler that lowers the level to 1 stores this word, so the mark is no longer [`ALONE`].
    #[inline]
    fn word(self) -> u64 {
        match self.level as u64 {
            0 => self.position,
            level => self.position | (NESTED + level * 2 * MARK),
        }
    }

    /// The current packet. At its very end there is none: the next one has not begun.
    #[inline]
    fn packet(self) -> u64 {
        self.position / SUB_BUFFER
    }

    /// The bytes before it in the current packet; 0 if there is none.
    #[inline]
    fn used(self) -> u64 {
        self.position % SUB_BUFFER
    }

    /// Whether the next event is the packet's first.
    #[inline]
    fn is_at_first(self) -> bool {
        self.used() == HEADER
    }

    #[inline]
    fn room(self) -> u64 {
        match self.used() {
            0 => 0,
            used => SUB_BUFFER - used,
        }
    }
}

impl<S: Space> Ring<S> {
    pub fn new(space: S, number: u64) -> Ring<S> {
        Ring {
            word: AtomicU64::new(0),
            frames: std::array::from_fn(|_| Frame { packet: AtomicU64::new(0), closed: AtomicU64::new(0) }),
            discarded: AtomicU64::new(0),
            last: AtomicU64::new(0),
            thread: AtomicU64::new(0),
            number,
            next: AtomicPtr::new(ptr::null_mut()),
            space,
        }
    }

    /// Makes the calling thread, number `thread`, the owner. It begins with a new packet. Returns `false` if the ring has an owner.
    pub fn adopt(&self, thread: u64) -> bool {
        self.adopt_from(0, thread)
    }

    /// Like [`adopt`](Self::adopt), from the thread `owner`, which has ended. Returns `false` if that is no longer the owner.
    pub fn adopt_from(&self, owner: u64, thread: u64) -> bool {
        // Acquire: with `abandon`'s Release, so that this thread sees the previous owner's writes. A thread that has ended without
        // `abandon` is ordered before the call that found it ended: the kernel's end of a thread is a full barrier.
        if self.thread.compare_exchange(owner, thread, Acquire, Relaxed).is_err() {
            return false;
        }
        let position = self.position().next_multiple_of(SUB_BUFFER);
        // Release: with `settled`.
        self.word.store(Cursor { position, level: 0 }.word(), Release);
        true
    }

    /// Releases the ring of `thread`, which does not use it or has ended. Returns `false` if that is not the owner.
    pub fn abandon(&self, thread: u64) -> bool {
        self.thread.compare_exchange(thread, 0, Release, Relaxed).is_ok()
    }

    /// Inserts this ring before `next` in the chain of a session's rings.
    #[inline]
    pub fn chain(&self, next: *mut Ring<S>) {
        self.next.store(next, Relaxed);
    }

    /// The next ring in the chain; null at the end.
    #[inline]
    pub fn next(&self) -> *mut Ring<S> {
        self.next.load(Relaxed)
    }

    /// The owner; 0 for none.
    #[inline]
    pub fn thread(&self) -> u64 {
        self.thread.load(Relaxed)
    }

    /// The position up to which space is reserved.
    #[inline]
    pub fn position(&self) -> u64 {
        Cursor::of(self.word.load(Relaxed)).position
    }

    /// The position, if no firing is in progress: everything before it is committed.
    #[inline]
    pub fn settled(&self) -> Option<u64> {
        // Acquire: with the Release of the exchange that lowers the level to 0, after the content sizes were stored.
        let state = Cursor::of(self.word.load(Acquire));
        (state.level == 0).then_some(state.position)
    }

    #[inline]
    pub fn discarded(&self) -> u64 {
        self.discarded.load(Relaxed)
    }

    #[inline]
    pub fn space(&self) -> &S {
        &self.space
    }

    /// Records one firing of the owner. `class`: the number of the event's class, of which each form has an id.
    #[inline(always)]
    pub fn record(&self, class: u16, payload: impl Payload) {
        let is_done = payload.form() == Form::Tight && self.record_common(class, &payload);
        if !is_done {
            // A copy for the call, which gets its address: the compiler would pass that of `payload`, which would then be in memory for
            // other firings, too.
            self.record_any(class, black_box(payload));
        }
    }

    /// Records two firings of the owner, the second at the time of the first, if both are common. They take the steps once. Returns `false`
    /// if it has recorded neither.
    #[cfg(any(recorded, all(test, not(loom))))]
    #[inline(always)]
    pub fn record_both(&self, first: (u16, impl Payload), second: (u16, impl Payload)) -> bool {
        let ((class, payload), (next_class, next)) = (first, second);
        let length = tight_length(&payload);
        payload.form() == Form::Tight
            && next.form() == Form::Tight
            && next_class < COMPACT_TIGHT
            && self.put_common(
                class,
                length + tight_length(&next),
                payload.time(),
                #[inline(always)]
                |position, header| {
                    self.space.put(position, header, &payload, Form::Tight);
                    self.space.interrupted();
                    let next_header =
                        EventHeader::following(Form::Tight.event_id(next_class), header.time, header.time);
                    self.space.put(position + length, next_header, &next, Form::Tight);
                },
            )
    }

    /// Records a common firing. Returns `false` if the firing is not common; then nothing is recorded.
    #[inline(always)]
    fn record_common(&self, class: u16, payload: &impl Payload) -> bool {
        self.put_common(
            class,
            tight_length(payload),
            payload.time(),
            #[inline(always)]
            |position, header| self.space.put(position, header, payload, Form::Tight),
        )
    }

    /// Reserves `length` bytes for a common firing, and has `put` write them. A firing is common if it interrupts no other firing, its class
    /// has compact headers, and the current packet has room after a recent event. Returns `false` if it has not called `put`.
    #[inline(always)]
    fn put_common(&self, class: u16, length: u64, time: Option<u64>, put: impl FnOnce(u64, EventHeader)) -> bool {
        // 1.
        let word = self.word.load(Relaxed);
        self.space.interrupted();
        let state = Cursor { position: word, level: 0 };
        let used = state.used();
        // Up to the header: there is no packet, or no event in it that a compact header may follow.
        if class >= COMPACT_TIGHT || word >= MARK || used <= HEADER || used + length > SUB_BUFFER {
            return false;
        }
        // 2.
        let packet = state.packet();
        self.hold(0, packet);
        self.space.interrupted();
        let time = self.time(time);
        let header = EventHeader::following(Form::Tight.event_id(class), time, self.last.load(Relaxed));
        self.space.interrupted();
        if !header.is_compact() || !cas::exchange(&self.word, word, (word + length) | ALONE) {
            return false;
        }
        self.space.interrupted();
        // 3.
        self.last.store(time, Relaxed);
        put(state.position, header);
        self.space.interrupted();
        // 4. If a handler has fired since 2, its events lie behind this size, and the mark does not wrap.
        // Release: as in `commit`.
        self.space.header(packet, Word::ContentSize).store((used + length) * 8, Release);
        self.space.interrupted();
        if !cas::add_wraps(&self.word, MARK) {
            self.commit_after_handlers(packet);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn commit_after_handlers(&self, packet: u64) {
        self.commit(0, packet);
    }

    /// Records any firing. By value: so the payload need not be in memory for those that are as most.
    #[cold]
    #[inline(never)]
    fn record_any(&self, class: u16, payload: impl Payload) {
        let form = payload.form();
        let (id, size) = (form.event_id(class), payload.size(form));
        let most = (WHOLE_SIZE + size) as u64;
        loop {
            // 1.
            let word = self.word.load(Relaxed);
            let state = Cursor::of(word);
            self.space.interrupted();
            if state.room() < most || state.level >= DEPTH {
                if self.make_room(word) {
                    continue;
                }
                return;
            }
            // 2.
            self.hold(state.level, state.packet());
            self.space.interrupted();
            let time = self.time(payload.time());
            let header = match state.is_at_first() {
                true => EventHeader::first(id, time),
                false => EventHeader::following(id, time, self.last.load(Relaxed)),
            };
            let reserved = Cursor { position: state.position + (header.size() + size) as u64, level: state.level + 1 };
            self.space.interrupted();
            if !cas::exchange(&self.word, word, reserved.word()) {
                continue;
            }
            self.space.interrupted();
            // 3.
            self.last.store(time, Relaxed);
            self.space.put(state.position, header, &payload, form);
            self.space.interrupted();
            self.commit(state.level, state.packet());
            return;
        }
    }

    /// The time of a firing, not before the last stored one. `read`: the time that its call site has read.
    #[inline(always)]
    fn time(&self, read: Option<u64>) -> u64 {
        match read {
            Some(read) if read >= self.last.load(Relaxed) => read,
            _ => self.space.now(),
        }
    }

    /// Stores the packet in the frame of this level. Until the word has the level, handlers use the frame, too. Then the word has changed,
    /// or they have stored the same.
    #[inline(always)]
    fn hold(&self, level: usize, packet: u64) {
        self.frames[level].packet.store(packet, Relaxed);
        self.frames[level].closed.store(0, Relaxed);
    }

    /// Step 4.
    #[inline(always)]
    fn commit(&self, level: usize, packet: u64) {
        let is_held_by_outer = self.frames[..level].iter().any(|frame| frame.packet.load(Relaxed) == packet);
        loop {
            // Acquire, for the compiler: `closed` is read after the word. If a handler closes the packet in between, the word has changed,
            // and the exchange fails.
            let word = self.word.load(Acquire);
            let state = Cursor::of(word);
            self.space.interrupted();
            if !is_held_by_outer {
                let end = match self.frames[level].closed.load(Relaxed) {
                    0 => state.position,
                    closed => closed,
                };
                let bits = (end - packet * SUB_BUFFER) * 8;
                // Release: with the Acquire load of a reader, which then sees complete events below.
                self.space.header(packet, Word::ContentSize).store(bits, Release);
                self.space.interrupted();
            }
            if cas::exchange(&self.word, word, Cursor { level, ..state }.word()) {
                return;
            }
        }
    }

    /// A switch. Returns `false` if the firing is discarded.
    #[cold]
    fn make_room(&self, word: u64) -> bool {
        let state = Cursor::of(word);
        let (level, next) = (state.level, state.position.div_ceil(SUB_BUFFER));
        // a.
        let circle = self.space.circular_packets();
        let overwrites = |frame: &Frame| frame.packet.load(Relaxed).saturating_add(circle) <= next;
        if level >= DEPTH || self.frames[..level].iter().any(overwrites) || !self.space.prepare(next * SUB_BUFFER) {
            self.discard(state);
            return false;
        }
        // b.
        self.hold(level, next);
        let begun = Cursor { position: next * SUB_BUFFER + HEADER, level: level + 1 };
        self.space.interrupted();
        if !cas::exchange(&self.word, word, begun.word()) {
            return true;
        }
        self.space.interrupted();
        // c.
        if let Some(before) = next.checked_sub(1) {
            let mut holders = self.frames[..level].iter();
            if let Some(outermost) = holders.find(|frame| frame.packet.load(Relaxed) == before) {
                outermost.closed.store(state.position, Relaxed);
            }
        }
        self.space.interrupted();
        // d.
        self.begin(next);
        self.commit(level, next);
        true
    }

    /// Writes the header of a packet. A reader that copies a circular file meanwhile sees the change by the sequence: 0, then the new one.
    #[inline]
    fn begin(&self, packet: u64) {
        let header = |word| self.space.header(packet, word);
        header(Word::Sequence).store(0, Relaxed);
        header(Word::Checksum).store(checksum::open(packet + 1), Relaxed);
        // Partners: a reader's fence between its copy and its second load of the sequence, or of the checksum.
        fence(Release);
        header(Word::ContentSize).store(HEADER * 8, Relaxed);
        self.space.interrupted();
        self.show_discarded(packet);
        header(Word::Thread).store(self.thread(), Relaxed);
        header(Word::Number).store(self.number, Relaxed);
        self.space.interrupted();
        // Release: a reader that sees this packet's size, which covers the prepared pages after it, sees its header.
        header(Word::PacketSize).store(SUB_BUFFER * 8, Release);
        header(Word::Sequence).store(packet + 1, Release);
    }

    /// Discards a firing unseen. Only when the space is at its final end: there is no prepared packet ahead.
    #[inline]
    pub fn discard_at_end(&self) {
        let discarded = cas::add_one(&self.discarded);
        self.space.interrupted();
        if let Some(last) = self.position().checked_sub(1) {
            self.show_as_discarded(last / SUB_BUFFER, discarded);
        }
    }

    #[cold]
    fn discard(&self, state: Cursor) {
        cas::add_one(&self.discarded);
        self.space.interrupted();
        if let Some(last) = state.position.checked_sub(1) {
            self.show_discarded_ahead();
            self.show_discarded(last / SUB_BUFFER);
        }
    }

    fn show_discarded_ahead(&self) {
        loop {
            let word = self.word.load(Relaxed);
            let state = Cursor::of(word);
            self.space.interrupted();
            if cas::exchange(&self.word, word, Cursor { level: DEPTH, ..state }.word()) {
                let (end, discarded) = (state.position.next_multiple_of(SUB_BUFFER), self.discarded());
                self.space.interrupted();
                self.space.show_discarded(end, discarded);
                self.space.interrupted();
                // Handlers are discarded at this level, so the word has not changed.
                // Release: with `settled`.
                self.word.store(word, Release);
                if discarded == self.discarded() {
                    return;
                }
            }
        }
    }

    /// Stores the count in a packet.
    fn show_discarded(&self, packet: u64) {
        self.show_as_discarded(packet, self.discarded());
    }

    /// Stores the count, which is `discarded` unless handlers count meanwhile. They store it, too, so an older count may follow a newer
    /// one.
    #[inline]
    fn show_as_discarded(&self, packet: u64, mut discarded: u64) {
        loop {
            self.space.interrupted();
            self.space.header(packet, Word::Discarded).store(discarded, Relaxed);
            match self.discarded() {
                same if same == discarded => return,
                newer => discarded = newer,
            }
        }
    }
}

/// The size of a tight event with a compact header.
#[inline(always)]
fn tight_length(payload: &impl Payload) -> u64 {
    (COMPACT_SIZE + payload.size(Form::Tight)) as u64
}
