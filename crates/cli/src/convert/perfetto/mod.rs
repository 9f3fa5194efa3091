//! Traces for Perfetto's viewer and trace processor.

mod message;
mod slices;
mod tracks;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use dyntrace_reader::{Event, FileOperation, FileOperations, Trace, Value};
use prost::Message as _;

use crate::token::Token;
use crate::{private, recording};
use message::{Clock, ClockSnapshot, Data, EventType, TracePacket, TrackEvent};
use slices::At;
use tracks::{Owner, Tracks};

/// Numbers of clocks. Timestamps are of BOOTTIME by default; with a snapshot of both clocks, the viewer shows the time of day.
const REALTIME: u32 = 1;
const BOOTTIME: u32 = 6;

/// How many packets are written at once.
const AT_ONCE: usize = 4096;

pub fn convert(trace: &Trace, output: &Path) -> io::Result<()> {
    let mut writer =
        Writer { file: BufWriter::new(private::create(output, private::mode(trace))?), packets: Vec::new() };
    let mut operations = FileOperations::default();
    let mut tracks = Tracks::default();
    let mut events = Vec::new();
    for (index, event) in recording::events(trace).enumerate() {
        if index == 0 {
            writer.clocks(event.time);
        }
        match operations.push(&event) {
            Some(operation) => draw(&operation, &mut tracks, &mut events),
            None => mark(&event, &mut tracks, &mut events),
        }
        writer.write(&mut tracks, &mut events)?;
    }
    for operation in operations.in_flight() {
        draw(operation, &mut tracks, &mut events);
        writer.write(&mut tracks, &mut events)?;
    }
    writer.finish()
}

/// Draws an operation on a lane of its submitter and on one of its user tag, its service on the I/O thread, and the queue's lengths.
fn draw<'t>(operation: &FileOperation<'t>, tracks: &mut Tracks<'t>, out: &mut Vec<At>) {
    let end = operation.completion.map_or(i64::MAX, |answer| answer.time);
    for owner in [Owner::Thread(operation.submitter), Owner::Tag(operation.request.user_tag)] {
        slices::operation(operation, tracks.lane(operation.process, owner, operation.entered, end), out);
    }
    let Some((worker, begin)) = operation.worker.zip(operation.int_entry) else { return };
    slices::work(operation, begin, operation.int_return, tracks.thread(operation.process, worker), out);
    let track_uuid = Some(tracks.queue(operation.process, worker));
    for step in [operation.added, operation.taken].into_iter().flatten() {
        let r#type = Some(EventType::Counter.into());
        let counter_value = Some(step.length);
        out.push((step.time, TrackEvent { r#type, track_uuid, counter_value, ..TrackEvent::default() }));
    }
}

/// Draws an event that belongs to no operation: a mark on its thread.
fn mark(event: &Event<'_>, tracks: &mut Tracks<'_>, out: &mut Vec<At>) {
    match (event.class.provider(), event.class.probe()) {
        ("recorder", "thread") => {
            if let (Some(Value::Unsigned(tid)), Some(Value::Text(name))) = (event.field("tid"), event.field("name")) {
                tracks.name(event.process, tid, name);
            }
        }
        ("recorder", _) => {}
        ("dyntrace", "seq_trace-operation") => {}
        ("dyntrace", probe) if probe.starts_with("aio_pool-") => {}
        _ if event.class.operation_step().is_some() => {}
        (_, probe) => {
            let fields = event.fields().map(|(name, value)| match value {
                Value::Text(text) => slices::string(name, text),
                Value::Signed(number) => slices::annotation(name, message::Value::Int(number)),
                Value::Unsigned(number) => slices::annotation(name, message::Value::Uint(number)),
            });
            let mark = TrackEvent {
                debug_annotations: fields.collect(),
                r#type: Some(EventType::Instant.into()),
                track_uuid: Some(tracks.thread(event.process, event.tid)),
                name: Some(probe.to_owned()),
                flow_ids: Token::of(event).map(|token| slices::flow(token.label)).into_iter().collect(),
                counter_value: None,
            };
            out.push((event.time, mark));
        }
    }
}

struct Writer {
    file: BufWriter<File>,
    packets: Vec<TracePacket>,
}

impl Writer {
    fn clocks(&mut self, time: i64) {
        let clock = |id| Clock { clock_id: Some(id), timestamp: Some(time as u64) };
        let clocks = [REALTIME, BOOTTIME].map(clock).into();
        self.push(Some(time), Data::ClockSnapshot(ClockSnapshot { clocks }));
    }

    /// Drains both: the new tracks first, then the events.
    fn write(&mut self, tracks: &mut Tracks<'_>, events: &mut Vec<At>) -> io::Result<()> {
        for descriptor in tracks.made.drain(..) {
            self.push(None, Data::TrackDescriptor(descriptor));
        }
        for (time, event) in events.drain(..) {
            self.push(Some(time), Data::TrackEvent(event));
        }
        if self.packets.len() >= AT_ONCE { self.flush() } else { Ok(()) }
    }

    fn push(&mut self, time: Option<i64>, data: Data) {
        self.packets.push(TracePacket {
            timestamp: time.map(|time| time.max(0) as u64),
            trusted_packet_sequence_id: Some(1),
            data: Some(data),
        });
    }

    /// Concatenated messages are read as one message with the packets of all.
    fn flush(&mut self) -> io::Result<()> {
        let trace = message::Trace { packet: std::mem::take(&mut self.packets) };
        self.file.write_all(&trace.encode_to_vec())
    }

    fn finish(mut self) -> io::Result<()> {
        self.flush()?;
        self.file.flush()
    }
}
