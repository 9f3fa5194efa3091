//! Records a driver's operations and reads them back, for the tests of the drivers.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use dyntrace::recorder::{Options, Session};
use dyntrace_reader::{Event, Trace, Value};

/// The arguments of a probe by their names.
pub type Arguments = BTreeMap<String, String>;

/// One operation.
#[derive(Debug)]
pub struct Operation {
    /// The arguments of its entry.
    pub entry: Arguments,
    /// The names of the probes between entry and return.
    pub between: Vec<String>,
    /// The arguments of its return.
    pub returned: Arguments,
}

/// Records `work` and returns the operations of `driver` in the order of their entries.
///
/// # Panics
///
/// Unless each entry has one return.
pub fn operations(driver: &str, work: impl Future) -> Vec<Operation> {
    /// A session records the whole process: one test at a time.
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);

    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(directory.path())).unwrap();
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(work);
    let summary = session.stop().unwrap();
    assert!(summary.errors.is_empty(), "{:?}", summary.errors);

    let trace = Trace::open(directory.path()).unwrap();
    let mut numbers = BTreeMap::new();
    let mut operations: Vec<Operation> = Vec::new();
    for event in trace.events() {
        let Some(probe) = event.class.probe().strip_prefix(driver).and_then(|name| name.strip_prefix('-')) else {
            continue;
        };
        let arguments = arguments(&event);
        let id = (arguments["thread_id"].clone(), arguments["tag"].clone());
        if probe == "entry" {
            let before = numbers.insert(id, operations.len());
            assert_eq!(before, None, "a second entry: {event:?}");
            operations.push(Operation { entry: arguments, between: Vec::new(), returned: Arguments::new() });
            continue;
        }
        let operation = &mut operations[numbers[&id]];
        assert!(operation.returned.is_empty(), "after the return: {event:?}");
        assert_eq!(arguments["command"], operation.entry["command"]);
        match probe {
            "return" => operation.returned = arguments,
            other => operation.between.push(other.to_owned()),
        }
    }
    assert!(operations.iter().all(|operation| !operation.returned.is_empty()), "no return: {operations:?}");
    assert!(trace.losses().is_empty(), "{:?}", trace.losses());
    operations
}

fn arguments(event: &Event<'_>) -> Arguments {
    let text = |value| match value {
        Value::Signed(number) => number.to_string(),
        Value::Unsigned(number) => number.to_string(),
        Value::Text(text) => String::from_utf8_lossy(&text).into_owned(),
    };
    event.fields().map(|(name, value)| (name.to_owned(), text(value))).collect()
}
