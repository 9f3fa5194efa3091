//! Events and the summary, as lines and as JSON.

use dyntrace::monitor::Kind;
use dyntrace::recorder::control::protocol::Record;
use dyntrace_inspect::threads::stack::lines as functions;
use dyntrace_terminal::escape;
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::events;
use super::stack::Stack;
use crate::records::{self, Field};
use crate::trace::event::time_of_day;

const FIELDS: [Field; 17] = [
    ("event", "kind", false),
    ("time_ns", "time", true),
    ("amount", "amount", true),
    ("limit", "limit", true),
    ("process", "process", false),
    ("function", "function", false),
    ("spawned", "spawned", false),
    ("tag", "tag", false),
    ("operation", "operation", false),
    ("resource", "resource", false),
    ("place", "place", false),
    ("port", "port", false),
    ("thread", "thread", true),
    ("thread_name", "thread_name", false),
    ("state", "state", false),
    ("system_call", "system_call", false),
    ("kernel_function", "kernel_function", false),
];

/// The line of an event, and the functions of its thread, indented.
pub fn lines(event: &Record, stack: Option<&Stack>, all: bool, zone: &TimeZone) -> String {
    let time = time_of_day(event.number("time").unwrap_or_default(), zone);
    let mut text = format!("{time} {}\n", escape::name(event.get("text").unwrap_or_default()));
    if let Some(Stack { thread, after }) = stack {
        text += &format!("  its thread {:.1} ms later, when the poll may have ended:\n", after.as_secs_f64() * 1e3);
        for line in functions(thread, all) {
            text += &format!("    {line}\n");
        }
    }
    text
}

pub fn object(event: &Record, stack: Option<&Stack>) -> Value {
    let mut object = records::object(event, &FIELDS);
    if let Some(Stack { thread, after }) = stack {
        object.insert("stack_after_ns".to_owned(), u64::try_from(after.as_nanos()).unwrap_or(u64::MAX).into());
        object.insert("frames".to_owned(), json!(thread.frames));
        object.insert("ending".to_owned(), json!(thread.ending));
    }
    object.into()
}

/// The last object, of a monitor that has not seen all tasks.
pub fn unknown(unseen: &str) -> Value {
    json!({ "unknown": unseen })
}

/// The counts of the last message, in words.
pub fn summary(end: &Record) -> String {
    let counts = Kind::ALL.into_iter().map(|kind| (kind, events(end, kind))).filter(|(_, events)| *events > 0);
    let counts: Vec<String> = counts.map(|(kind, events)| format!("{kind} {events}")).collect();
    let counts = if counts.is_empty() { "no event".to_owned() } else { counts.join(", ") };
    match end.number("left_out").unwrap_or_default() {
        0 => counts,
        left_out => format!("{counts}; {left_out} of these left out"),
    }
}

#[cfg(test)]
mod tests {
    use dyntrace_tasks::threads::{Ending, Frame, Role, Thread};

    use super::*;
    use crate::page::Fields;

    fn event() -> Record {
        FIELDS.into_iter().fold(
            Record::default().with("text", "long_schedule: a\u{7}b"),
            |event, (_, name, is_number)| {
                let value = if is_number { "1795255201204311999" } else { "x" };
                event.with(name, value)
            },
        )
    }

    fn stack() -> Stack {
        let place = Some(dyntrace_tasks::listing::SourceLine { file: "src/a.rs".into(), line: 7 });
        let function = Some("shop::pay".to_owned());
        let frame = Frame { address: 16, image: "shop".to_owned(), function, place, inlined: false };
        let nameless = Frame { address: 32, function: None, place: None, ..frame.clone() };
        let thread = Thread {
            tid: 7,
            name: "worker".to_owned(),
            role: Role::Worker,
            activity: None,
            task: None,
            owner: None,
            job: None,
            state: 'S',
            system_call: None,
            kernel_function: None,
            cpu_time: None,
            frames: vec![frame, nameless],
            ending: Ending::Complete,
            at: None,
            held: None,
        };
        Stack { thread, after: std::time::Duration::from_micros(1250) }
    }

    #[test]
    fn an_event_has_the_functions_of_its_thread_below() {
        let text = lines(&event(), Some(&stack()), false, &TimeZone::UTC);
        assert_eq!(
            text,
            "10:00:01.204311 long_schedule: a\\x07b\n  its thread 1.2 ms later, when the poll may have ended:\n    shop::pay at src/a.rs:7\n    (1 function without a name)\n"
        );
        assert!(lines(&event(), None, false, &TimeZone::UTC).ends_with("a\\x07b\n"));
    }

    #[test]
    fn the_page_has_the_fields() {
        let mut fields = Fields::new(&[]);
        fields.add(&object(&event(), Some(&stack())));
        fields.add(&unknown("x"));
        fields.are_those_below("dyntrace monitor --json");
        assert_eq!(object(&Record::default().with("kind", "busy_port"), None), json!({"event": "busy_port"}));
    }

    #[test]
    fn the_summary_has_the_kinds_with_events() {
        let end = Record::default().with("told", "end").with("left_out", 0);
        assert_eq!(summary(&end), "no event");
        let end =
            Record::default().with("left_out", 4).with("long_wait", 104).with("busy_port", 1).with("long_schedule", 0);
        assert_eq!(summary(&end), "long_wait 104, busy_port 1; 4 of these left out");
    }
}
