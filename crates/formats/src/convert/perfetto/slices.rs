//! An operation as slices: queue wait, service and delivery within the whole. A poll of a task as one slice.

use dyntrace_analysis::operation::{bytes, error_of, name_of};
use dyntrace_analysis::recorded_tasks::Poll;
use dyntrace_reader::FileOperation;
use dyntrace_terminal::escape;

use super::message::{DebugAnnotation, EventType, TrackEvent, Value};
use super::strings::Strings;

/// An event of a track and its time.
pub type At = (i64, TrackEvent);

/// Events of one track. Their times never go back, though the clocks of two threads may disagree by nanoseconds.
struct Slices<'a> {
    track: u64,
    time: i64,
    out: &'a mut Vec<At>,
}

impl Slices<'_> {
    fn begin(&mut self, time: i64, event: TrackEvent) {
        self.push(time, EventType::SliceBegin, event);
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

/// The operation with its stages, `described` as by [`described()`]. A stage that ran when the trace ended has no end.
pub fn operation(
    operation: &FileOperation<'_>,
    described: TrackEvent,
    track: u64,
    strings: &mut Strings,
    out: &mut Vec<At>,
) {
    let mut slices = Slices { track, time: operation.entered, out };
    slices.begin(operation.entered, described);
    let answered = operation.completion.map(|answer| answer.time);
    // An operation that was answered before it was served has no stages.
    if operation.int_entry.is_some() || answered.is_none() {
        let stages = [
            ("queue wait", Some(operation.entered), operation.int_entry),
            ("service", operation.int_entry, operation.int_return),
            ("delivery", operation.int_return, answered),
        ];
        for (name, begin, end) in stages {
            let name_iid = begin.map(|_| strings.event_name(name));
            begin.into_iter().for_each(|time| slices.begin(time, TrackEvent { name_iid, ..TrackEvent::default() }));
            // If the event of a stage's end was lost, the answer ends the stage.
            end.or(begin.and(answered)).into_iter().for_each(|time| slices.end(time));
        }
    }
    answered.into_iter().for_each(|time| slices.end(time));
}

/// The service of the operation, on the track of the I/O thread.
pub fn work(described: TrackEvent, begin: i64, end: Option<i64>, track: u64, out: &mut Vec<At>) {
    let mut slices = Slices { track, time: begin, out };
    slices.begin(begin, described);
    end.into_iter().for_each(|time| slices.end(time));
}

/// The poll, on the track of its thread. One in which the task was when the trace ended has no end. `woken`: the flow from its wake.
pub fn poll(poll: &Poll<'_>, track: u64, woken: Option<u64>, strings: &mut Strings, out: &mut Vec<At>) {
    let outcome = poll.end.map_or(&b""[..], |end| end.outcome);
    let texts: [(_, &[u8]); 3] = [("pid", &poll.proc), ("user tag", poll.tag), ("outcome", outcome)];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let debug_annotations = texts.map(|(name, text)| strings.text(name, text)).collect();
    let name = if poll.function.is_empty() { "poll".into() } else { escape::name(poll.function) };
    let (name_iid, flow_ids) = (Some(strings.event_name(&name)), woken.into_iter().collect());
    let described = TrackEvent { debug_annotations, name_iid, flow_ids, ..TrackEvent::default() };
    work(described, poll.begun, poll.end.map(|end| end.time), track, out);
}

/// The name and the annotations of an operation's slices, and the flow of its sequential trace.
pub fn described(operation: &FileOperation<'_>, strings: &mut Strings) -> TrackEvent {
    let flow_ids = operation.requester.into_iter().map(|asker| flow(asker.label)).collect();
    let debug_annotations = annotations(operation, strings);
    let name_iid = Some(strings.event_name(&name_of(operation)));
    TrackEvent { debug_annotations, flow_ids, name_iid, ..TrackEvent::default() }
}

/// The flow of a sequential trace: unique, and not 0.
pub fn flow(label: i32) -> u64 {
    1 << 32 | u64::from(label.cast_unsigned())
}

fn annotations(operation: &FileOperation<'_>, strings: &mut Strings) -> Vec<DebugAnnotation> {
    let asked = &operation.request;
    let error = error_of(operation);
    let texts = [
        ("user tag", asked.user_tag.into()),
        ("path", operation.path),
        ("second path", asked.strings[1]),
        ("port", asked.port),
        ("error", (&*error).into()),
    ];
    let texts = texts.into_iter().filter(|(_, text)| !text.is_empty());
    let mut annotations: Vec<_> = texts.map(|(name, text)| strings.text(name, &text)).collect();
    // Each operation has an id of its own: a number for it would take more than the text.
    let id = format!("{{{},{}}}", operation.id.thread, operation.id.tag);
    annotations.push(strings.annotation("operation", Value::String(id)));
    if let Some(bytes) = bytes(operation).and_then(|bytes| i64::try_from(bytes).ok()) {
        annotations.push(strings.annotation("bytes", Value::Int(bytes)));
    }
    annotations
}
