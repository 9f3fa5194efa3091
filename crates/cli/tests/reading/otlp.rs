//! `dyntrace convert --to otlp`, read by OpenTelemetry's own types.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue};
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode;
use opentelemetry_proto::tonic::trace::v1::{ResourceSpans, Span, TracesData};
use serde_json::Value;
use tempfile::TempDir;

use crate::collector::Collector;
use crate::dyntrace;
use crate::writer::{Arg, START, Writer, entry, fired, moved, returned};

const READ_FILE: i64 = 15;
const RENAME: i64 = 12;
const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Two operations of a request with a trace of its own, two of one with another tag, one of a sequential trace, one of nobody's, and one in
/// flight.
fn trace() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let writer = Writer::new(folder.path().join("shop-12"));
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let token = [Arg::I(1), Arg::I(5), "B".into(), Arg::I(42), Arg::I(0), Arg::I(1)];
    let steps =
        |step: &str, at, tag: i64| fired(&format!("efile_drv-{step}"), at, [1.into(), tag.into(), READ_FILE.into()]);
    writer.ring(
        "ring-1",
        77,
        &[
            entry(100, 1, 1, &parent, READ_FILE, "/a"),
            entry(200, 1, 2, &parent, RENAME, "/old \"\\\n\u{1f980}"),
            entry(300, 1, 3, "req-17", READ_FILE, "/c"),
            entry(400, 1, 4, "req-17", READ_FILE, "/d"),
            fired("seq_trace-operation", 500, token),
            entry(510, 1, 5, "", READ_FILE, "/e"),
            entry(600, 1, 6, "", READ_FILE, "/f"),
            entry(700, 1, 7, "late", READ_FILE, "/g"),
            moved(20_000_100, [1, 1], &parent, READ_FILE, 0, 4096),
            returned(20_000_200, 1, 2, &parent, RENAME, 2),
            returned(20_000_300, 1, 3, "req-17", READ_FILE, 0),
            returned(20_000_400, 1, 4, "req-17", READ_FILE, 0),
            returned(20_000_500, 1, 5, "", READ_FILE, 0),
            returned(20_000_600, 1, 6, "", READ_FILE, 0),
        ],
    );
    writer.ring("ring-2", 78, &[steps("int_entry", 10_000, 1), steps("int_return", 15_000_000, 1)]);
    writer.process(&[]);
    folder
}

/// The spans of a file, by names and paths, and what was said.
struct Read {
    spans: HashMap<String, Span>,
    said: String,
}

