//! Traces for Perfetto's viewer and trace processor.

mod message;
mod packets;
#[cfg(test)]
#[allow(dead_code, reason = "the tests of the command use all of it")]
mod read;
mod slices;
mod strings;
mod tracks;
mod wakes;

use std::io::{self, BufWriter};
use std::path::Path;

use dyntrace_analysis::recorded_tasks::{TaskStep, Tasks};
use dyntrace_analysis::recording;
use dyntrace_analysis::token::Token;
use dyntrace_reader::{Event, FileOperation, FileOperations, Trace, Value};
use dyntrace_terminal::private;

use message::{EventType, TrackEvent};
use packets::Packets;
use slices::At;
use strings::Strings;
use tracks::{Owner, Tracks};
use wakes::Wakes;

pub fn convert(trace: &Trace, output: &Path) -> io::Result<()> {
    let mut packets = Packets::new(BufWriter::new(private::replace(output, recording::mode(trace))?));
    let mut operations = FileOperations::default();
    let mut tasks = Tasks::default();
    let mut tracks = Tracks::default();
    let mut wakes = Wakes::default();
    let mut events = Vec::new();
    for (index, event) in recording::events(trace).enumerate() {
        if index == 0 {
            packets.begin(event.time);
        }
        let arrow = wakes.push(&event);
        if let Some(TaskStep::Polled(poll)) = tasks.push(&event) {
            let flow = wakes.end(&poll);
            slices::poll(&poll, tracks.thread(poll.process, poll.tid), flow, &mut packets.strings, &mut events);
        }
        match operations.push(&event) {
            Some(operation) => draw(&operation, &mut tracks, &mut packets.strings, &mut events),
            None => mark(&event, arrow, &mut tracks, &mut packets.strings, &mut events),
        }
        packets.write(&mut tracks, &mut events)?;
    }
    for operation in operations.in_flight() {
        draw(operation, &mut tracks, &mut packets.strings, &mut events);
        packets.write(&mut tracks, &mut events)?;
    }
    for poll in tasks.in_poll() {
        let flow = wakes.end(poll);
        slices::poll(poll, tracks.thread(poll.process, poll.tid), flow, &mut packets.strings, &mut events);
        packets.write(&mut tracks, &mut events)?;
    }
    packets.finish()?.into_inner()?.finish()
}

/// Draws an operation on a lane of its submitter and on one of its user tag, its service on the I/O thread, and the queue's lengths.
fn draw<'t>(operation: &FileOperation<'t>, tracks: &mut Tracks<'t>, strings: &mut Strings, out: &mut Vec<At>) {
    let described = slices::described(operation, strings);
    let end = operation.completion.map_or(i64::MAX, |answer| answer.time);
    for owner in [Owner::Thread(operation.submitter), Owner::Tag(operation.request.user_tag)] {
        let lane = tracks.lane(operation.process, owner, operation.entered, end);
        slices::operation(operation, described.clone(), lane, strings, out);
    }
    let Some((worker, begin)) = operation.worker.zip(operation.int_entry) else { return };
    slices::work(described, begin, operation.int_return, tracks.thread(operation.process, worker), out);
    let track_uuid = Some(tracks.queue(operation.process, worker));
    for step in [operation.added, operation.taken].into_iter().flatten() {
        let r#type = Some(EventType::Counter.into());
        let counter_value = Some(step.length);
        out.push((step.time, TrackEvent { r#type, track_uuid, counter_value, ..TrackEvent::default() }));
    }
}

/// Draws an event that belongs to no operation: a mark on its thread. `arrow`: the flow to the poll that it has brought about.
fn mark(event: &Event<'_>, arrow: Option<u64>, tracks: &mut Tracks<'_>, strings: &mut Strings, out: &mut Vec<At>) {
    match (event.class.provider(), event.class.probe()) {
        ("recorder", "thread") => {
            if let (Some(Value::Unsigned(tid)), Some(Value::Text(name))) = (event.field("tid"), event.field("name")) {
                tracks.name(event.process, tid, &name);
            }
        }
        ("recorder", _) => {}
        ("dyntrace", "seq_trace-operation" | "process-scheduled" | "process-unscheduled") => {}
        ("dyntrace", probe) if probe.starts_with("aio_pool-") => {}
        _ if event.class.operation_step().is_some() => {}
        (_, probe) => {
            let fields = event.fields().map(|(name, value)| match value {
                Value::Text(text) => strings.text(name, &text),
                Value::Signed(number) => strings.annotation(name, message::Value::Int(number)),
                Value::Unsigned(number) => strings.annotation(name, message::Value::Uint(number)),
            });
            let mark = TrackEvent {
                debug_annotations: fields.collect(),
                r#type: Some(EventType::Instant.into()),
                track_uuid: Some(tracks.thread(event.process, event.tid)),
                name_iid: Some(strings.event_name(probe)),
                flow_ids: Token::of(event).map(|token| slices::flow(token.label)).into_iter().chain(arrow).collect(),
                counter_value: None,
            };
            out.push((event.time, mark));
        }
    }
}
