//! A module's probes are recorded by the program's sessions.

use std::path::Path;
use std::task::{Context, Waker};

use dyntrace::code;
use dyntrace::recorder::{Glob, Options, Session};
use dyntrace_reader::{Event, Trace, Value};

use crate::support::{Turn, export, load};

/// Returns the module's events, each with its number.
fn fired(trace: &Path) -> Vec<String> {
    let trace = Trace::open(trace).unwrap();
    let shown = trace.events().filter_map(|event| {
        let number = match event.field("cents").or_else(|| event.field("i1"))? {
            Value::Unsigned(number) => number.cast_signed(),
            Value::Signed(number) => number,
            Value::Text(_) => return None,
        };
        let tag = match event.field("user_tag") {
            Some(Value::Text(tag)) => format!(" {}", String::from_utf8_lossy(&tag)),
            _ => String::new(),
        };
        Some(format!("{} {number}{tag}", event.class.probe()))
    });
    shown.collect()
}

#[tokio::test]
async fn with_those_of_the_program_and_those_that_only_it_has() {
    let _turn = Turn::take().await;
    let folder = tempfile::tempdir().unwrap();
    let all = Session::start(Options::new(folder.path().join("all"))).unwrap();
    load("v1").await;
    dyntrace::put_tag("eve").unwrap();
    let later = Session::start(Options::new(folder.path().join("later"))).unwrap();
    let mut options = Options::new(folder.path().join("some"));
    options.probes = vec![Glob::from("order-*")];
    let some = Session::start(options).unwrap();
    let mut options = Options::new(folder.path().join("tagged"));
    options.filter.tag = Some(Glob::from("adam"));
    let tagged = Session::start(options).unwrap();
    let fire = export::<fn(u32)>("fire");
    fire.call(1).unwrap();
    load("v2").await;
    fire.call(2).unwrap();
    code::purge("shelf").await.unwrap();
    std::thread::spawn(move || fire.call(3).unwrap()).join().unwrap();
    for session in [all, later, some, tagged] {
        let summary = session.stop().unwrap();
        assert_eq!((summary.status.discarded, summary.errors.len()), (0, 0));
    }
    let all = [
        "user_trace-i4s4 1 eve",
        "order-paid 1",
        "user_trace-i4s4 2 eve",
        "order-paid 2",
        "user_trace-i4s4 3 ",
        "order-paid 3",
    ];
    let fired = |name: &str| fired(&folder.path().join(name));
    assert_eq!(fired("all"), all);
    assert_eq!(fired("later"), all);
    assert_eq!(fired("some"), ["order-paid 1", "order-paid 2", "order-paid 3"]);
    assert_eq!(fired("tagged"), ["order-paid 1", "order-paid 2", "order-paid 3"]);
}

/// The fields of an event as words.
fn words(event: &Event<'_>) -> Vec<String> {
    let word = |(name, value): (&str, Value<'_>)| match value {
        Value::Text(text) => Some(String::from_utf8_lossy(&text).into_owned()),
        _ if name == "waited" => None,
        other => panic!("{name}: {other:?}"),
    };
    event.fields().filter_map(word).collect()
}

#[tokio::test]
async fn calls_that_wait() {
    let _turn = Turn::take().await;
    load("v1").await;
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path());
    options.probes = vec![Glob::from("process-wait"), Glob::from("process-resume")];
    let session = Session::start(options).unwrap();
    let waited = export::<fn(u32) -> code::Pending<u32>>("waited");
    let line = line!() + 1;
    assert_eq!(waited.call(8).unwrap().await.unwrap(), 8);
    let mut dropped = Box::pin(waited.call(9).unwrap());
    assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(dropped);
    // Never polled.
    drop(waited.call(10).unwrap());
    session.stop().unwrap();
    let trace = Trace::open(folder.path()).unwrap();
    let own = dyntrace::process::current().to_string();
    let lines: Vec<(&str, Vec<String>)> = trace
        .events()
        .filter(|event| matches!(event.field("proc"), Some(Value::Text(pid)) if *pid == *own.as_bytes()))
        .map(|event| (event.class.probe(), words(&event)))
        .collect();
    let place = |line| format!("tests/guest/recorded.rs:{line}");
    let wait = |line| ("process-wait", vec![own.clone(), "shelf::waited".into(), "code::call".into(), place(line)]);
    let resume = |outcome: &str, line| {
        let words = [&own, "shelf::waited", outcome, "code::call", &place(line)];
        ("process-resume", words.map(str::to_owned).to_vec())
    };
    assert_eq!(lines, [wait(line), resume("ready", line), wait(line + 1), resume("cancelled", line + 1)]);
}
