//! Any recorded events are read back completely and in order, by the reader and by babeltrace2.

mod common;
#[path = "../../../tests/common/missing.rs"]
mod missing;

use std::process::Command;

use common::{Arg, Fired, START, SUB_BUFFER, Writer};
use dyntrace_build::model::ArgumentKind;
use dyntrace_reader::{Event, Trace, Value};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Generates any event of any probe, without its time.
fn event() -> impl Strategy<Value = (String, Vec<Arg>)> {
    let classes: Vec<_> = common::classes().into_iter().filter(|class| class.stream == 0).collect();
    prop::sample::select(classes).prop_flat_map(|class| {
        let args: Vec<_> = class.fields.iter().map(|(_, kind)| arg(*kind)).collect();
        (Just(class.name), args)
    })
}

fn arg(kind: ArgumentKind) -> BoxedStrategy<Arg> {
    match kind {
        ArgumentKind::I32 => any::<i32>().prop_map(|number| Arg::I(number.into())).boxed(),
        ArgumentKind::U32 => any::<u32>().prop_map(|number| Arg::U(number.into())).boxed(),
        ArgumentKind::I64 => any::<i64>().prop_map(Arg::I).boxed(),
        ArgumentKind::U64 => any::<u64>().prop_map(Arg::U).boxed(),
        ArgumentKind::Text => prop::collection::vec(1..=u8::MAX, 0..100).prop_map(Arg::S).boxed(),
    }
}

/// Generates up to five files of up to 300 events, with times in a narrow range, so that they interleave.
fn files() -> impl Strategy<Value = Vec<Vec<Fired>>> {
    let fired = (0..500_u64, event()).prop_map(|(cycles, (name, args))| Fired { name, cycles, args });
    let file = prop::collection::vec(fired, 0..300).prop_map(|mut events| {
        events.sort_by_key(|event| event.cycles);
        events
    });
    prop::collection::vec(file, 0..5)
}

fn write(writer: &Writer, files: &[Vec<Fired>], size: usize) {
    for (number, events) in files.iter().enumerate() {
        let packets = writer.packets(0, number as u64, size, events).concat();
        writer.write(&format!("ring-{number}"), &[packets, writer.prepared(0)].concat());
    }
}

fn value(arg: &Arg) -> Value<'_> {
    match arg {
        Arg::I(number) => Value::Signed(*number),
        Arg::U(number) => Value::Unsigned(*number),
        Arg::S(text) => Value::Text(text[..].into()),
    }
}

/// Whether the reader returned the written event.
fn same(read: &Event<'_>, written: &Fired) -> bool {
    read.time == START + written.cycles as i64
        && read.class.name == written.name
        && read.fields().map(|(_, value)| value).eq(written.args.iter().map(value))
        && (0..written.args.len()).all(|position| read.value(position) == Some(value(&written.args[position])))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn is_read_back_whole_and_in_order(files in files(), size in prop::sample::select(vec![4096, 8192, SUB_BUFFER]), little in any::<bool>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let mut writer = Writer::new(folder.path());
        writer.little = little;
        writer.write_metadata();
        write(&writer, &files, size);

        let trace = Trace::open(folder.path()).expect("a trace");
        let mut left: Vec<_> = files.iter().map(|file| file.iter()).collect();
        let mut last = i64::MIN;
        for event in trace.events() {
            prop_assert!(last <= event.time);
            last = event.time;
            let written = left[event.tid as usize].next().expect("no more than were written");
            prop_assert!(same(&event, written), "{event:?} {written:?}");
        }
        prop_assert!(left.iter_mut().all(|file| file.next().is_none()));
        let mut losses = trace.losses();
        prop_assert!(losses.are_unknown() <= files.iter().all(Vec::is_empty), "{losses:?}");
        losses.empty.clear();
        prop_assert!(losses.is_empty(), "{losses:?}");
    }
}

#[test]
fn babeltrace2_reads_as_many_events_without_a_word() {
    if Command::new("babeltrace2").arg("--version").output().is_err() {
        missing::skip("babeltrace2", "not installed");
        return;
    }
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    for _ in 0..5 {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = Writer::new(folder.path());
        write(&writer, &files().new_tree(&mut runner).expect("files").current(), SUB_BUFFER);
        let trace = Trace::open(folder.path()).expect("a trace");
        let output = Command::new("babeltrace2").arg(folder.path()).output().expect("babeltrace2");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        // Newlines in strings are printed unescaped: an event line is recognized by its beginning.
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| line.starts_with(b"[")).count();
        assert_eq!(lines, trace.events().count());
    }
}
