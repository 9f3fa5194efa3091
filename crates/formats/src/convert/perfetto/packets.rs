//! The file: packets of one sequence, in groups that are compressed.
//!
//! A timestamp counts from that of the packet before, which takes two bytes instead of nine. Operations are drawn when they end, so
//! events wait here until many later ones have come, and leave by time. An event that comes even later has its whole time.

use std::collections::BTreeMap;
use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use prost::Message as _;

use super::message::{self, Clock, ClockSnapshot, Data, TracePacket, TracePacketDefaults, TrackEvent};
use super::slices::At;
use super::strings::Strings;
use super::tracks::Tracks;

/// Numbers of clocks. With a snapshot of the first two, the viewer shows the time of day. The third is the sequence's own.
const REALTIME: u32 = 1;
const BOOTTIME: u32 = 6;
const SINCE_PACKET: u32 = 64;

/// How many packets are compressed and written at once.
const AT_ONCE: usize = 8192;

/// How many events wait to be put in order.
const WAITING: usize = 1 << 15;

pub struct Packets<W> {
    file: W,
    ready: message::Trace,
    pub strings: Strings,
    /// By time, and by arrival for equal times: Perfetto keeps the order in the file then.
    waiting: BTreeMap<(i64, u64), TrackEvent>,
    /// How many events came.
    came: u64,
    /// The time of the last packet in order.
    time: i64,
}

impl<W: Write> Packets<W> {
    pub fn new(file: W) -> Packets<W> {
        let (ready, strings) = (message::Trace::default(), Strings::default());
        Packets { file, ready, strings, waiting: BTreeMap::new(), came: 0, time: 0 }
    }

    /// Begins the sequence, or begins it anew: earlier strings are forgotten.
    pub fn begin(&mut self, time: i64) {
        self.time = self.time.max(time);
        let timestamp = Some(self.time.cast_unsigned());
        let clock = |id| Clock { clock_id: Some(id), timestamp, is_incremental: (id == SINCE_PACKET).then_some(true) };
        let clocks = [REALTIME, BOOTTIME, SINCE_PACKET].map(clock).into();
        self.push(TracePacket {
            timestamp,
            timestamp_clock_id: Some(BOOTTIME),
            sequence_flags: Some(message::STATE_CLEARED),
            trace_packet_defaults: Some(TracePacketDefaults { timestamp_clock_id: Some(SINCE_PACKET) }),
            data: Some(Data::ClockSnapshot(ClockSnapshot { clocks })),
            ..TracePacket::default()
        });
    }

    /// Drains both: the new tracks first, then the events.
    pub fn write(&mut self, tracks: &mut Tracks<'_>, events: &mut Vec<At>) -> io::Result<()> {
        for descriptor in tracks.made.drain(..) {
            self.push(TracePacket { data: Some(Data::TrackDescriptor(descriptor)), ..TracePacket::default() });
        }
        for (time, event) in events.drain(..) {
            self.waiting.insert((time.max(0), self.came), event);
            self.came += 1;
        }
        self.release(WAITING);
        if self.strings.are_many() {
            self.release(0);
            self.strings = Strings::default();
            self.begin(self.time);
        }
        if self.ready.packet.len() >= AT_ONCE { self.flush() } else { Ok(()) }
    }

    /// Makes packets of all waiting events but `rest`.
    fn release(&mut self, rest: usize) {
        while self.waiting.len() > rest {
            let Some(((time, _), event)) = self.waiting.pop_first() else { return };
            let is_late = time < self.time;
            let timestamp = if is_late { time } else { time - self.time };
            self.time = self.time.max(time);
            let interned_data = self.strings.take_new();
            self.push(TracePacket {
                timestamp: Some(timestamp.cast_unsigned()),
                timestamp_clock_id: is_late.then_some(BOOTTIME),
                sequence_flags: Some(message::NEEDS_STATE),
                interned_data,
                data: Some(Data::TrackEvent(event)),
                ..TracePacket::default()
            });
        }
    }

    fn push(&mut self, packet: TracePacket) {
        self.ready.packet.push(TracePacket { trusted_packet_sequence_id: Some(1), ..packet });
    }

    /// Concatenated messages are read as one message with the packets of all.
    fn flush(&mut self) -> io::Result<()> {
        let packets = std::mem::take(&mut self.ready).encode_to_vec();
        let mut compressed = ZlibEncoder::new(Vec::new(), Compression::fast());
        compressed.write_all(&packets)?;
        let data = Some(Data::CompressedPackets(compressed.finish()?));
        let group = message::Trace { packet: vec![TracePacket { data, ..TracePacket::default() }] };
        self.file.write_all(&group.encode_to_vec())
    }

    pub fn finish(mut self) -> io::Result<W> {
        self.release(0);
        self.flush()?;
        self.file.flush()?;
        Ok(self.file)
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{EventType, TrackDescriptor};
    use super::super::read::{Packet, read};
    use super::*;

    #[test]
    fn more_strings_than_are_remembered_and_an_event_that_is_late() {
        const EVENTS: i64 = 80_000;
        let mut file = Vec::new();
        let mut packets = Packets::new(&mut file);
        let mut tracks = Tracks::default();
        tracks.made.push(TrackDescriptor { uuid: Some(1), ..TrackDescriptor::default() });
        packets.begin(1000);
        // Two events change places each time; the last of all comes too late.
        let times: Vec<i64> = (0..EVENTS).map(|i| 1000 + (i ^ 1)).chain([1000]).collect();
        for &time in &times {
            let event = TrackEvent {
                r#type: Some(EventType::Instant.into()),
                track_uuid: Some(1),
                name_iid: Some(packets.strings.event_name("here")),
                debug_annotations: vec![packets.strings.text("time", time.to_string().as_bytes())],
                ..TrackEvent::default()
            };
            packets.write(&mut tracks, &mut vec![(time, event)]).unwrap();
        }
        packets.finish().unwrap();
        let mut found = Vec::new();
        for packet in read(&file) {
            let Packet::Event(event) = packet else { continue };
            assert_eq!((event.name.as_str(), &event.annotations["time"]), ("here", &event.time.to_string()));
            found.push(event.time.cast_signed());
        }
        assert!(!found.is_sorted(), "one came too late to be put in order");
        found.sort_unstable();
        assert!(found.into_iter().eq([1000].into_iter().chain((0..EVENTS).map(|i| 1000 + i))));
    }
}
