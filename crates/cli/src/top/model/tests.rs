//! The model on events made by hand.

use dyntrace_build::model::ArgumentKind;
use dyntrace_metadata as metadata;
use dyntrace_reader::{FileOperations, Source};

use super::sliding::SECOND;
use super::table::LINES;
use super::*;
use crate::top::listing::{Listing, Of};
use crate::top::tab::Tab;

/// A value of an event, packed.
fn text(value: &str) -> Vec<u8> {
    [value.as_bytes(), &[0]].concat()
}

fn number(value: i32) -> Vec<u8> {
    value.to_ne_bytes().to_vec()
}

fn long(value: u64) -> Vec<u8> {
    value.to_ne_bytes().to_vec()
}

/// All probes of the provider, by name.
struct Program {
    names: Vec<String>,
    source: Source,
}

impl Program {
    fn new() -> Program {
        let providers = dyntrace_programs::provider::Providers::with(&[]).unwrap();
        let probes = &providers.get("dyntrace").unwrap().probes;
        let kind = |kind| match kind {
            ArgumentKind::I32 => metadata::FieldKind::Signed { bits: 32 },
            ArgumentKind::U32 => metadata::FieldKind::Unsigned { bits: 32 },
            ArgumentKind::I64 => metadata::FieldKind::Signed { bits: 64 },
            ArgumentKind::U64 => metadata::FieldKind::Unsigned { bits: 64 },
            ArgumentKind::Text => metadata::FieldKind::Text,
        };
        let events = (0..).zip(probes).map(|(id, probe)| {
            let fields =
                probe.arguments.iter().map(|argument| (argument.name.as_str(), kind(argument.ty.kind))).collect();
            metadata::Event { id, name: format!("dyntrace:{}", probe.tool_name()).into(), fields }
        });
        let description = metadata::Description {
            byte_order: metadata::ByteOrder::NATIVE,
            uuid: [0; 16],
            environment: vec![("pid", metadata::Value::Number(12)), ("word_size", metadata::Value::Number(64))],
            clock: metadata::Clock { name: "boot", frequency: 1_000_000_000, offset_seconds: 0, offset_cycles: 0 },
            streams: vec![metadata::Stream { id: 0, checksums: true, compact: false, events: events.collect() }],
        };
        let source = Source::new(&description.text(metadata::Format::Ctf1)).unwrap();
        Program { names: probes.iter().map(|probe| probe.tool_name()).collect(), source }
    }

    /// Has the model take the event, which thread 7 fired.
    fn fire(&self, model: &mut Model, time: i64, name: &str, fields: &[Vec<u8>]) {
        let class = self.names.iter().position(|known| known == name).unwrap();
        let data = fields.concat();
        let event = self.source.event(class.try_into().unwrap(), time, 7, &data);
        model.event(&event.unwrap_or_else(|| panic!("{name} has other fields")));
    }
}

/// A number of the row with this first key.
fn of(listing: &Listing, key: &str, column: &str, of: Of) -> Option<u64> {
    let place = listing.tab.columns().iter().position(|known| known.name == column).unwrap();
    listing.rows.iter().find(|row| row.keys[0] == key).unwrap_or_else(|| panic!("{listing:?}")).numbers(of)[place]
}

fn spawn(proc: &str, function: &str) -> [Vec<u8>; 5] {
    [proc, function, "", "", ""].map(text)
}

#[test]
fn tasks_from_spawn_to_exit() {
    let (program, mut model) = (Program::new(), Model::default());
    program.fire(&mut model, SECOND, "process-spawn", &spawn("<0.1.0>", "turns"));
    program.fire(&mut model, SECOND, "process-spawn", &spawn("<0.2.0>", "turns"));
    for time in [2, 3, 25] {
        program.fire(&mut model, time * SECOND, "process-scheduled", &[text("<0.1.0>"), text("turns")]);
        let polled = [text("<0.1.0>"), long(time as u64 * 1000), text("pending")];
        program.fire(&mut model, time * SECOND, "process-unscheduled", &polled);
    }
    // One that was spawned before the recording.
    program.fire(&mut model, 25 * SECOND, "process-scheduled", &[text("<0.9.0>"), text("old")]);
    program.fire(&mut model, 25 * SECOND, "process-unscheduled", &[text("<0.9.0>"), long(5), text("panic")]);
    let tasks = model.listing(Tab::Tasks);
    let all = |column| of(&tasks, "turns", column, Of::All);
    assert_eq!((all("alive"), all("spawned"), all("polls"), all("busy_ns")), (Some(2), Some(2), Some(3), Some(30_000)));
    assert_eq!((all("not_polled"), all("max_ns")), (Some(1), Some(25_000)));
    let recent = |column| of(&tasks, "turns", column, Of::Recent);
    assert_eq!((recent("spawned"), recent("polls"), recent("max_ns")), (Some(0), Some(1), Some(25_000)));
    assert_eq!((of(&tasks, "old", "alive", Of::All), of(&tasks, "old", "panics", Of::All)), (Some(1), Some(1)));
    program.fire(&mut model, 26 * SECOND, "process-exit", &[text("<0.1.0>"), text("normal")]);
    program.fire(&mut model, 26 * SECOND, "process-exit", &[text("<0.77.0>"), text("normal")]);
    let tasks = model.listing(Tab::Tasks);
    assert_eq!((of(&tasks, "turns", "alive", Of::All), of(&tasks, "turns", "ended", Of::All)), (Some(1), Some(1)));
    assert_eq!(model.seconds().all, 25.0);
    assert_eq!(model.seconds().recent, 9.0);
}

