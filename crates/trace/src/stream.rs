//! The events of one file, in the order they were written.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::class::Classes;
use crate::event::{Event, Value};
use crate::losses::Found;
use crate::map::Map;
use crate::packet::{HEADER, Packet};
use crate::process::Process;

/// How much is read before the memory of what was read is let go.
const RELEASED_AT_ONCE: u64 = 256 << 10;
/// How far back memory is let go again: a kernel that has large pages maps what is around a place too.
const AROUND: u64 = 2 << 20;

/// The length of an event's id and time.
pub(crate) const EVENT_HEADER: usize = 10;

/// A file of events.
#[derive(Debug)]
pub(crate) struct StreamFile {
    pub(crate) path: PathBuf,
    pub(crate) map: Map,
    /// The number of its process in the trace.
    pub(crate) process: usize,
    /// What reading it to the end found.
    pub(crate) found: Mutex<Found>,
}

/// A place in a file, between two events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    /// Where the packet begins.
    packet: u64,
    /// Where the next event begins; the packet's beginning before its first event.
    event: u64,
}

/// Reads a file event by event.
pub(crate) struct Stream<'t> {
    file: &'t StreamFile,
    process: &'t Process,
    packet: Option<Packet>,
    /// The classes of the packet's events.
    classes: Option<&'t Classes>,
    /// What is left of the packet's content.
    rest: &'t [u8],
    /// Where that ends in the file.
    rest_end: u64,
    last_cycles: u64,
    released: u64,
    found: Found,
    ended: bool,
}

impl<'t> Stream<'t> {
    pub(crate) fn new(file: &'t StreamFile, process: &'t Process) -> Self {
        Self {
            file,
            process,
            packet: None,
            classes: None,
            rest: &[],
            rest_end: 0,
            last_cycles: 0,
            released: 0,
            found: Found::default(),
            ended: false,
        }
    }

    /// The same, from `position` on.
    pub(crate) fn resume(file: &'t StreamFile, process: &'t Process, position: Position) -> Self {
        let mut stream = Self::new(file, process);
        if position.event > 0 {
            match file.map.packet(position.packet) {
                Ok(packet) => stream.enter(packet, position.event),
                Err(reason) => stream.end(position.packet, reason),
            }
        }
        stream
    }

    /// Where the next event begins, or `last` if that was the last one read.
    pub(crate) fn position(&self, last: Option<&Event<'t>>) -> Position {
        let back = last.map_or(0, |event| EVENT_HEADER + event.data.len());
        match &self.packet {
            Some(packet) => Position { packet: packet.offset, event: self.offset() - back as u64 },
            None => Position::default(),
        }
    }

    /// How many bytes of the file have been read.
    pub(crate) fn offset(&self) -> u64 {
        self.rest_end - self.rest.len() as u64
    }

    /// How many bytes of the file there are to read.
    pub(crate) fn limit(&self) -> u64 {
        self.file.map.written()
    }

