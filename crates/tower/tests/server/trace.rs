//! The file operations of a recording.

use std::collections::BTreeMap;
use std::path::Path;

use dyntrace::efile::Command;
use dyntrace::recorder::{Options, Session};
use dyntrace_reader::{Event, Trace, Value};

/// A recorded operation: its command, and the tags of its `efile_drv-entry` and `efile_drv-return`.
#[derive(Debug, PartialEq, Eq)]
pub struct Traced {
    pub command: &'static str,
    pub tag: String,
}

/// Runs `act`, and returns all file operations of the program meanwhile, as [`of`].
pub fn recorded(act: impl FnOnce()) -> Vec<Traced> {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(folder.path())).unwrap();
    act();
    let summary = session.stop().unwrap();
    assert_eq!(summary.status.discarded, 0);
    of(folder.path())
}

/// Returns all file operations of the trace in `folder`. Asserts that each has an entry and a return with the same tag, and that no event
/// was lost.
pub fn of(folder: &Path) -> Vec<Traced> {
    let trace = Trace::open(folder).unwrap();
    let mut in_flight = BTreeMap::new();
    let mut operations = Vec::new();
    for event in trace.events() {
        let id = || (number(&event, "thread_id"), number(&event, "tag"));
        match event.class.probe() {
            "efile_drv-entry" => {
                assert_eq!(in_flight.insert(id(), read(&event)), None, "one operation has an id at a time")
            }
            "efile_drv-return" => {
                assert_eq!(in_flight.remove(&id()), Some(read(&event)), "the entry has the tag of the return");
                operations.push(read(&event));
            }
            _ => {}
        }
    }
    assert_eq!(in_flight, BTreeMap::new(), "each operation returns");
    assert!(trace.losses().is_empty(), "{:?}", trace.losses());
    operations
}

fn read(event: &Event<'_>) -> Traced {
    let command = number(event, "command");
    let command = Command::ALL.iter().find(|known| i64::from(known.number()) == command).expect("a command");
    let Some(Value::Text(tag)) = event.field("user_tag") else { panic!("no user tag in {event:?}") };
    Traced { command: command.name(), tag: String::from_utf8(tag.to_vec()).unwrap() }
}

fn number(event: &Event<'_>, field: &str) -> i64 {
    match event.field(field) {
        Some(Value::Signed(number)) => number,
        Some(Value::Unsigned(number)) => number.try_into().unwrap(),
        other => panic!("{field} of {} is {other:?}", event.class.probe()),
    }
}

/// Returns the commands of each tag, in order of their returns.
pub fn by_tag(operations: &[Traced]) -> BTreeMap<&str, Vec<&'static str>> {
    let mut tags: BTreeMap<&str, Vec<&'static str>> = BTreeMap::new();
    for operation in operations {
        tags.entry(&operation.tag).or_default().push(operation.command);
    }
    tags
}
