//! The events of one file, in the order they were written.

use std::fmt::Display;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use crate::class::Classes;
use crate::error::Error;
use crate::event::{Event, Value};
use crate::losses::Findings;
use crate::map::MappedFile;
use crate::packet::{Checksum, Packet};
use crate::process::Process;
use crate::process_folder::ProcessFolder;
use crate::walk::{Next, PacketChecker};

/// Bytes read before their memory is released.
const RELEASED_AT_ONCE: u64 = 256 << 10;
/// Bytes before them that are released again: a kernel with large pages also maps the surroundings of a read.
const AROUND: u64 = 2 << 20;

/// A file of events.
#[derive(Debug)]
pub(crate) struct StreamFile {
    /// The folder it is in.
    pub(crate) place: Arc<ProcessFolder>,
    pub(crate) path: PathBuf,
    pub(crate) map: MappedFile,
    /// The index of its process in the trace.
    pub(crate) process: usize,
    /// Whether `map` is a copy of packets of a circular file, see [`unroll`](crate::circular::unroll).
    pub(crate) is_circular: bool,
    /// Findings of reading it to the end.
    pub(crate) found: Mutex<Findings>,
}

impl StreamFile {
    /// Returns the judge of its packets.
    pub(crate) fn checker<'t>(&'t self, process: &'t Process) -> PacketChecker<'t> {
        let checker = if self.is_circular { PacketChecker::circular } else { PacketChecker::new };
        checker(&self.map, &self.path, process)
    }

    /// Maps the current file again. As at first, it is opened in its folder, and only if it is a regular file.
    fn map_again(&self, process: &Process) -> Result<MappedFile, Error> {
        let name = self.path.file_name().unwrap_or_default();
        let opened = self.place.open()?.file(name);
        opened.and_then(|file| MappedFile::of(file, process.metadata.format)).map_err(Error::io("open", &self.path))
    }

    /// Returns whether its recorder has ended it by now, possibly after it was read.
    /// `found`: what was read.
    pub(crate) fn is_ended_now(&self, process: &Process, found: &Findings) -> bool {
        match self.map_again(process) {
            Ok(map) => {
                let checker = PacketChecker::new(&map, &self.path, process);
                let mut last: Option<Packet> = None;
                while let Some(next) = checker.next(last.map_or(0, |last| last.end), last.as_ref()).packet {
                    last = Some(next);
                }
                last.is_some_and(|last| last.checksum.is_last())
            }
            // The recorder removes files that it has not used.
            Err(Error::Io { error, .. }) => error.kind() == io::ErrorKind::NotFound && found.is_unused,
            Err(_) => false,
        }
    }

    /// Returns whether the recorder has written its last event into the file by now, possibly after it was read.
    pub(crate) fn has_end_now(&self, process: &Process) -> bool {
        let Ok(map) = self.map_again(process) else { return false };
        let now = StreamFile {
            place: Arc::clone(&self.place),
            path: self.path.clone(),
            map,
            process: self.process,
            is_circular: self.is_circular,
            found: Mutex::default(),
        };
        let mut stream = Stream::new(&now, process);
        while stream.read().is_some() {}
        stream.found.has_end
    }
}

/// A place in a file, between two events.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Position {
    /// The offset of the packet; of a circular file, the sequence.
    pub(crate) packet: u64,
    /// The offset of the next event; that of the packet before its first event. Of a circular file, the offset in the packet.
    event: u64,
    /// The time of the event before that.
    cycles: u64,
}

/// Reads a file event by event.
pub(crate) struct Stream<'t> {
    file: &'t StreamFile,
    process: &'t Process,
    checker: PacketChecker<'t>,
    packet: Option<Packet>,
    /// The classes of the packet's events.
    classes: Option<&'t Classes>,
    /// The unread rest of the packet's content.
    rest: &'t [u8],
    /// Where that ends in the file.
    rest_end: u64,
    last_cycles: u64,
    /// The position of the last event.
    last: Position,
    released: u64,
    /// The offset at which reading pauses.
    upto: u64,
    found: Findings,
    ended: bool,
}

impl<'t> Stream<'t> {
    pub(crate) fn new(file: &'t StreamFile, process: &'t Process) -> Self {
        Self {
            file,
            process,
            checker: file.checker(process),
            packet: None,
            classes: None,
            rest: &[],
            rest_end: 0,
            last_cycles: 0,
            last: Position::default(),
            released: 0,
            upto: u64::MAX,
            found: Findings::default(),
            ended: false,
        }
    }

    /// The same, up to the offset `upto`.
    pub(crate) fn upto(self, upto: u64) -> Self {
        Self { upto, ..self }
    }

