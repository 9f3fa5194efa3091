//! Sessions whose events fire the probes, read back from a recorded trace.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::panic::catch_unwind;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use dyntrace::recorder;
use dyntrace::trace::{Info, Limits, Session};
use dyntrace::traced;
use dyntrace_reader::{Event, Trace, Value};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard, oneshot};

/// A recording of traced functions. It records those of all tests, so only one exists at a time.
struct Recording {
    folder: TempDir,
    session: recorder::Session,
    _alone: MutexGuard<'static, ()>,
}

static ALONE: Mutex<()> = Mutex::const_new(());

impl Recording {
    async fn start() -> Recording {
        Recording::start_alone(ALONE.lock().await)
    }

    fn start_alone(alone: MutexGuard<'static, ()>) -> Recording {
        let folder = tempfile::tempdir().unwrap();
        let mut options = recorder::Options::new(folder.path());
        options.probes = vec![recorder::Glob::from("function-*")];
        let session = recorder::Session::start(options).unwrap();
        Recording { folder, session, _alone: alone }
    }

    /// Returns the events with their fields. None may be lost.
    fn end(self) -> Vec<Fired> {
        let summary = self.session.stop().unwrap();
        assert!(summary.errors.is_empty(), "{:?}", summary.errors);
        let trace = Trace::open(self.folder.path()).unwrap();
        assert!(trace.losses().is_empty(), "{:?}", trace.losses());
        let events = trace.events().filter(|event| event.class.probe().starts_with("function-"));
        events.map(|event| Fired::from(&event)).collect()
    }
}

struct Fired {
    probe: String,
    tid: u64,
    texts: BTreeMap<String, String>,
    numbers: BTreeMap<String, u64>,
}

impl From<&Event<'_>> for Fired {
    fn from(event: &Event<'_>) -> Fired {
        let (mut texts, mut numbers) = (BTreeMap::new(), BTreeMap::new());
        for (name, value) in event.fields() {
            match value {
                Value::Text(text) => drop(texts.insert(name.to_owned(), str::from_utf8(&text).unwrap().to_owned())),
                Value::Unsigned(number) => drop(numbers.insert(name.to_owned(), number)),
                Value::Signed(_) => panic!("{name} is signed"),
            }
        }
        Fired { probe: event.class.probe().to_owned(), tid: event.tid, texts, numbers }
    }
}

impl fmt::Display for Fired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |name: &str| self.texts[name].as_str();
        let function = text("function").strip_prefix("traced::probes::").unwrap();
        match self.probe.as_str() {
            "function-entry" => write!(f, "{function} called with {}", text("arguments")),
            _ => write!(f, "{function} ended by {}: {}", text("kind"), text("value")),
        }
    }
}

fn lines(events: &[Fired]) -> Vec<String> {
    events.iter().map(Fired::to_string).collect()
}

async fn to_probes(pattern: &str) -> Session {
    let session = Session::to_probes(Limits::default()).unwrap();
    assert_eq!(session.set(pattern).await.unwrap().functions, 1, "{pattern}");
    session
}

#[traced]
fn price(order: &str, quantity: u32) -> Result<u32, String> {
    assert_ne!(quantity, 13, "no {order} today");
    quantity.checked_mul(5).ok_or_else(|| format!("{order}: too many"))
}

#[tokio::test]
async fn events_are_recorded_by_the_thread_that_ran_the_call() {
    const CALLS: u32 = 1000;
    let recording = Recording::start().await;
    let session = to_probes("**::probes::price(_, qty) if qty > 100 || qty == 13 do return, exception, error").await;
    let threads = [1, 2].map(|number| {
        thread::spawn(move || {
            dyntrace::put_tag(format!("shop {number}")).unwrap();
            for quantity in 101..101 + CALLS {
                assert_eq!(price("ball", quantity), Ok(5 * quantity));
                price("ball", 100).unwrap();
            }
            dyntrace::process::current().to_string()
        })
    });
    let processes = threads.map(|thread| thread.join().unwrap());
    assert_eq!(session.info().delivered, 4 * u64::from(CALLS));
    catch_unwind(|| price("doll", 13)).unwrap_err();
    price("car", u32::MAX).unwrap_err();
    session.close().await;
    price("ball", 250).unwrap();

    let events = recording.end();
    for (number, process) in processes.iter().enumerate() {
        let own: Vec<_> = events.iter().filter(|event| event.texts["proc"] == *process).collect();
        assert_eq!(own.len(), 2 * CALLS as usize);
        for (pair, quantity) in own.chunks(2).zip(101..) {
            assert_eq!(pair[0].to_string(), format!("price/2 called with \"ball\", {quantity}"));
            assert_eq!(pair[1].to_string(), format!("price/2 ended by return: Ok({})", 5 * quantity));
            assert!(pair.iter().all(|event| event.tid == own[0].tid));
            assert!(pair.iter().all(|event| event.texts["user_tag"] == format!("shop {}", number + 1)));
            assert_eq!(pair[1].numbers["polled"], pair[1].numbers["took"]);
        }
    }
    let rest: Vec<_> = events.iter().filter(|event| !processes.contains(&event.texts["proc"])).collect();
    assert_eq!(
        rest.into_iter().map(Fired::to_string).collect::<Vec<_>>(),
        [
            r#"price/2 called with "doll", 13"#,
            "price/2 ended by panic: assertion `left != right` failed: no doll today\n  left: 13\n right: 13",
            r#"price/2 called with "car", 4294967295"#,
            r#"price/2 ended by error: Err("car: too many")"#,
        ]
    );
}

