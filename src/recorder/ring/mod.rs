//! One thread's ring: how space is reserved, committed, and switched from sub-buffer to sub-buffer.
//!
//! A ring is written by one thread, and by the signal handlers that interrupt it, which may fire probes in the middle of a
//! firing. Handlers end before what they interrupted goes on: so firings nest, and no lock and no locked instruction is
//! needed, if each change of the state is one instruction. Others read: the maintenance thread the position, readers of the
//! files everything that is committed.
//!
//! # State
//!
//! - `word`: the **position** up to which space is reserved, in bytes since the ring began, and the **level**, the number of
//!   firings that have reserved and not committed. One word, so that both change at once.
//! - a **frame** for each level: the packet that this firing holds, and where that packet ends if a nested firing has left
//!   it meanwhile (`closed`).
//! - in the file, for each packet, the **content size**, its commit word: what readers may read.
//!
//! Invariant: a packet that no frame holds is committed up to its end.
//!
//! # A firing
//!
//! 1. Read the word. No frame left: discard.
//! 2. Room in the packet: note the packet in the frame of this level, read the clock, and exchange the word for one that is
//!    further and a level higher. It fails if a handler fired since the read: back to 1. So time never goes back: of two
//!    firings, the one that reserves later has read the clock later. Who fires may have read it before: that time is taken unless
//!    it is older than the one that was last written down.
//! 3. Write the time down, and the event. (Between 2 and 3 a handler may write down a later one, which is lost then. Whoever
//!    compares with what is left has read the clock after the handler.)
//! 4. Commit, and drop the level: if an outer frame holds the same packet, it will commit for all. Else store the content
//!    size, then exchange the word for one that is a level lower; if that fails, a handler has fired since: again.
//!
//! # A switch, in step 2 where there is no room
//!
//! a. See that the next sub-buffer can be had: it is prepared, or gets prepared now; in a circle, no frame holds what would
//!    be overwritten. Else discard.
//! b. Exchange the word for the next packet's beginning, behind its header, a level higher: this frame holds the packet, so
//!    nobody commits it before its header is written. If it fails: back to 1.
//! c. The packet before ends where the position was. If frames hold it, the outermost is told (`closed`), for it will commit.
//! d. Write the header, commit as in 4, and go on with 1.
//!
//! A discarded firing is counted in the packet's header, and before that in those of the prepared packets behind it. While
//! these are written, the level is raised to its bound: a handler that would enter one is discarded instead.

mod cas;
#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

use std::ptr;

use super::checksum;
use super::layout;
use super::payload::Payload;
use crate::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use crate::sync::atomic::{AtomicPtr, AtomicU64, fence};

const SUB_BUFFER: u64 = layout::SUB_BUFFER as u64;
const HEADER: u64 = layout::HEADER as u64;

/// How deep firings may nest.
pub(super) const DEPTH: usize = 6;

/// Bytes of an event before its arguments: id and time.
const EVENT_HEADER: usize = 2 + 8;

/// Where packets are written: the mapped file, or memory of a test. Positions grow for ever; a circle takes them modulo its
/// size.
pub(super) trait Space {
    /// Makes the space from the position on usable for one more sub-buffer. `false` if there is none to be had.
    fn prepare(&self, position: u64) -> bool;

    /// For a circle, how many sub-buffers it has; else `u64::MAX`.
    fn circle(&self) -> u64;

    /// A word of a packet's header.
    fn header(&self, packet: u64, word: Word) -> &AtomicU64;

    /// Makes the prepared packets from the position on, and those to come, show the count of discarded firings: counts
    /// never go down in a file. No firing enters them meanwhile.
    fn show_discarded(&self, _position: u64, _discarded: u64) {}

    /// Writes an event.
    fn put(&self, position: u64, id: u16, time: u64, payload: &impl Payload);

    /// The clock.
    fn now(&self) -> u64;

    /// Called between any two steps, for tests that fire there.
    #[inline(always)]
    fn interrupted(&self) {}
}

/// The words of a packet's header that a ring writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Word {
    ContentSize,
    PacketSize,
    Discarded,
    Sequence,
    Thread,
    Number,
    Checksum,
}

#[derive(Debug)]
struct Frame {
    packet: AtomicU64,
    /// The position of the packet's end; 0 while it is the current one.
    closed: AtomicU64,
}

