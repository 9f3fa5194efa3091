//! The recorder has spans, events and the operations in them.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};

use dyntrace::aio_pool::Pool;
use dyntrace::efile::Driver;
use dyntrace::recorder::{Options, Session};
use dyntrace_reader::{Trace, Value};
use serde_json::json;
use tokio::runtime::Builder;
use tracing::{Instrument, debug, error, info_span, instrument, warn};
use tracing_subscriber::prelude::*;

/// One test at a time, as a session records the whole process. All use one subscriber, which is that of all threads.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    static SUBSCRIBER: Once = Once::new();
    SUBSCRIBER.call_once(|| {
        tracing_subscriber::registry().with(dyntrace_tracing::layer()).init();
        // The recorder has 16 rings ready. On a slow disk the pool would start more threads at once, which lose their first events.
        assert!(Driver::install(Driver::new(Pool::builder().slow_threads(8).build())).is_ok());
    });
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Clone, Debug, PartialEq)]
enum Field {
    Number(i64),
    Text(String),
}

#[derive(Debug)]
struct Row {
    probe: String,
    fields: HashMap<String, Field>,
}

impl Row {
    fn text(&self, field: &str) -> &str {
        let Field::Text(text) = &self.fields[field] else { panic!("{field} is a number") };
        text
    }

    fn number(&self, field: &str) -> i64 {
        let Field::Number(number) = self.fields[field] else { panic!("{field} is a text") };
        number
    }
}

/// Returns all events that happen in `run`.
fn recorded(run: impl FnOnce()) -> Vec<Row> {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(folder.path())).unwrap();
    run();
    let summary = session.stop().unwrap();
    assert_eq!((summary.status.discarded, summary.errors.len()), (0, 0));
    let trace = Trace::open(folder.path()).unwrap();
    let rows = trace.events().map(|event| Row {
        probe: event.class.probe().to_owned(),
        fields: event
            .fields()
            .map(|(name, value)| {
                let value = match value {
                    Value::Signed(number) => Field::Number(number),
                    Value::Unsigned(number) => Field::Number(number.cast_signed()),
                    Value::Text(bytes) => Field::Text(String::from_utf8_lossy(&bytes).into_owned()),
                };
                (name.to_owned(), value)
            })
            .collect(),
    });
    rows.collect()
}

fn of_probe<'r>(rows: &'r [Row], probe: &str) -> Vec<&'r Row> {
    rows.iter().filter(|row| row.probe == probe).collect()
}

#[instrument(skip(folder), fields(request_id = %format!("req-{number}")))]
async fn serve(number: usize, folder: &Path) {
    for part in 0..3 {
        store(number, part, folder).await;
        tokio::task::yield_now().await;
    }
}

#[instrument(skip_all)]
async fn store(number: usize, part: usize, folder: &Path) {
    let path = path(folder, number, part);
    dyntrace::fs::write(&path, "text").await.unwrap();
    tokio::task::yield_now().await;
    assert_eq!(dyntrace::fs::read(&path).await.unwrap(), b"text");
    warn!(number, "stored");
}

fn path(folder: &Path, number: usize, part: usize) -> PathBuf {
    folder.join(format!("{number}-{part}"))
}

const TASKS: usize = 100;

#[test]
fn operations_of_many_plain_tasks_each_with_its_tag() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let runtime = Builder::new_multi_thread().worker_threads(3).build().unwrap();
    let rows = recorded(|| {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..TASKS)
                .flat_map(|number| {
                    let (tagged, bare) = (folder.path().to_owned(), folder.path().join(format!("bare-{number}")));
                    [
                        tokio::spawn(async move { serve(number, &tagged).await }),
                        tokio::spawn(async move { dyntrace::fs::write(bare, "text").await.unwrap() }),
                    ]
                })
                .collect();
            for task in tasks {
                task.await.unwrap();
            }
        });
    });
    let entries = of_probe(&rows, "efile_drv-entry");
    for number in 0..TASKS {
        for part in 0..3 {
            let path = path(folder.path(), number, part).to_string_lossy().into_owned();
            let of_path: Vec<_> = entries.iter().filter(|row| row.text("s1") == path).collect();
            assert_eq!(of_path.len(), 2, "a write and a read of {path}");
            assert!(of_path.iter().all(|row| row.text("user_tag") == format!("req-{number}")), "{of_path:?}");
        }
        let bare = format!("/bare-{number}");
        let of_bare: Vec<_> = entries.iter().filter(|row| row.text("s1").ends_with(&bare)).collect();
        assert!(of_bare.len() == 1 && of_bare[0].text("user_tag").is_empty(), "{of_bare:?}");
        let stored: Vec<_> =
            of_probe(&rows, "event").into_iter().filter(|row| row.number("number") == number as i64).collect();
        assert_eq!(stored.len(), 3);
        assert!(stored.iter().all(|row| row.text("user_tag") == format!("req-{number}")), "{stored:?}");
    }
    let balance = |row: &Row| (row.number("span_id"), row.text("user_tag").to_owned());
    let [mut enters, mut exits] =
        ["span-enter", "span-exit"].map(|probe| of_probe(&rows, probe).into_iter().map(balance).collect::<Vec<_>>());
    enters.sort();
    exits.sort();
    assert!(enters.len() >= TASKS * 4 && enters == exits);
    assert!(of_probe(&rows, "span-exit").iter().all(|row| row.number("busy_ns") > 0));
}