fn convert(trace: &Path, rules: &[&str]) -> Read {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("spans.jsonl");
    let options = [&["--to", "otlp", "-o", file.to_str().unwrap()], rules].concat();
    let output = dyntrace([&["convert", trace.to_str().unwrap()], &options[..]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    let mut spans = HashMap::new();
    for line in fs::read_to_string(file).unwrap().lines() {
        let data: TracesData = serde_json::from_str(line).unwrap();
        // No name or value of ours is unknown to the published types.
        let ours: Value = serde_json::from_str(line).unwrap();
        is_within(&ours, &serde_json::to_value(&data).unwrap());
        for ResourceSpans { resource, scope_spans, .. } in data.resource_spans {
            let resource = resource.unwrap().attributes;
            assert_eq!(text(&resource, "service.name"), Some("shop"));
            assert_eq!(text(&resource, "host.name"), Some("h"));
            assert_eq!(number(&resource, "process.pid"), Some(12));
            for scope in scope_spans {
                assert_eq!(scope.scope.unwrap().name, "dyntrace");
                for span in scope.spans {
                    let path = text(&span.attributes, "file.path").unwrap_or_default();
                    let name = format!("{} {path}", span.name).trim_end().to_owned();
                    assert!(spans.insert(name, span).is_none());
                }
            }
        }
    }
    Read { spans, said }
}

/// Panics if a part of `ours` is missing in `theirs`.
fn is_within(ours: &Value, theirs: &Value) {
    match (ours, theirs) {
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.iter()
                .for_each(|(name, value)| is_within(value, theirs.get(name).unwrap_or_else(|| panic!("{name}"))));
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            assert_eq!(ours.len(), theirs.len());
            ours.iter().zip(theirs).for_each(|(ours, theirs)| is_within(ours, theirs));
        }
        _ => assert_eq!(ours, theirs),
    }
}

fn value<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a Any> {
    let AnyValue { value } = attributes.iter().find(|attribute| attribute.key == key)?.value.as_ref()?;
    value.as_ref()
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    match value(attributes, key)? {
        Any::StringValue(text) => Some(text),
        other => panic!("{key}: {other:?}"),
    }
}

fn number(attributes: &[KeyValue], key: &str) -> Option<i64> {
    match value(attributes, key)? {
        Any::IntValue(number) => Some(*number),
        other => panic!("{key}: {other:?}"),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn operations_are_spans_of_their_requests() {
    let trace = trace();
    let Read { spans, said } = convert(trace.path(), &[]);
    assert_eq!(said, "");
    assert_eq!(spans.len(), 7 + 4, "{:?}", spans.keys());
    let renamed = "RENAME /old \"\\\n\u{1f980}";
    let parent = format!("00-{TRACE}-00f067aa0ba902b7-01");
    let at = |cycles: u64| START as u64 + cycles;

    let read = &spans["READ_FILE /a"];
    assert_eq!((hex(&read.trace_id), read.kind()), (TRACE.to_owned(), SpanKind::Internal));
    assert_eq!((read.start_time_unix_nano, read.end_time_unix_nano), (at(100), at(20_000_100)));
    assert!(read.status.is_none());
    for (key, expected) in [
        ("dyntrace.bytes", 4096),
        ("dyntrace.command", READ_FILE),
        ("dyntrace.queue_wait_ns", 9_900),
        ("dyntrace.service_ns", 14_990_000),
        ("dyntrace.delivery_ns", 5_000_100),
        ("dyntrace.worker.thread.id", 78),
        ("thread.id", 77),
    ] {
        assert_eq!(number(&read.attributes, key), Some(expected), "{key}");
    }
    assert_eq!(text(&read.attributes, "dyntrace.operation"), Some("{1,1}"));
    assert_eq!(text(&read.attributes, "dyntrace.driver"), Some("dyntrace:efile_drv"));
    let failed = &spans[renamed];
    assert_eq!(failed.status.as_ref().map(|status| status.code()), Some(StatusCode::Error));
    assert_eq!(text(&failed.attributes, "error.type"), Some("ENOENT"));
    assert_eq!(number(&failed.attributes, "dyntrace.service_ns"), None);

    // The span around them, and around that the one of the program that sent the request.
    let request = &spans[&parent];
    assert_eq!(
        (hex(&request.trace_id), hex(&request.parent_span_id)),
        (TRACE.to_owned(), "00f067aa0ba902b7".to_owned())
    );
    assert_eq!((request.start_time_unix_nano, request.end_time_unix_nano), (at(100), at(20_000_200)));
    assert_eq!(number(&request.attributes, "dyntrace.operations"), Some(2));
    assert_eq!(number(&request.attributes, "dyntrace.errors"), Some(1));
    for (name, around) in [
        ("READ_FILE /a", &parent[..]),
        (renamed, &parent),
        ("READ_FILE /c", "req-17"),
        ("READ_FILE /d", "req-17"),
        ("READ_FILE /e", "sequential trace 42"),
        ("READ_FILE /g", "late"),
    ] {
        let (inner, outer) = (&spans[name], &spans[around]);
        assert_eq!((&inner.trace_id, &inner.parent_span_id), (&outer.trace_id, &outer.span_id), "{name}");
        assert!(inner.start_time_unix_nano >= outer.start_time_unix_nano, "{name}");
        assert!(inner.end_time_unix_nano <= outer.end_time_unix_nano, "{name}");
    }
    assert_eq!(number(&spans["READ_FILE /e"].attributes, "dyntrace.token.label"), Some(42));
    assert!(spans["READ_FILE /f"].parent_span_id.is_empty());
    assert_eq!(value(&spans["READ_FILE /g"].attributes, "dyntrace.in_flight"), Some(&Any::BoolValue(true)));

    // Ids are there, differ, and are the same each time.
    let ids: std::collections::HashSet<&[u8]> = spans.values().map(|span| &span.span_id[..]).collect();
    assert!(ids.len() == spans.len() && ids.iter().all(|id| id.len() == 8 && **id != [0; 8]));
    let traces: std::collections::HashSet<&[u8]> = spans.values().map(|span| &span.trace_id[..]).collect();
    assert!(traces.len() == 5 && traces.iter().all(|id| id.len() == 16));
    assert_eq!(convert(trace.path(), &[]).spans, spans);
}

#[test]
fn rules_keep_what_they_say_and_the_rest_is_counted() {
    let trace = trace();
    let kept = |rules: &[&str]| {
        let Read { spans, said } = convert(trace.path(), rules);
        let mut paths: Vec<String> =
            spans.values().filter_map(|span| text(&span.attributes, "file.path")).map(str::to_owned).collect();
        paths.iter_mut().for_each(|path| path.truncate(2));
        paths.sort();
        (paths.concat(), spans.len(), said)
    };
    let said = |kept, left_out| format!("{kept} operations converted, {left_out} left out by the rules\n");
    assert_eq!(kept(&["--failed"]), ("/o".to_owned(), 2, said(1, 6)));
    assert_eq!(kept(&["--tag", "req-*"]), ("/c/d".to_owned(), 3, said(2, 5)));
    assert_eq!(kept(&["--slow", "1s"]), (String::new(), 0, said(0, 7)));
    assert_eq!(kept(&["--slow", "20ms"]).0, "/a/c/d/f/o", "E takes 10 ns less");
    assert_eq!(kept(&["--failed", "--tag", "late"]).0, "/g/o");
    assert_eq!(kept(&["--one-in", "1"]), ("/a/c/d/e/f/g/o".to_owned(), 11, String::new()));
    // Whole traces.
    for n in 2..12 {
        let (paths, ..) = kept(&["--one-in", &n.to_string()]);
        assert_eq!(paths.contains("/c"), paths.contains("/d"), "{paths}");
        assert_eq!(paths.contains("/a"), paths.contains("/o"), "{paths}");
    }
}

#[test]
fn rules_are_for_spans_only() {
    let output = dyntrace(["convert", "t", "--to", "parquet", "-o", "x", "--failed"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("are for --to otlp"));
}

fn send(trace: &Path, address: &str) -> (Option<i32>, String) {
    let output = dyntrace(["convert", trace.to_str().unwrap(), "--to", "otlp", "-o", address]);
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_collector_gets_the_same_and_may_be_busy() {
    let trace = trace();
    let busy = ("503 Service Unavailable\r\nRetry-After: 0", "");
    let collector = Collector::new(&[busy, busy, ("200 OK", "{}")]);
    assert_eq!(send(trace.path(), &collector.address), (Some(0), String::new()));
    let received = collector.received();
    assert_eq!(received.len(), 3);
    for request in &received {
        assert_eq!(request.head[0], "post /v1/traces http/1.1");
        assert!(request.head.contains(&"content-type: application/json".to_owned()), "{:?}", request.head);
        assert_eq!(request.body, received[0].body);
    }
    let data: TracesData = serde_json::from_slice(&received[2].body).unwrap();
    let spans: Vec<Span> = data.resource_spans[0].scope_spans[0].spans.clone();
    let mut expected: Vec<Span> = convert(trace.path(), &[]).spans.into_values().collect();
    expected.retain(|span| !spans.contains(span));
    assert!(spans.len() == 11 && expected.is_empty(), "{expected:#?}");
}

#[test]
fn refusals_of_a_collector_are_reported() {
    let trace = trace();
    let collector =
        Collector::new(&[("200 OK", r#"{"partialSuccess":{"rejectedSpans":"4","errorMessage":"too old"}}"#)]);
    let (status, said) = send(trace.path(), &collector.address);
    assert_eq!(status, Some(1));
    assert!(said.contains("the endpoint rejected 4 spans: too old"), "{said}");
    let collector = Collector::new(&[("400 Bad Request", "no \u{1b}[2J thanks")]);
    let (status, said) = send(trace.path(), &collector.address);
    assert_eq!(status, Some(1));
    assert!(said.contains("answered 400 Bad Request: no \\x1b[2J thanks"), "{said}");
    let nobody = Collector::new(&[]);
    let address = nobody.address.clone();
    nobody.received();
    let (status, said) = send(trace.path(), &address);
    assert_eq!(status, Some(1));
    assert!(said.contains(&format!("cannot write {address}: Connection refused")), "{said}");
    let (status, said) = send(trace.path(), "https://127.0.0.1:4318");
    assert_eq!(status, Some(1));
    assert!(said.contains("an address begins with http://HOST:PORT"), "{said}");
}
