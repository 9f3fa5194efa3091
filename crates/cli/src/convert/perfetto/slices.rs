//! An operation as slices: the whole of it, and in it the wait in the queue, the service, and the delivery.

use dyntrace_reader::Operation;

use super::message::{DebugAnnotation, EventType, TrackEvent, Value};
use crate::operation::{bytes, command_name, errno_name};

/// An event of a track and its time.
pub type At = (i64, TrackEvent);

/// Events of one track, each not before the one before it: clocks of two threads may disagree by some nanoseconds.
struct Slices<'a> {
    track: u64,
    time: i64,
    out: &'a mut Vec<At>,
}

impl Slices<'_> {
    fn begin(&mut self, time: i64, name: &str, event: TrackEvent) {
        self.push(time, EventType::SliceBegin, TrackEvent { name: Some(name.to_owned()), ..event });
    }

    fn end(&mut self, time: i64) {
        self.push(time, EventType::SliceEnd, TrackEvent::default());
    }

    fn push(&mut self, time: i64, r#type: EventType, event: TrackEvent) {
        self.time = self.time.max(time);
        let event = TrackEvent { r#type: Some(r#type.into()), track_uuid: Some(self.track), ..event };
        self.out.push((self.time, event));
    }
}

/// The operation with its stages. What was still going on when the trace ended has no end.
pub fn operation(operation: &Operation<'_>, track: u64, out: &mut Vec<At>) {
    let mut slices = Slices { track, time: operation.entered, out };
    slices.begin(operation.entered, &command_name(operation.asked.command), described(operation));
    let answered = operation.answer.map(|answer| answer.time);
    // What was answered before its work began has no stages.
    if operation.int_entry.is_some() || answered.is_none() {
        let stages = [
            ("queue wait", Some(operation.entered), operation.int_entry),
            ("service", operation.int_entry, operation.int_return),
            ("delivery", operation.int_return, answered),
        ];
        for (name, begin, end) in stages {
            begin.into_iter().for_each(|time| slices.begin(time, name, TrackEvent::default()));
            // An answer ends what never came to its own end: the event of that was lost.
            end.or(begin.and(answered)).into_iter().for_each(|time| slices.end(time));
        }
    }
    answered.into_iter().for_each(|time| slices.end(time));
}

/// The work of the operation, on the track of the thread that did it.
pub fn work(operation: &Operation<'_>, begin: i64, end: Option<i64>, track: u64, out: &mut Vec<At>) {
    let mut slices = Slices { track, time: begin, out };
    slices.begin(begin, &command_name(operation.asked.command), described(operation));
    end.into_iter().for_each(|time| slices.end(time));
}

/// What stands beside an operation's slices, and the sequential trace that they belong to.
fn described(operation: &Operation<'_>) -> TrackEvent {
    let flow_ids = operation.asker.into_iter().map(|asker| flow(asker.label)).collect();
    TrackEvent { debug_annotations: annotations(operation), flow_ids, ..TrackEvent::default() }
}

/// The number of a sequential trace as a flow: no other flow's, and not 0.
pub fn flow(label: i32) -> u64 {
    1 << 32 | u64::from(label.cast_unsigned())
}

fn annotations(operation: &Operation<'_>) -> Vec<DebugAnnotation> {
    let asked = &operation.asked;
    let texts = [
        ("user tag", asked.user_tag),
        ("path", operation.path),
        ("second path", asked.strings[1]),
        ("port", asked.port),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| string(name, text));
    let id = format!("{{{},{}}}", operation.id.thread, operation.id.tag);
    let bytes = bytes(asked).and_then(|bytes| i64::try_from(bytes).ok());
    let error = operation.answer.map(|answer| errno_name(answer.errno)).filter(|name| !name.is_empty());
    texts
        .chain([string("operation", id.as_bytes())])
        .chain(bytes.map(|bytes| annotation("bytes", Value::Int(bytes))))
        .chain(error.map(|name| string("error", name.as_bytes())))
        .collect()
}

/// A string beside a slice.
pub fn string(name: &str, text: &[u8]) -> DebugAnnotation {
    annotation(name, Value::String(String::from_utf8_lossy(text).into_owned()))
}

/// A value beside a slice.
pub fn annotation(name: &str, value: Value) -> DebugAnnotation {
    DebugAnnotation { name: Some(name.to_owned()), value: Some(value) }
}