#[test]
fn waits_for_a_resource_several_times_at_once() {
    let (program, mut model) = (Program::new(), Model::default());
    let wait = ["<0.1.0>", "#Ref<0.3>", "Mutex::lock", "src/cache.rs:40"].map(text);
    let [proc, resource, kind, place] = wait.clone();
    let resume = [proc, resource, long(70), text("ready"), kind, place];
    (1..=3).for_each(|time| program.fire(&mut model, time, "process-wait", &wait));
    program.fire(&mut model, 4, "process-resume", &resume);
    let all = |model: &Model, key: &str, column| of(&model.listing(Tab::Waits), key, column, Of::All);
    assert_eq!(
        ["waiting", "waits", "waited_ns"].map(|column| all(&model, "Mutex::lock", column)),
        [Some(2), Some(3), Some(70)]
    );
    // The fourth began before the recording.
    (5..=7).for_each(|time| program.fire(&mut model, time, "process-resume", &resume));
    assert_eq!(
        ["waiting", "waits", "waited_ns"].map(|column| all(&model, "Mutex::lock", column)),
        [Some(0), Some(3), Some(280)]
    );
}

#[test]
fn messages_and_queues() {
    let (program, mut model) = (Program::new(), Model::default());
    let none = [0, 0, 0].map(number);
    let sent = [vec![text("<0.1.0>"), text("<0.2.0>"), number(4)], none.to_vec()].concat();
    let queued = |length| [vec![text("<0.2.0>"), number(4), number(length)], none.to_vec()].concat();
    for length in 1..=3 {
        program.fire(&mut model, 1, "message-send", &sent);
        program.fire(&mut model, 2, "message-queued", &queued(length));
    }
    program.fire(&mut model, 3, "message-receive", &queued(2));
    let messages = model.listing(Tab::Messages);
    assert_eq!(messages.rows[0].keys, ["12", "<0.2.0>"]);
    let all = |column| of(&messages, "12", column, Of::All);
    assert_eq!(["queue", "sent", "received", "queue_max"].map(all), [2, 3, 1, 3].map(Some));
}

#[test]
fn lanes_of_the_pool_by_events_and_by_the_counts_of_the_process() {
    let (program, mut model) = (Program::new(), Model::default());
    let job = [1, 2, 12].map(number);
    program.fire(&mut model, 1, "aio_pool-get", &[text("#Port<0.1>"), number(4), number(2)]);
    program.fire(&mut model, 2, "efile_drv-int_entry", &job);
    let all = |model: &Model, column| of(&model.listing(Tab::Pools), "I/O", column, Of::All);
    assert_eq!(["queue", "busy", "jobs", "queue_max"].map(|column| all(&model, column)), [4, 1, 1, 5].map(Some));
    assert_eq!(["threads", "max_ns"].map(|column| all(&model, column)), [None, None]);
    program.fire(&mut model, 52, "efile_drv-int_return", &job);
    assert_eq!(["busy", "max_ns"].map(|column| all(&model, column)), [0, 50].map(Some));
    model.count_lane("slow", Counted { queued: 9, threads: 8, busy: 7 });
    model.count_lane("\u{1b}other", Counted { queued: 1, threads: 1, busy: 1 });
    assert_eq!(["queue", "threads", "busy", "jobs"].map(|column| all(&model, column)), [9, 8, 7, 1].map(Some));
    assert!(model.listing(Tab::Pools).rows.iter().any(|row| row.keys[1] == r"\x1bother"));
    let closure = |length| [text("<0.5.0>"), text("job"), number(length)];
    program.fire(&mut model, 60, "blocking-add", &closure(1));
    program.fire(&mut model, 70, "blocking-get", &closure(0));
    let blocking = |model: &Model, column| of(&model.listing(Tab::Pools), "blocking", column, Of::All);
    assert_eq!(["queue", "busy", "jobs", "queue_max"].map(|column| blocking(&model, column)), [0, 1, 1, 1].map(Some));
    program.fire(&mut model, 99, "blocking-done", &[&closure(0)[..], &[text("normal")]].concat());
    assert_eq!(["busy", "p50_ns"].map(|column| blocking(&model, column)), [0, 29].map(Some));
}

#[test]
fn more_functions_than_lines_are_counted_together() {
    let (program, mut model) = (Program::new(), Model::default());
    let count = 3 * LINES;
    for number in 0..count {
        let (proc, function) = (format!("<0.{number}.0>"), format!("function_{number}"));
        program.fire(&mut model, number as i64, "process-spawn", &spawn(&proc, &function));
    }
    let alive = |listing: &Listing| {
        let rows = listing.rows.iter().chain(&listing.others);
        rows.map(|row| row.all[0].unwrap()).sum::<u64>()
    };
    let tasks = model.listing(Tab::Tasks);
    assert!(tasks.rows.len() <= LINES);
    assert_eq!((tasks.rows.len() as u64 + tasks.left_out, alive(&tasks)), (count as u64, count as u64));
    for number in 0..count {
        program.fire(&mut model, count as i64, "process-exit", &[text(&format!("<0.{number}.0>")), text("normal")]);
    }
    assert_eq!(alive(&model.listing(Tab::Tasks)), 0);
}

#[test]
fn operations_have_the_sums_of_the_reader() {
    let trace = dyntrace_reader::Trace::open("../reader/tests/golden").unwrap();
    let (mut model, mut operations) = (Model::default(), FileOperations::default());
    for event in trace.events() {
        model.event(&event);
        operations.push(&event).iter().for_each(|operation| model.operation(operation));
    }
    let tab = model.listing(Tab::Operations);
    assert_eq!(tab.rows.len(), 2);
    assert_eq!((of(&tab, "RENAME", "errors", Of::All), of(&tab, "OPEN", "max_ns", Of::All)), (Some(1), Some(19_500)));
    assert_eq!(of(&model.listing(Tab::Tags), "req-1", "count", Of::Recent), Some(1));
}
