//! Recorded events of operations.
#![cfg(target_os = "linux")]

mod busy;
mod closes;
mod filtered;
mod inline;
mod listings;
#[path = "../common/missing.rs"]
mod missing;
mod moved;

use std::sync::{LazyLock, Mutex};

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Driver, Inline};
use dyntrace::recorder::{Filter, Options, Session};
use dyntrace_reader::{FileOperation, FileOperations, Trace, Value};

/// Runs `act` in a recording, and passes the trace to `look`.
fn traced<R, T>(act: impl FnOnce() -> R, look: impl FnOnce(R, &Trace) -> T) -> T {
    traced_by(&[], Filter::default(), act, look)
}

/// Has the operations of the global driver go to the pool, with all the events of its jobs. Other drivers answer inline.
static POOL_ONLY: LazyLock<()> = LazyLock::new(|| {
    let driver = Driver::new(Pool::builder().build()).inline(Inline::Off);
    Driver::install(driver).expect("no test has used the global driver outside of a recording");
});

/// The same for a session with these probes and this filter. One at a time, as a session records the whole program.
fn traced_by<R, T>(probes: &[&str], filter: Filter, act: impl FnOnce() -> R, look: impl FnOnce(R, &Trace) -> T) -> T {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    LazyLock::force(&POOL_ONLY);
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path());
    options.probes = probes.iter().map(|&probe| probe.into()).collect();
    options.filter = filter;
    let session = Session::start(options).unwrap();
    let result = act();
    session.stop().unwrap();
    look(result, &Trace::open(folder.path()).unwrap())
}

/// Runs `act`, and passes the operations that ended meanwhile to `look`.
fn recorded<R>(act: impl FnOnce() -> R, look: impl FnOnce(R, &[FileOperation<'_>])) {
    traced(act, |result, trace| {
        let mut operations = FileOperations::default();
        let ended: Vec<_> = trace.events().filter_map(|event| operations.push(&event)).collect();
        assert_eq!(operations.unmatched(), 0);
        look(result, &ended);
    });
}

/// Runs `act`, and returns its events, each as its probe and fields.
fn events(act: impl FnOnce()) -> Vec<String> {
    events_of(&[], Filter::default(), act)
}

/// The same for a session with these probes and this filter.
fn events_of(probes: &[&str], filter: Filter, act: impl FnOnce()) -> Vec<String> {
    fn show(value: Value<'_>) -> String {
        match value {
            Value::Signed(number) => number.to_string(),
            Value::Unsigned(number) => number.to_string(),
            Value::Text(text) => String::from_utf8_lossy(&text).into_owned(),
        }
    }
    traced_by(probes, filter, act, |(), trace| {
        let event = |event: dyntrace_reader::Event<'_>| {
            let fields: Vec<String> = event.fields().map(|(_, value)| show(value)).collect();
            format!("{} {}", event.class.probe(), fields.join(" "))
        };
        trace.events().map(event).collect()
    })
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test)
}

/// Creates a FIFO, whose operations block until its other end acts.
fn fifo(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let path = folder.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    path
}