/// One thread's ring. Relaxed throughout, but for the commit: the orders that matter are those of one thread with itself.
#[derive(Debug)]
pub(super) struct Ring<S> {
    word: AtomicU64,
    frames: [Frame; DEPTH],
    discarded: AtomicU64,
    /// The time of the last event.
    last: AtomicU64,
    /// The thread that has it, by its number in the system; 0 for none.
    thread: AtomicU64,
    /// Tells it from the other rings of its session.
    number: u64,
    /// The session's ring made before this one. Written before other threads can see this ring.
    next: AtomicPtr<Ring<S>>,
    space: S,
}

#[derive(Clone, Copy)]
struct State {
    position: u64,
    level: usize,
}

impl State {
    fn of(word: u64) -> State {
        State { position: word >> 8, level: (word & 0xff) as usize }
    }

    fn word(self) -> u64 {
        self.position << 8 | self.level as u64
    }

    /// The packet that is written to. At its very end there is none: the next one has not begun.
    fn packet(self) -> u64 {
        self.position / SUB_BUFFER
    }

    fn room(self) -> u64 {
        match self.position % SUB_BUFFER {
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

    /// Makes the ring the calling thread's, which begins with a new packet. `false` if it is another's.
    pub fn adopt(&self, thread: u64) -> bool {
        self.adopt_from(0, thread)
    }

    /// As `adopt`, but takes the ring from the thread `owner`, which has ended. `false` if the ring is no longer that thread's.
    pub fn adopt_from(&self, owner: u64, thread: u64) -> bool {
        // Acquire: with `abandon`'s Release, so that this thread goes on where the other one ended. A thread that has ended
        // without `abandon` is ordered before the call that found it ended: the kernel's end of a thread is a full barrier.
        if self.thread.compare_exchange(owner, thread, Acquire, Relaxed).is_err() {
            return false;
        }
        let position = self.position().next_multiple_of(SUB_BUFFER);
        // Release: with `settled`.
        self.word.store(State { position, level: 0 }.word(), Release);
        true
    }

    /// Takes the ring from `thread`, which does not want it or has ended. `false` if the ring is another thread's.
    pub fn abandon(&self, thread: u64) -> bool {
        self.thread.compare_exchange(thread, 0, Release, Relaxed).is_ok()
    }

    /// Puts this ring in front of `next` in the chain of a session's rings.
    pub fn chain(&self, next: *mut Ring<S>) {
        self.next.store(next, Relaxed);
    }

    /// The ring behind this one in the chain; null at the end.
    pub fn next(&self) -> *mut Ring<S> {
        self.next.load(Relaxed)
    }

    /// The thread that has it, 0 for none.
    pub fn thread(&self) -> u64 {
        self.thread.load(Relaxed)
    }

    /// Up to where space is reserved.
    pub fn position(&self) -> u64 {
        State::of(self.word.load(Relaxed)).position
    }

    /// The position, if no firing is under way: everything before it is committed.
    pub fn settled(&self) -> Option<u64> {
        // Acquire: with the Release of the exchange that drops the level to 0. The content sizes stored before it are seen.
        let state = State::of(self.word.load(Acquire));
        (state.level == 0).then_some(state.position)
    }

    pub fn discarded(&self) -> u64 {
        self.discarded.load(Relaxed)
    }

    pub fn space(&self) -> &S {
        &self.space
    }

    /// Records one firing of the thread that has the ring.
    #[inline]
    pub fn record(&self, id: u16, payload: &impl Payload) {
        let size = (EVENT_HEADER + payload.size()) as u64;
        loop {
            // 1.
            let state = State::of(self.word.load(Relaxed));
            self.space.interrupted();
            if state.room() < size || state.level >= DEPTH {
                if self.make_room(state) {
                    continue;
                }
                return;
            }
            // 2.
            self.hold(state.level, state.packet());
            self.space.interrupted();
            let time = match payload.time() {
                Some(read) if read >= self.last.load(Relaxed) => read,
                _ => self.space.now(),
            };
            let reserved = State { position: state.position + size, level: state.level + 1 };
            self.space.interrupted();
            if !cas::exchange(&self.word, state.word(), reserved.word()) {
                continue;
            }
            self.space.interrupted();
            // 3.
            self.last.store(time, Relaxed);
            self.space.put(state.position, id, time, payload);
            self.space.interrupted();
            self.commit(state.level, state.packet());
            return;
        }
    }

    /// The frame of this level is for a firing that is to hold the packet. Until the word says so, handlers use it, too; then
    /// the word has changed or they have left the same in it.
    #[inline(always)]
    fn hold(&self, level: usize, packet: u64) {
        self.frames[level].packet.store(packet, Relaxed);
        self.frames[level].closed.store(0, Relaxed);
    }

    /// Step 4.
    #[inline(always)]
    fn commit(&self, level: usize, packet: u64) {
        let held_by_an_outer_one = self.frames[..level].iter().any(|frame| frame.packet.load(Relaxed) == packet);
        loop {
            // Acquire, for the compiler: `closed` is read after the word. If a handler closes the packet in between, the word has
            // changed, and the exchange fails.
            let state = State::of(self.word.load(Acquire));
            self.space.interrupted();
            if !held_by_an_outer_one {
                let end = match self.frames[level].closed.load(Relaxed) {
                    0 => state.position,
                    closed => closed,
                };
                let bits = (end - packet * SUB_BUFFER) * 8;
                // Release: with the Acquire load of a reader, what lies below is whole.
                self.space.header(packet, Word::ContentSize).store(bits, Release);
                self.space.interrupted();
            }
            if cas::exchange(&self.word, state.word(), State { level, ..state }.word()) {
                return;
            }
        }
    }

    /// A switch. `false`: the firing is discarded.
    #[cold]
    fn make_room(&self, state: State) -> bool {
        let (level, next) = (state.level, state.position.div_ceil(SUB_BUFFER));
        // a.
        let circle = self.space.circle();
        let overwrites = |frame: &Frame| frame.packet.load(Relaxed).saturating_add(circle) <= next;
        if level >= DEPTH || self.frames[..level].iter().any(overwrites) || !self.space.prepare(next * SUB_BUFFER) {
            self.discard(state);
            return false;
        }
        // b.
        self.hold(level, next);
        let begun = State { position: next * SUB_BUFFER + HEADER, level: level + 1 };
        self.space.interrupted();
        if !cas::exchange(&self.word, state.word(), begun.word()) {
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

    /// Writes the header of a packet. A reader that copies a circle meanwhile sees by the sequence that the packet has
    /// changed: 0, then the new one.
    fn begin(&self, packet: u64) {
        let header = |word| self.space.header(packet, word);
        header(Word::Sequence).store(0, Relaxed);
        header(Word::Checksum).store(checksum::open(packet + 1), Relaxed);
        // Partners: a reader's fence between its copy and its second look at the sequence, or at the checksum.
        fence(Release);
        header(Word::ContentSize).store(HEADER * 8, Relaxed);
        self.space.interrupted();
        self.show_discarded(packet);
        header(Word::Thread).store(self.thread(), Relaxed);
        header(Word::Number).store(self.number, Relaxed);
        self.space.interrupted();
        // Release: a reader that sees this packet's size, which swallows the prepared pages behind it, sees its header.
        header(Word::PacketSize).store(SUB_BUFFER * 8, Release);
        header(Word::Sequence).store(packet + 1, Release);
    }

    /// Discards a firing without a look at it. Only where the space is at its end for good: no packet is ahead.
    #[inline]
    pub fn discard_at_end(&self) {
        let discarded = cas::add_one(&self.discarded);
        self.space.interrupted();
        if let Some(last) = self.position().checked_sub(1) {
            self.show_as_discarded(last / SUB_BUFFER, discarded);
        }
    }

    #[cold]
    fn discard(&self, state: State) {
        cas::add_one(&self.discarded);
        self.space.interrupted();
        if let Some(last) = state.position.checked_sub(1) {
            self.show_discarded_ahead();
            self.show_discarded(last / SUB_BUFFER);
        }
    }

    fn show_discarded_ahead(&self) {
        loop {
            let state = State::of(self.word.load(Relaxed));
            self.space.interrupted();
            if cas::exchange(&self.word, state.word(), State { level: DEPTH, ..state }.word()) {
                let (end, discarded) = (state.position.next_multiple_of(SUB_BUFFER), self.discarded());
                self.space.interrupted();
                self.space.show_discarded(end, discarded);
                self.space.interrupted();
                // Handlers are discarded at this level, so the word is as it was left here.
                // Release: with `settled`.
                self.word.store(state.word(), Release);
                if discarded == self.discarded() {
                    return;
                }
            }
        }
    }

    /// Shows the count in a packet.
    fn show_discarded(&self, packet: u64) {
        self.show_as_discarded(packet, self.discarded());
    }

    /// Shows the count, which is `discarded` unless handlers count on. They show it, too, so an older count may follow a newer one.
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
