//! Calls recorded while settings change, and while recorded handlers interrupt them.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use dyntrace::recorder::{self, Glob};
use dyntrace::trace::{Limits, Session};
use dyntrace::traced;
use dyntrace_reader::{Event, Trace, Value};

use crate::signals::Timer;
use crate::support::{alone, times};

const THREADS: u64 = 4;

static STOP: AtomicBool = AtomicBool::new(false);
static RUNG: AtomicU64 = AtomicU64::new(0);

#[traced]
fn sold(thread: u64, number: u64) -> u64 {
    number * THREADS + thread
}

#[traced]
fn rung(number: u64) -> u64 {
    number + 1
}

fn ring() {
    RUNG.store(rung(RUNG.load(Ordering::Relaxed)), Ordering::Relaxed);
}

/// Calls at a low rate, so that the disk has room. Returns the number of calls.
fn call(thread: u64) -> u64 {
    const EVERY: Duration = Duration::from_micros(100);
    let _timer = (thread == 0).then(|| {
        // A handler cannot allocate the thread's data for its first event.
        ring();
        Timer::start(EVERY, EVERY, ring)
    });
    let mut number = 0;
    while !STOP.load(Ordering::Relaxed) {
        for _ in 0..16 {
            assert_eq!(sold(thread, number), number * THREADS + thread);
            number += 1;
        }
        thread::sleep(Duration::from_micros(50));
    }
    number
}

#[test]
fn recorded_calls_are_whole_and_in_order() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let mut options = recorder::Options::new(folder.path());
    options.probes = vec![Glob::from("function-*")];
    let recording = recorder::Session::start(options).unwrap();
    let threads: Vec<_> = (0..THREADS).map(|number| thread::spawn(move || call(number))).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let told = runtime.block_on(settings());
    STOP.store(true, Ordering::Relaxed);
    let called: u64 = threads.into_iter().map(|thread| thread.join().unwrap()).sum();
    let summary = recording.stop().unwrap();
    assert!(summary.errors.is_empty(), "{:?}", summary.errors);
    let events = check(folder.path());
    println!("{called} calls and {} of handlers, {events} events", RUNG.load(Ordering::Relaxed));
    assert!(told > 0 && events >= told, "{told} were told, {events} are there");
}

/// Returns the number of events that the sessions had counted when they ended.
async fn settings() -> u64 {
    let mut told = 0;
    for number in 0..times(100, 2_000) {
        let session = Session::to_probes(Limits::default()).unwrap();
        let ends = if number % 2 == 0 { "" } else { " do return" };
        session.set(&format!("**::recorded::*{ends}")).await.unwrap();
        thread::sleep(Duration::from_millis(1));
        told += session.close().await.delivered;
    }
    told
}

/// The open calls of one thread.
#[derive(Default)]
struct Line {
    time: i64,
    /// The last call of each function: time and arguments.
    last: BTreeMap<String, (i64, Vec<u64>)>,
}

/// Checks each event, and returns their number.
fn check(folder: &Path) -> u64 {
    let trace = Trace::open(folder).unwrap();
    assert!(trace.losses().is_empty(), "{:?}", trace.losses());
    let (mut lines, mut events) = (BTreeMap::<u64, Line>::new(), 0);
    for event in trace.events().filter(|event| event.class.provider() == "dyntrace") {
        let line = lines.entry(event.tid).or_default();
        assert!(line.time <= event.time, "time goes back in thread {}", event.tid);
        line.time = event.time;
        check_event(&event, line);
        events += 1;
    }
    events
}

fn check_event(event: &Event<'_>, line: &mut Line) {
    let text = |name: &str| match event.field(name) {
        Some(Value::Text(text)) => str::from_utf8(&text).unwrap().to_owned(),
        other => panic!("{name} is {other:?}"),
    };
    assert!(text("proc").starts_with("<0.") && text("proc").ends_with(".0>"), "{}", text("proc"));
    assert_eq!(text("user_tag"), "");
    let function = text("function");
    let (path, function) = function.rsplit_once("::").unwrap();
    assert_eq!(path, "faults::traced::recorded");
    if event.class.probe() == "function-entry" {
        let arguments: Vec<u64> = text("arguments").split(", ").map(|number| number.parse().unwrap()).collect();
        assert_eq!(function, format!("{}/{}", if arguments.len() == 2 { "sold" } else { "rung" }, arguments.len()));
        let before = line.last.insert(function.to_owned(), (event.time, arguments.clone()));
        assert!(before.is_none_or(|(_, before)| before.last() < arguments.last()), "the same call twice");
        return;
    }
    assert_eq!(text("kind"), "return");
    let (began, arguments) = &line.last[function];
    let value = match arguments[..] {
        [thread, number] => number * THREADS + thread,
        _ => arguments[0] + 1,
    };
    assert_eq!(text("value"), value.to_string());
    let Some(Value::Unsigned(took)) = event.field("took") else { panic!("how long is not said") };
    // The clock may have been refined meanwhile.
    let between = (event.time - began) as u64;
    assert!(took <= between + between / 100 + 1_000, "it took {took} ns of {between}");
}