/// Counts how often it is printed, panics, and calls a traced function.
struct Bomb;

static PRINTED: AtomicU32 = AtomicU32::new(0);

impl fmt::Debug for Bomb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        PRINTED.fetch_add(1, Ordering::Relaxed);
        write!(f, "Bomb {}", armed(&Bomb, 1))?;
        panic!("while it is printed")
    }
}

#[traced]
fn armed(_bomb: &Bomb, number: u32) -> u32 {
    number
}

#[tokio::test]
async fn nothing_is_rendered_until_somebody_looks() {
    let alone = ALONE.lock().await;
    let mut limits = Limits::default();
    limits.events = Some(2);
    let session = Session::to_probes(limits).unwrap();
    session.set("**::probes::armed(_, n) if n > 1 do return, count").await.unwrap();
    for number in 0..100 {
        armed(&Bomb, number);
    }
    assert_eq!((PRINTED.load(Ordering::Relaxed), session.info().delivered), (0, 0));
    assert_eq!(session.counts()[0].calls, 98);

    let recording = Recording::start_alone(alone);
    for number in 7..100 {
        armed(&Bomb, number);
    }
    assert!(session.info().is_over);
    assert_eq!(session.close().await.delivered, 2);
    assert_eq!(PRINTED.load(Ordering::Relaxed), 1);
    assert_eq!(lines(&recording.end()), ["armed/2 called with Bomb 1<panicked>", "armed/2 ended by return: 7"]);
}

#[traced(caller)]
fn long(text: &str) -> usize {
    text.len()
}

#[tokio::test]
async fn cut_arguments_are_marked_and_callers_are_known() {
    let recording = Recording::start().await;
    let session = to_probes("**::probes::long do caller").await;
    let line = line!() + 1;
    long(&"ä".repeat(1000));
    session.close().await;
    let events = recording.end();
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].texts["arguments"], format!("\"{}...", "ä".repeat(199)));
    assert_eq!(events[0].texts["caller"], format!("{}:{line}", file!()));
}

#[traced]
async fn waits(gate: oneshot::Receiver<u32>) -> u32 {
    gate.await.unwrap_or_default()
}

#[tokio::test]
async fn futures_end_or_are_cancelled() {
    let recording = Recording::start().await;
    let session = to_probes("**::probes::waits do silent, return").await;
    let (open, gate) = oneshot::channel();
    let task = tokio::spawn(waits(gate));
    tokio::task::yield_now().await;
    open.send(3).unwrap();
    assert_eq!(task.await.unwrap(), 3);
    let (_open, gate) = oneshot::channel();
    assert!(pin!(waits(gate)).poll(&mut Context::from_waker(Waker::noop())).is_pending());
    session.close().await;
    let events = recording.end();
    assert_eq!(lines(&events), ["waits/1 ended by return: 3", "waits/1 ended by cancelled: "]);
    assert!(events.iter().all(|event| event.numbers["polled"] < event.numbers["took"]));
}

#[traced]
fn often(number: u32) -> u32 {
    number
}

/// Returns the number of events for 1000 calls.
async fn of_thousand(limits: Limits) -> (usize, Info) {
    let recording = Recording::start().await;
    let session = Session::to_probes(limits).unwrap();
    session.set("**::probes::often").await.unwrap();
    assert_eq!((0..1000).map(often).sum::<u32>(), 499_500);
    let info = session.close().await;
    (recording.end().len(), info)
}

#[tokio::test]
async fn limits_bound_what_fires() {
    let mut limits = Limits::default();
    limits.per_second = Some(5);
    let (events, info) = of_thousand(limits).await;
    assert_eq!((events as u64, info.delivered + info.limited), (info.delivered, 1000));
    assert!(info.limited > 900, "{info:?}");

    let mut limits = Limits::default();
    limits.events = Some(3);
    let (events, info) = of_thousand(limits).await;
    assert_eq!((events, info.delivered, info.is_over), (3, 3, true));

    let mut limits = Limits::default();
    limits.time = Some(Duration::from_millis(1));
    let session = Session::to_probes(limits).unwrap();
    while !session.info().is_over {
        tokio::task::yield_now().await;
    }
}