    /// Goes on up to the offset `upto`.
    pub(crate) fn go_on(&mut self, upto: u64) {
        self.upto = upto;
    }

    /// The same, from `position` on.
    pub(crate) fn resume(file: &'t StreamFile, process: &'t Process, position: Position) -> Self {
        let mut stream = Self::new(file, process);
        if file.is_circular {
            stream.resume_copy(position);
        } else if position.event > 0 {
            match file.map.packet(position.packet) {
                Ok(packet) => {
                    stream.last_cycles = position.cycles;
                    stream.enter(packet, position.event);
                }
                // It was damaged meanwhile: go on at the next packet.
                Err(reason) => {
                    let next = stream.checker.next(position.packet, None);
                    stream.found.damage(position.packet, 0, reason);
                    stream.continue_at(next);
                }
            }
        }
        stream
    }

    /// The copy begins with the packet of the position, or with the oldest that the writer has not overwritten.
    fn resume_copy(&mut self, position: Position) {
        // Without a packet there is nothing new. A damaged one is found again when it is read.
        let Ok(first) = self.file.map.packet(0) else { return };
        if position.event > 0 && first.sequence == position.packet {
            self.last_cycles = position.cycles;
            self.enter(first, position.event);
        } else {
            self.found.overwritten = first.sequence.saturating_sub(position.packet.max(1));
        }
    }

    /// Returns the position of `last`, the event read last, or of the next event. `None` if no packet was read.
    pub(crate) fn position(&self, last: Option<&Event<'t>>) -> Option<Position> {
        let packet = self.packet?;
        let next = Position { packet: packet.offset, event: self.offset(), cycles: self.last_cycles };
        let position = last.map_or(next, |_| self.last);
        Some(match self.file.is_circular {
            true => Position { packet: packet.sequence, event: position.event - packet.offset, ..position },
            false => position,
        })
    }

    /// Returns the number of packets of a circular file that the writer overwrote before they were read.
    pub(crate) fn overwritten(&self) -> u64 {
        self.found.overwritten
    }

    /// Returns the number of bytes read.
    pub(crate) fn offset(&self) -> u64 {
        self.rest_end - self.rest.len() as u64
    }

    /// Returns the offset of the event that was read last.
    pub(crate) fn last_offset(&self) -> u64 {
        self.last.event
    }

