//! Numbered events, and comparison of traces with the fired events.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use dyntrace::recorder::{Options, Session, Summary};
use dyntrace_reader::{Losses, Trace, Value};

const TEXT: &str =
    "some text of which each event takes another length, so that packets end at every place that there is";

/// Returns `short` with the other tests, `long` in `ci/faults`.
pub fn times(short: usize, long: usize) -> usize {
    if std::env::var_os("DYNTRACE_TEST_LONG").is_some() { long } else { short }
}

/// One test at a time, as a session records the whole process and some tests need the whole machine.
pub fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Fires an event with `line`, the number of its source, and its number there. Safe in a signal handler.
pub fn fire(line: i32, number: i32) {
    let text = &TEXT[..number as usize % TEXT.len()];
    dyntrace::probes::efile_drv::entry(|| {
        (line, number, "tag", 12, text, None::<&str>, number.into(), 0, 0, 0, None::<&str>)
    });
}

/// The numbers of each line's events, in the order of the trace.
pub type Lines = BTreeMap<i64, Vec<i64>>;

/// Reads a trace. Panics if it is damaged, if time goes back in a thread, or if an event differs from the fired one.
pub fn read(trace: &Path) -> Lines {
    read_counted(trace).0
}

/// The same; also returns the number of events that the trace reports as lost.
pub fn read_counted(trace: &Path) -> (Lines, u64) {
    let (lines, losses) = read_damaged(trace);
    assert!(losses.damaged.is_empty(), "{:?}", losses.damaged);
    let lost = losses.discarded.iter().map(|lost| lost.count).chain(losses.lost.iter().map(|lost| lost.count));
    (lines, lost.sum())
}

/// Returns the reported losses of a trace.
pub fn read_losses(trace: &Path) -> Losses {
    let trace = Trace::open(trace).unwrap();
    trace.events().for_each(drop);
    trace.losses()
}

fn read_damaged(trace: &Path) -> (Lines, Losses) {
    let trace = Trace::open(trace).unwrap();
    let mut lines = Lines::new();
    let mut last = BTreeMap::new();
    for event in trace.events() {
        let before = last.insert((event.tid, event.class.provider() == "recorder"), event.time);
        assert!(before.is_none_or(|before| before <= event.time), "time goes back in thread {}", event.tid);
        if event.class.probe() != "efile_drv-entry" {
            continue;
        }
        let Some(Value::Signed(line)) = event.field("thread_id") else { panic!("no line: {event:?}") };
        let Some(Value::Signed(number)) = event.field("tag") else { panic!("no number: {event:?}") };
        assert_eq!(event.field("user_tag"), Some(Value::Text(b"tag".into())));
        assert_eq!(event.field("s1"), Some(Value::Text(TEXT[..number as usize % TEXT.len()].into())));
        assert_eq!(event.field("i1"), Some(Value::Signed(number)));
        lines.entry(line).or_default().push(number);
    }
    (lines, trace.losses())
}

/// Returns the numbers around the first gap after `first`, if there is one.
pub fn gap(numbers: &[i64], first: i64) -> Option<(i64, &[i64])> {
    let (index, expected) = (0..).zip(first..).take(numbers.len()).find(|&(index, number)| numbers[index] != number)?;
    Some((expected, &numbers[index.saturating_sub(2)..numbers.len().min(index + 3)]))
}

/// Has babeltrace2 read the trace: it may print only the number of discarded events.
pub fn read_by_babeltrace(trace: &Path) {
    let Ok(output) = Command::new("babeltrace2").args(["-o", "dummy"]).arg(trace).output() else {
        return crate::missing::skip("babeltrace2", "not installed");
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    let is_count = |line: &str| line.is_empty() || line.contains("WARNING: Tracer discarded");
    assert!(output.status.success() && errors.lines().all(is_count), "babeltrace2 {}: {errors}", trace.display());
}

/// Stops a session, which must not have errors.
pub fn stop(session: Session) -> Summary {
    let summary = session.stop().unwrap();
    assert!(summary.errors.is_empty(), "{:?}", summary.errors);
    summary
}

pub fn options(directory: &Path, options: &str) -> Options {
    format!("record:{}{options}", directory.display()).parse().unwrap()
}

const INSIDE: &str = "DYNTRACE_TEST_INSIDE";

/// The working directory of the program that [`inside`] starts; `None` in the starting test.
pub fn inside_of() -> Option<std::path::PathBuf> {
    std::env::var_os(INSIDE).map(Into::into)
}

/// Returns the command that runs the test of this name in `directory`, prefixed by the words `by`.
pub fn program(test: &str, directory: &Path, by: &[&str]) -> Command {
    let this = std::env::current_exe().unwrap();
    let mut command = match by {
        [] => Command::new(&this),
        [first, others @ ..] => {
            let mut command = Command::new(first);
            command.args(others).arg(&this);
            command
        }
    };
    command.args(["--exact", test, "--nocapture"]).env(INSIDE, directory);
    command
}

/// Runs [`program`]. Panics if it fails.
pub fn run(test: &str, directory: &Path, by: &[&str]) {
    let output = program(test, directory, by).output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}: {shown}\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    assert!(shown.contains("1 passed"), "{shown}");
}