#[test]
fn events_and_spans_with_their_fields() {
    let _alone = alone();
    let rows = recorded(|| {
        let parent = info_span!("parent", request_id = "r");
        let span =
            tracing::debug_span!(parent: &parent, "child", size = 2.5, big = u64::MAX, name = "a \"b\"\n", ok = true);
        span.in_scope(|| {
            let cause = std::io::Error::other("no space");
            error!(
                ratio = f64::NAN,
                left = -3,
                right = 4u8,
                cause = &cause as &dyn std::error::Error,
                "cannot {}",
                "store"
            );
            debug!(target: "elsewhere", "plain");
        });
        tracing::trace!(long = "x".repeat(2000), short = 1);
    });
    let new = of_probe(&rows, "span-new");
    let (parent, child) = (new[0], new[1]);
    assert_eq!((parent.text("name"), parent.text("user_tag"), parent.number("parent_id")), ("parent", "r", 0));
    assert_eq!((parent.number("level"), parent.text("target")), (3, "recorded"));
    assert_eq!((child.text("name"), child.text("user_tag"), child.number("level")), ("child", "r", 4));
    assert_eq!(child.number("parent_id"), parent.number("span_id"));
    let json = |row: &Row| serde_json::from_str::<serde_json::Value>(row.text("fields")).unwrap();
    assert_eq!(json(child), json!({"size": 2.5, "big": u64::MAX, "name": "a \"b\"\n", "ok": true}));
    let events = of_probe(&rows, "event");
    assert_eq!(events.len(), 3);
    let (first, second, third) = (events[0], events[1], events[2]);
    assert_eq!((first.number("level"), first.text("message"), first.number("number")), (1, "cannot store", -3));
    assert_eq!(json(first), json!({"ratio": "NaN", "left": -3, "right": 4, "cause": "no space"}));
    assert_eq!((first.text("user_tag"), first.number("span_id")), ("r", child.number("span_id")));
    assert!(first.text("file").ends_with("recorded.rs") && first.number("line") > 0);
    assert_eq!((second.text("target"), second.text("message"), second.text("fields")), ("elsewhere", "plain", "{}"));
    assert_eq!((third.text("message"), third.text("user_tag"), third.number("span_id")), ("", "", 0));
    assert_eq!(json(third), json!({"short": 1, "...": 1}));
    let names = |probe: &str| of_probe(&rows, probe).iter().map(|row| row.text("name").to_owned()).collect::<Vec<_>>();
    assert_eq!(names("span-enter"), ["child"]);
    assert_eq!(names("span-exit"), ["child"]);
    // The parent lives as long as the child.
    assert_eq!(names("span-close"), ["child", "parent"]);
    assert_eq!(of_probe(&rows, "span-close")[1].text("user_tag"), "r");
}

/// Counts how often it is formatted.
struct Shown<'c>(&'c AtomicU32);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fetch_add(1, Ordering::Relaxed);
        f.write_str("shown")
    }
}

#[test]
fn nothing_is_formatted_while_nobody_looks() {
    let _alone = alone();
    let count = AtomicU32::new(0);
    let run = || {
        info_span!("span", field = ?Shown(&count), request_id = "r")
            .in_scope(|| warn!(field = ?Shown(&count), "{:?}", Shown(&count)));
    };
    run();
    assert_eq!(count.load(Ordering::Relaxed), 0);
    assert_eq!(of_probe(&recorded(run), "event").len(), 1);
    assert_eq!(count.load(Ordering::Relaxed), 3);
}

#[test]
fn a_span_entered_before_the_recording_is_left_in_it() {
    let _alone = alone();
    let entered = info_span!("early", request_id = "r").entered();
    let rows = recorded(|| {
        entered.exit();
    });
    let exits = of_probe(&rows, "span-exit");
    assert_eq!(exits.len(), 1);
    assert_eq!((exits[0].text("name"), exits[0].text("user_tag"), exits[0].number("busy_ns")), ("early", "r", 0));
}

#[test]
fn a_task_that_is_aborted_or_panics_leaves_no_tag() {
    let _alone = alone();
    let runtime = Builder::new_multi_thread().worker_threads(1).build().unwrap();
    runtime.block_on(async {
        let aborted = tokio::spawn(std::future::pending::<()>().instrument(info_span!("aborted", request_id = "a")));
        let panics = tokio::spawn(async { panic!("in a span") }.instrument(info_span!("panics", request_id = "p")));
        assert!(panics.await.is_err_and(|error| error.is_panic()));
        aborted.abort();
        assert!(aborted.await.is_err_and(|error| error.is_cancelled()));
        assert_eq!(tokio::spawn(async { dyntrace::get_tag_data() }).await.unwrap(), None);
    });
}