    /// Returns the next event; `None` at the end and in every later call, and at the offset where it pauses. Skips damaged places.
    #[inline]
    pub(crate) fn read(&mut self) -> Option<Event<'t>> {
        loop {
            while self.rest.is_empty() {
                if self.ended || !self.next_packet() {
                    return None;
                }
            }
            let (packet, classes) = (self.packet?, self.classes?);
            let format = &self.process.metadata.format;
            let Some((header, id, cycles)) = format.event_header(self.rest, self.last_cycles) else {
                self.cut();
                continue;
            };
            let data = &self.rest[header..];
            let Some((class, layout)) = classes.get(id) else {
                self.skip_rest(format!("the metadata knows no event {id} of stream {}", packet.stream_id));
                continue;
            };
            let Some(length) = layout.measure(data) else {
                self.cut();
                continue;
            };
            if cycles < self.last_cycles && self.goes_back(self.last_cycles - cycles) {
                continue;
            }
            self.last = Position { packet: packet.offset, event: self.offset(), cycles: self.last_cycles };
            self.last_cycles = cycles;
            let (data, rest) = data.split_at(length);
            self.rest = rest;
            let event = Event {
                time: self.process.clock.time(cycles),
                process: self.process,
                tid: packet.tid,
                class,
                layout,
                data,
            };
            if packet.stream_id != 0 {
                self.note(&event);
            }
            return Some(event);
        }
    }

    /// Notes that time goes back. Returns whether the event is damaged: it is if time goes back by more than a second in a
    /// packet without a checksum.
    #[cold]
    fn goes_back(&mut self, back: u64) -> bool {
        let is_open = self.packet.is_some_and(|packet| matches!(packet.checksum, Checksum::Open(_)));
        if is_open && back > self.process.clock.frequency {
            self.skip_rest(format!("time goes back by {back} cycles"));
            return true;
        }
        self.found.damage(self.offset(), 0, format!("time goes back by {back} cycles; no event is missing"));
        false
    }

    /// Notes losses that the recorder reported, and its end.
    #[cold]
    fn note(&mut self, event: &Event<'t>) {
        if event.class.name == "recorder:lost"
            && let (Some(Value::Unsigned(count)), Some(Value::Text(reason))) =
                (event.field("count"), event.field("reason"))
        {
            self.found.lost(count, &reason);
        }
        if event.class.name == "recorder:end" {
            self.found.has_end = true;
        }
    }

    /// Notes an incomplete event: the file is cut there, or damaged.
    #[cold]
    fn cut(&mut self) {
        let length = self.file.map.length();
        match self.packet.map_or(0, |packet| packet.content_end) {
            end if end > length => {
                let cut = length.saturating_sub(self.offset());
                self.found.damage(self.offset(), cut, self.missing("the file is cut within an event"));
                self.finish();
            }
            end if end > self.rest_end => self.miss(end),
            _ => self.skip_rest("an event extends past the end of its packet"),
        }
    }

    /// The content goes on up to `end`, where the file had only prepared packets when it was opened. If it was written since, it is
    /// not damaged, only not mapped. If it is still missing, it was lost.
    #[cold]
    fn miss(&mut self, end: u64) {
        let now = self.file.map_again(self.process);
        if now.is_ok_and(|map| map.length() == self.file.map.length() && map.written() < end) {
            let offset = self.offset();
            self.found.damage(offset, end - offset, self.missing("the end of this packet's content is missing"));
        }
        self.finish();
    }

    /// The reason, and the thread of the packet, of which events are missing.
    fn missing(&self, reason: impl Display) -> String {
        let thread = self.packet.map(|packet| format!("; events of thread {} may be missing", packet.tid));
        format!("{reason}{}", thread.unwrap_or_default())
    }

    /// Skips the rest of the packet.
    #[cold]
    fn skip_rest(&mut self, reason: impl Display) {
        let offset = self.offset();
        self.found.damage(offset, self.rest.len() as u64, self.missing(reason));
        self.rest = &[];
    }

    /// Goes on to events committed meanwhile in this packet, or to the next packet. Returns false at the end, and where reading pauses.
    #[cold]
    fn next_packet(&mut self) -> bool {
        if self.offset() >= self.upto {
            return false;
        }
        let offset = self.packet.map_or(0, |packet| packet.end);
        if offset > self.file.map.length() {
            let reason = format!("the file is cut within the packet before, which ends at {offset}");
            self.found.damage(self.file.map.length(), 0, reason);
            self.finish();
            return false;
        }
        let next = self.checker.next(offset, self.packet.as_ref());
        // The writer may have committed more events in this packet before it entered the next.
        if let Some(packet) = self.packet
            && let Ok(again) = self.file.map.packet(packet.offset)
        {
            self.found.discarded = again.discarded;
            self.found.last = Some(again.checksum);
            if again.content_end.min(self.file.map.written()) > self.rest_end {
                match self.checker.wrong(&again) {
                    None => {
                        self.enter(again, self.rest_end);
                        return true;
                    }
                    Some(reason) => {
                        self.found.damage(again.offset, again.end - again.offset, self.missing(reason));
                    }
                }
            } else if again.content_end > self.rest_end && next.packet.is_none() {
                self.miss(again.content_end);
                return false;
            }
        }
        self.continue_at(next)
    }

    /// Goes to the next packet and notes the damage before it. Returns false if there is none.
    fn continue_at(&mut self, Next { packet, gap }: Next) -> bool {
        if let Some(gap) = gap {
            self.found.damage(gap.offset, gap.bytes, gap.reason);
        }
        match packet {
            Some(packet) => self.enter(packet, packet.offset + self.process.metadata.format.header() as u64),
            None => self.finish(),
        }
        !self.ended
    }

    /// Starts reading `packet` at the event at `from`.
    fn enter(&mut self, packet: Packet, from: u64) {
        let end = packet.content_end.min(self.file.map.written()).min(self.upto);
        if packet.offset >= self.released + RELEASED_AT_ONCE {
            // The page before may still hold the last event.
            self.file.map.release(self.released.saturating_sub(AROUND), packet.offset);
            self.released = packet.offset;
        }
        self.classes = self.process.classes_of(packet.stream_id);
        self.rest = self.file.map.bytes().get(from as usize..end as usize).unwrap_or_default();
        (self.found.discarded, self.found.last) = (packet.discarded, Some(packet.checksum));
        (self.packet, self.rest_end) = (Some(packet), end.max(from));
    }

    /// Ends, and stores the findings in the file.
    fn finish(&mut self) {
        (self.ended, self.rest_end, self.rest) = (true, self.offset(), &[]);
        (self.found.is_read, self.found.ring) = (true, self.checker.ring());
        self.found.is_unused = self.last.event == 0 && self.found.discarded == 0;
        *self.file.found.lock().unwrap_or_else(PoisonError::into_inner) = self.found.clone();
    }
}
