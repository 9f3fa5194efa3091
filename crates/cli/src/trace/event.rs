//! An event, as a line and as JSON.

use dyntrace::recorder::control::protocol::Record;
use dyntrace_terminal::escape;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::records::{self, Field};

const FIELDS: [Field; 15] = [
    ("event", "told", false),
    ("time_ns", "time", true),
    ("process", "process", false),
    ("thread", "thread", true),
    ("thread_name", "thread_name", false),
    ("tag", "tag", false),
    ("function", "function", false),
    ("file", "file", false),
    ("line", "line", true),
    ("text", "text", false),
    ("took_ns", "took", true),
    ("polled_ns", "polled", true),
    ("token_label", "label", false),
    ("token_previous", "previous", true),
    ("token_current", "current", true),
];

/// The line of an event: `12:00:01.204311 [worker-2 <0.57.0> req-81] call   shop::price(Order { id: 7 }, 250)`.
/// The lines of the `stack` follow, indented.
pub fn line(event: &Record, caller: Option<&str>, stack: &[String], zone: &TimeZone) -> String {
    let get = |name: &str| event.get(name).map(escape::name).unwrap_or_default();
    let time = time_of_day(event.number("time").unwrap_or_default(), zone);
    let thread = event.get("thread_name").map_or_else(|| format!("thread-{}", get("thread")), escape::name);
    let tag = event.get("tag").map(|tag| format!(" {}", escape::name(tag))).unwrap_or_default();
    let cut = if event.get("cut").is_some() { "..." } else { "" };
    let (function, text) = (get("function"), get("text"));
    let told = get("told");
    let what = match told.as_str() {
        "call" => format!("call   {function}({text}{cut})"),
        "return" => format!("return {function} -> {text}{cut}"),
        "error" => format!("error  {function} -> {text}{cut}"),
        "panic" => format!("panic  {function}: {text}{cut}"),
        other => format!("{other} {function}"),
    };
    let preposition = if told == "return_to" { "to" } else { "from" };
    let caller = caller.map(|caller| format!("  {preposition} {}", escape::name(caller))).unwrap_or_default();
    let count = |name| event.number(name).unwrap_or_default();
    let token = |label| format!("  label {} token {{{},{}}}", escape::name(label), count("previous"), count("current"));
    let token = event.get("label").map(token).unwrap_or_default();
    let took = event.number("took").map(|took| format!("  {} us", took / 1000)).unwrap_or_default();
    let polled = event.number("polled").map(|polled| format!(", polled {} us", polled / 1000)).unwrap_or_default();
    let stack: String = stack.iter().map(|line| format!("\n    {}", escape::name(line))).collect();
    format!("{time} [{thread} {}{tag}] {what}{caller}{token}{took}{polled}{stack}", get("process"))
}

pub fn object(event: &Record, caller: Option<String>, stack: Vec<String>) -> Value {
    let mut object = records::object(event, &FIELDS);
    object.extend(caller.map(|caller| ("caller".to_owned(), caller.into())));
    if event.get("frame").is_some() {
        object.insert("stack".to_owned(), stack.into());
    }
    if event.get("cut").is_some() {
        object.insert("cut".to_owned(), true.into());
    }
    object.into()
}

pub fn time_of_day(nanoseconds: u64, zone: &TimeZone) -> String {
    let time = Timestamp::from_nanosecond(nanoseconds.into()).unwrap_or_default();
    zone.to_datetime(time).strftime("%H:%M:%S.%6f").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(text: &str) -> Record {
        let common = "time=1795255201204311999\tprocess=<0.57.0>\tthread=2\tfunction=shop::price\tline=7\t";
        format!("{common}{text}").parse().unwrap()
    }

    #[test]
    fn lines() {
        for (text, expected) in [
            (
                "told=call\ttag=req-81\ttext=7, \"a\x1b\"\tcaller=src/cart.rs:88",
                "<0.57.0> req-81] call   shop::price(7, \"a\\x1b\")  from src/cart.rs:88",
            ),
            (
                "told=call\ttext=\tlabel=17\tprevious=1\tcurrent=2",
                "<0.57.0>] call   shop::price()  label 17 token {1,2}",
            ),
            ("told=return_to\tcaller=a at b:7\ttook=1", "<0.57.0>] return_to shop::price  to a at b:7  0 us"),
            ("told=return\ttext=Ok(1250)\ttook=29999", "<0.57.0>] return shop::price -> Ok(1250)  29 us"),
            ("told=error\ttext=Err(0)\ttook=1999", "<0.57.0>] error  shop::price -> Err(0)  1 us"),
            ("told=panic\ttext=no\tcut=1\ttook=1", "<0.57.0>] panic  shop::price: no...  0 us"),
            ("told=cancelled\ttook=5000\tpolled=2000", "<0.57.0>] cancelled shop::price  5 us, polled 2 us"),
        ] {
            let event = event(text);
            assert_eq!(
                line(&event, event.get("caller"), &[], &TimeZone::UTC),
                format!("10:00:01.204311 [thread-2 {expected}")
            );
        }
    }

    #[test]
    fn threads_by_their_names_at_the_time_of_here() {
        let zone = TimeZone::fixed(jiff::tz::offset(-12));
        let line = line(
            &event("told=call\ttext=\tthread_name=worker\\n2"),
            None,
            &["a\x1b".to_owned(), "b at c:7".to_owned()],
            &zone,
        );
        assert_eq!(line, "22:00:01.204311 [worker\\x0a2 <0.57.0>] call   shop::price()\n    a\\x1b\n    b at c:7");
    }

    #[test]
    fn the_page_has_the_fields() {
        let text = "told=return\ttext=\ttook=5\tpolled=2\tthread_name=w\ttag=t\tfile=f\tlabel=17\tprevious=1\tcurrent=2\tcut=1\tframe=1";
        let mut fields = crate::page::Fields::new(&[]);
        fields.add(&object(&event(text), Some("src/cart.rs:88".to_owned()), vec!["a at b:7".to_owned()]));
        fields.are_those_below("dyntrace trace --json");
    }

    #[test]
    fn objects_have_what_is_known() {
        let event = event("told=return\ttext=\ttook=5\tcut=1\tthread_name=worker-2");
        let object = object(&event, Some("src/cart.rs:88".to_owned()), Vec::new());
        assert_eq!(object["caller"], "src/cart.rs:88");
        assert_eq!((&object["event"], &object["took_ns"], &object["cut"]), (&"return".into(), &5.into(), &true.into()));
        assert_eq!((&object["line"], &object["text"]), (&7.into(), &"".into()));
        assert_eq!((&object["thread"], &object["thread_name"]), (&2.into(), &"worker-2".into()));
        assert!(object.get("tag").is_none() && object.get("stack").is_none());
    }
}
