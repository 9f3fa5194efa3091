//! Operations, and groups of them, as spans. Attributes have the names of OpenTelemetry's conventions where there are any, else names
//! that begin with `dyntrace.`.

use dyntrace_analysis::operation::{bytes, error_of, name_of};
use dyntrace_reader::FileOperation;

use super::group::{Group, Name, SpanPlace};
use super::ids::{SpanId, TraceId};
use super::message::{Attribute, ERROR, INTERNAL, Span, Status, flag, number, text};

/// The span of an operation. One in flight ends at `end`.
pub fn of_operation(operation: &FileOperation<'_>, end: i64, place: SpanPlace) -> Span {
    let error = error_of(operation);
    let end = operation.completion.map_or(end, |answer| answer.time);
    Span {
        attributes: attributes(operation),
        status: (!error.is_empty()).then(|| Status { message: error.clone().into_owned(), code: ERROR }),
        ..span(name_of(operation).into_owned(), (place.trace, place.span, place.parent), (operation.entered, end))
    }
}

/// The span around the operations of a group.
pub fn of_group(group: &Group) -> Span {
    let (name, named) = match &group.name {
        Name::Tag(tag) => (lossy(tag), text("dyntrace.tag", lossy(tag))),
        Name::Label(label) => (format!("sequential trace {label}"), number("dyntrace.token.label", label)),
    };
    let attributes =
        vec![named, number("dyntrace.operations", group.operations), number("dyntrace.errors", group.errors)];
    Span { attributes, ..span(name, (group.trace, group.span, group.parent), (group.first, group.last)) }
}

fn span(name: String, (trace, span, parent): (TraceId, SpanId, Option<SpanId>), (begin, end): (i64, i64)) -> Span {
    Span {
        trace_id: trace.hex(),
        span_id: span.hex(),
        parent_span_id: parent.map(SpanId::hex).unwrap_or_default(),
        name,
        kind: INTERNAL,
        start_time_unix_nano: begin.max(0).to_string(),
        // Clocks of two threads may disagree by nanoseconds.
        end_time_unix_nano: end.max(begin).max(0).to_string(),
        attributes: Vec::new(),
        status: None,
    }
}

fn attributes(operation: &FileOperation<'_>) -> Vec<Attribute> {
    let asked = &operation.request;
    let texts = [
        ("file.path", operation.path),
        ("dyntrace.second_path", asked.strings[1]),
        ("dyntrace.tag", asked.user_tag.into()),
        ("dyntrace.port", asked.port),
        ("dyntrace.driver", operation.driver.into()),
    ];
    let mut all: Vec<Attribute> =
        texts.into_iter().filter(|(_, value)| !value.is_empty()).map(|(key, value)| text(key, lossy(&value))).collect();
    all.push(text("dyntrace.operation", format!("{{{},{}}}", operation.id.thread, operation.id.tag)));
    all.push(number("dyntrace.command", asked.command));
    all.push(number("thread.id", operation.submitter));
    let numbers = [
        ("dyntrace.bytes", bytes(operation).and_then(|bytes| i64::try_from(bytes).ok())),
        ("dyntrace.worker.thread.id", operation.worker.and_then(|worker| i64::try_from(worker).ok())),
        ("dyntrace.queue_wait_ns", operation.queue_wait()),
        ("dyntrace.service_ns", operation.service()),
        ("dyntrace.delivery_ns", operation.delivery()),
        ("dyntrace.token.label", operation.requester.map(|requester| requester.label.into())),
    ];
    all.extend(numbers.into_iter().filter_map(|(key, value)| Some(number(key, value?))));
    let error = error_of(operation);
    if !error.is_empty() {
        all.push(text("error.type", error));
    }
    if operation.completion.is_none() {
        all.push(flag("dyntrace.in_flight"));
    }
    all
}

fn lossy(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