    /// The next event; `None` for ever at the end or the first damaged place.
    #[inline]
    pub(crate) fn read(&mut self) -> Option<Event<'t>> {
        while self.rest.is_empty() {
            if self.ended || !self.next_packet() {
                return None;
            }
        }
        let (packet, classes) = (self.packet?, self.classes?);
        let order = self.process.metadata.format.byte_order;
        let Some((&[id0, id1, ref time @ ..], data)) = self.rest.split_first_chunk::<EVENT_HEADER>() else {
            return self.cut();
        };
        let id = order.u16([id0, id1]);
        let Some(class) = classes.get(id) else {
            self.end(self.offset(), format!("the metadata knows no event {id} of stream {}", packet.stream_id));
            return None;
        };
        let Some(length) = class.measure(data) else { return self.cut() };
        let cycles = order.u64(*time);
        if cycles < self.last_cycles {
            let back = self.last_cycles - cycles;
            self.found.damage(self.offset(), format!("time goes back by {back} cycles; nothing is missing for that"));
        }
        self.last_cycles = cycles;
        let (data, rest) = data.split_at(length);
        self.rest = rest;
        let event =
            Event { time: self.process.clock.time(cycles), process: self.process, tid: packet.tid, class, data };
        if packet.stream_id != 0 {
            self.note(&event);
        }
        Some(event)
    }

    /// What the recorder says it lost.
    #[cold]
    fn note(&mut self, event: &Event<'t>) {
        if event.class.name == "recorder:lost"
            && let (Some(Value::Unsigned(count)), Some(Value::Text(reason))) =
                (event.field("count"), event.field("reason"))
        {
            self.found.lost(count, reason);
        }
    }

    /// An event is not whole: the file is cut there, or its bytes are not what they were.
    #[cold]
    fn cut(&mut self) -> Option<Event<'t>> {
        let length = self.file.map.length();
        match self.packet.map_or(0, |packet| packet.content_end) {
            // Written after the file was opened: not seen yet, and not damaged.
            end if end > self.rest_end && end <= length => self.finish(),
            end if end > length => self.end(self.offset(), "the file is cut within an event"),
            _ => self.end(self.offset(), "an event goes on behind the end of its packet"),
        }
        None
    }

    /// Goes on to what was committed since in this packet, or to the next packet. False at the end.
    #[cold]
    fn next_packet(&mut self) -> bool {
        let mut offset = self.packet.map_or(0, |packet| packet.end);
        if offset > self.file.map.length() {
            self.end(
                self.file.map.length(),
                format!("the file is cut within the packet before, which ends at {offset}"),
            );
            return false;
        }
        let next = loop {
            if offset >= self.file.map.written() {
                break None;
            }
            match self.file.map.packet(offset) {
                Ok(packet) if packet.is_prepared() => offset = packet.end,
                Ok(packet) => break Some(packet),
                Err(reason) => {
                    self.end(offset, reason);
                    return false;
                }
            }
        };
        // A writer that is at work may have gone on in this packet before it entered the next.
        if let Some(packet) = self.packet
            && let Ok(again) = self.file.map.packet(packet.offset)
        {
            self.found.discarded = again.discarded;
            if again.content_end.min(self.file.map.written()) > self.rest_end {
                self.enter(again, self.rest_end);
                return !self.ended;
            }
        }
        let Some(next) = next else {
            self.finish();
            return false;
        };
        if let Some(packet) = self.packet
            && packet.sequence.wrapping_add(1) != next.sequence
        {
            let (from, to) = (packet.sequence, next.sequence);
            self.found.damage(next.offset, format!("packet {to} follows packet {from}: what was between is missing"));
        }
        self.enter(next, next.offset + HEADER as u64);
        !self.ended
    }

    /// Takes `packet` up, from the event at `from` on.
    fn enter(&mut self, packet: Packet, from: u64) {
        let end = packet.content_end.min(self.file.map.written());
        let Some(content) = self.file.map.bytes().get(from as usize..end as usize) else {
            return self.end(packet.offset, "a packet's content ends before its beginning");
        };
        self.classes = self.process.classes_of(packet.stream_id);
        if self.classes.is_none() {
            return self.end(packet.offset, format!("the metadata knows no stream {}", packet.stream_id));
        }
        if packet.offset >= self.released + RELEASED_AT_ONCE {
            // The page before may still be that of the last event.
            self.file.map.release(self.released.saturating_sub(AROUND), packet.offset);
            self.released = packet.offset;
        }
        self.found.discarded = packet.discarded;
        (self.packet, self.rest, self.rest_end) = (Some(packet), content, end);
    }

    /// Ends at a damaged place.
    #[cold]
    fn end(&mut self, offset: u64, reason: impl Into<String>) {
        self.found.damage(offset, reason);
        self.finish();
    }

    /// Ends, and leaves what was found with the file.
    fn finish(&mut self) {
        (self.ended, self.rest_end, self.rest) = (true, self.offset(), &[]);
        *self.file.found.lock().unwrap_or_else(PoisonError::into_inner) = self.found.clone();
    }
}
