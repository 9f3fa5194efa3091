//! An operation as slices: queue wait, service and delivery within the whole.

use dyntrace_reader::FileOperation;

use super::message::{DebugAnnotation, EventType, TrackEvent, Value};
use crate::operation::{bytes, error_of, name_of};

/// An event of a track and its time.
pub type At = (i64, TrackEvent);

/// Events of one track. Their times never go back, though the clocks of two threads may disagree by nanoseconds.
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

/// The operation with its stages. A stage that ran when the trace ended has no end.
pub fn operation(operation: &FileOperation<'_>, track: u64, out: &mut Vec<At>) {
    let mut slices = Slices { track, time: operation.entered, out };
    slices.begin(operation.entered, &name_of(operation), described(operation));
    let answered = operation.completion.map(|answer| answer.time);
    // An operation that was answered before it was served has no stages.
    if operation.int_entry.is_some() || answered.is_none() {
        let stages = [
            ("queue wait", Some(operation.entered), operation.int_entry),
            ("service", operation.int_entry, operation.int_return),
            ("delivery", operation.int_return, answered),
        ];
        for (name, begin, end) in stages {
            begin.into_iter().for_each(|time| slices.begin(time, name, TrackEvent::default()));
            // If the event of a stage's end was lost, the answer ends the stage.
            end.or(begin.and(answered)).into_iter().for_each(|time| slices.end(time));
        }
    }
    answered.into_iter().for_each(|time| slices.end(time));
}

/// The service of the operation, on the track of the I/O thread.
pub fn work(operation: &FileOperation<'_>, begin: i64, end: Option<i64>, track: u64, out: &mut Vec<At>) {
    let mut slices = Slices { track, time: begin, out };
    slices.begin(begin, &name_of(operation), described(operation));
    end.into_iter().for_each(|time| slices.end(time));
}

/// The annotations of an operation's slices, and the flow of its sequential trace.
fn described(operation: &FileOperation<'_>) -> TrackEvent {
    let flow_ids = operation.requester.into_iter().map(|asker| flow(asker.label)).collect();
    TrackEvent { debug_annotations: annotations(operation), flow_ids, ..TrackEvent::default() }
}

/// The flow of a sequential trace: unique, and not 0.
pub fn flow(label: i32) -> u64 {
    1 << 32 | u64::from(label.cast_unsigned())
}

fn annotations(operation: &FileOperation<'_>) -> Vec<DebugAnnotation> {
    let asked = &operation.request;
    let texts = [
        ("user tag", asked.user_tag),
        ("path", operation.path),
        ("second path", asked.strings[1]),
        ("port", asked.port),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty()).map(|(name, text)| string(name, text));
    let id = format!("{{{},{}}}", operation.id.thread, operation.id.tag);
    let bytes = bytes(operation).and_then(|bytes| i64::try_from(bytes).ok());
    let error = Some(error_of(operation)).filter(|error| !error.is_empty());
    texts
        .chain([string("operation", id.as_bytes())])
        .chain(bytes.map(|bytes| annotation("bytes", Value::Int(bytes))))
        .chain(error.map(|name| string("error", name.as_bytes())))
        .collect()
}

pub fn string(name: &str, text: &[u8]) -> DebugAnnotation {
    annotation(name, Value::String(String::from_utf8_lossy(text).into_owned()))
}

pub fn annotation(name: &str, value: Value) -> DebugAnnotation {
    DebugAnnotation { name: Some(name.to_owned()), value: Some(value) }
}
