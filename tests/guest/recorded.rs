//! A module's probes are recorded by the program's sessions.

use std::path::Path;

use dyntrace::code;
use dyntrace::recorder::{Glob, Options, Session};
use dyntrace_reader::{Trace, Value};

use crate::support::{Turn, export, load};

/// Returns the module's events, each with its number.
fn fired(trace: &Path) -> Vec<String> {
    let trace = Trace::open(trace).unwrap();
    let shown = trace.events().filter_map(|event| {
        let number = match event.field("cents").or_else(|| event.field("i1"))? {
            Value::Unsigned(number) => number.cast_signed(),
            Value::Signed(number) => number,
            Value::Text(_) => return None,
        };
        let tag = match event.field("user_tag") {
            Some(Value::Text(tag)) => format!(" {}", String::from_utf8_lossy(&tag)),
            _ => String::new(),
        };
        Some(format!("{} {number}{tag}", event.class.probe()))
    });
    shown.collect()
}

#[tokio::test]
async fn with_those_of_the_program_and_those_that_only_it_has() {
    let _turn = Turn::take().await;
    let folder = tempfile::tempdir().unwrap();
    let all = Session::start(Options::new(folder.path().join("all"))).unwrap();
    load("v1").await;
    dyntrace::put_tag("eve").unwrap();
    let later = Session::start(Options::new(folder.path().join("later"))).unwrap();
    let mut options = Options::new(folder.path().join("some"));
    options.probes = vec![Glob::from("order-*")];
    let some = Session::start(options).unwrap();
    let mut options = Options::new(folder.path().join("tagged"));
    options.filter.tag = Some(Glob::from("adam"));
    let tagged = Session::start(options).unwrap();
    let fire = export::<fn(u32)>("fire");
    fire.call(1).unwrap();
    load("v2").await;
    fire.call(2).unwrap();
    code::purge("shelf").await.unwrap();
    std::thread::spawn(move || fire.call(3).unwrap()).join().unwrap();
    for session in [all, later, some, tagged] {
        let summary = session.stop().unwrap();
        assert_eq!((summary.status.discarded, summary.errors.len()), (0, 0));
    }
    let all = [
        "user_trace-i4s4 1 eve",
        "order-paid 1",
        "user_trace-i4s4 2 eve",
        "order-paid 2",
        "user_trace-i4s4 3 ",
        "order-paid 3",
    ];
    let fired = |name: &str| fired(&folder.path().join(name));
    assert_eq!(fired("all"), all);
    assert_eq!(fired("later"), all);
    assert_eq!(fired("some"), ["order-paid 1", "order-paid 2", "order-paid 3"]);
    assert_eq!(fired("tagged"), ["order-paid 1", "order-paid 2", "order-paid 3"]);
}
