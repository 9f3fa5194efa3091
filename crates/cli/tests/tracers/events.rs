//! The lines of the script `efile_drv`, compared with the program's operations.

use std::collections::{BTreeMap, BTreeSet};

use dyntrace::efile;

use crate::programs::Done;

/// Commands that the calling thread may try before they go to the pool.
const TRIED: [&str; 12] = [
    "CANONICALIZE", "FSTAT", "LSEEK", "LSTAT", "OPEN", "PREADV", "PWRITEV", "READ", "READLINK", "READ_FILE",
    "READ_LINE", "WRITE",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Enter,
    IntEntry,
    IntReturn,
    Return,
}

#[derive(Debug)]
struct Event<'a> {
    step: Step,
    /// `thread,number`.
    tag: &'a str,
    user_tag: Option<&'a str>,
    command: &'a str,
    port: Option<&'a str>,
    errno: Option<i32>,
}

/// Reads a line such as `efile_drv return tag={1,1} user tag req-1 | RENAME (12) | errno 2`.
fn event(line: &str) -> Option<Event<'_>> {
    let mut parts = line.splitn(3, " | ");
    let (head, command, last) = (parts.next()?, parts.next()?, parts.next()?);
    let (kind, tags) = head.split_once(" tag={")?;
    let (tag, user_tag) = tags.split_once('}')?;
    let step = match (kind, last) {
        ("efile_drv enter", _) => Step::Enter,
        ("async I/O worker", "efile_drv-int_entry") => Step::IntEntry,
        ("async I/O worker", "efile_drv-int_return") => Step::IntReturn,
        ("efile_drv return", _) => Step::Return,
        _ => return None,
    };
    Some(Event {
        step,
        tag,
        user_tag: user_tag.strip_prefix(" user tag "),
        command: efile::Command::ALL.iter().find(|known| known.to_string() == command)?.name(),
        port: last.rsplit_once(" (port ").and_then(|(_args, port)| port.strip_suffix(')')),
        errno: last.strip_prefix("errno ").and_then(|errno| errno.parse().ok()),
    })
}

/// Whether lines are in the order of the events.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Order {
    OfTime,
    /// Only within each processor.
    PerProcessor,
}

/// Compares the trace of a `file_storm` with its own count.
pub fn check(trace: &str, done: &Done, order: Order, is_port: impl Fn(&str) -> bool) {
    let (seen, user_tags) = seen(trace, order, is_port);
    assert_eq!(&seen, done, "operations that went well and that failed, by command: traced, and as file_storm counted");
    let expected: BTreeSet<String> = (1..=user_tags.len()).map(|task| format!("req-{task}")).collect();
    assert_eq!(user_tags, expected.iter().map(String::as_str).collect());
}

/// The operations in a trace, by command, and their user tags: every operation is entered and answered once, its service begins and ends
/// once in between, and all its lines have the same tags and command. A missed attempt of the calling thread begins it once more.
pub fn seen(trace: &str, order: Order, is_port: impl Fn(&str) -> bool) -> (Done, BTreeSet<&str>) {
    let mut operations: BTreeMap<&str, Vec<Event<'_>>> = BTreeMap::new();
    for line in trace.lines() {
        let event = event(line).unwrap_or_else(|| panic!("no line of efile_drv: {line:?}"));
        operations.entry(event.tag).or_default().push(event);
    }

    let mut seen = Done::new();
    let mut user_tags = BTreeSet::new();
    for (tag, mut events) in operations {
        if order == Order::PerProcessor {
            events.sort_by_key(|event| event.step);
        }
        let mut steps: Vec<Step> = events.iter().map(|event| event.step).collect();
        if TRIED.contains(&events[0].command) {
            steps.dedup();
        }
        assert_eq!(steps, [Step::Enter, Step::IntEntry, Step::IntReturn, Step::Return], "the steps of {tag}");
        let [enter, .., answer] = events.as_slice() else { unreachable!("four steps") };
        assert!(events.iter().all(|event| event.command == enter.command), "commands of {tag}: {events:?}");
        assert_eq!(enter.user_tag, answer.user_tag, "user tags of {tag}");
        assert!(is_port(enter.port.expect("an enter line has a port")), "the port of {enter:?}");
        user_tags.extend(enter.user_tag);

        let count = seen.entry(enter.command.to_owned()).or_default();
        match answer.errno.expect("a return line has an errno") {
            0 => count.0 += 1,
            _ => count.1 += 1,
        }
    }
    (seen, user_tags)
}

/// Whether this is a port in the form of probes.
pub fn port(text: &str) -> bool {
    text.strip_prefix("#Port<0.").and_then(|rest| rest.strip_suffix('>')).is_some_and(|n| n.parse::<u64>().is_ok())
}
