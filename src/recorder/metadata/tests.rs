use std::fs;
use std::path::Path;
use std::ptr;
use std::sync::LazyLock;
use std::time::UNIX_EPOCH;

use dyntrace_metadata::FieldKind;
use dyntrace_metadata::event_header::TIME_BITS;
use dyntrace_metadata::packet::{PAGE, SUB_BUFFER};
use dyntrace_probes::clock;
use dyntrace_probes::rings::field::Field;
use dyntrace_probes::rings::payload::Payload;
use dyntrace_probes::rings::ring::Ring;
use dyntrace_probes::rings::ring_file::RingFile;
use dyntrace_probes::rings::stream_file::StreamFile;
use dyntrace_reader::{Follower, Trace, Value};
use proptest::prelude::*;

use super::*;
use crate::recorder::synthetic::{
    EVENTS, UUID, babeltrace, create, describe, describe_as, event, finish, write_packet,
};

const FIELDS: [Field<'static>; 5] =
    [Field::I32(-1), Field::U32(u32::MAX), Field::I64(i64::MIN), Field::U64(u64::MAX), Field::Text(b"caf\xc3\xa9")];

/// A stream with one packet of a sub-buffer and one of two pages, six events in all, then prepared pages.
fn make_stream(path: &Path, stream_id: u32, prepared: u64) -> StreamFile {
    let stream = create(path, UUID, stream_id, 1 << 20, prepared).unwrap();
    let content = |count| (0..count).flat_map(|_| [event(0, &FIELDS), event(1, &[])].concat()).collect::<Vec<u8>>();
    write_packet(&stream, 0, SUB_BUFFER as u64, 1, &content(2));
    write_packet(&stream, SUB_BUFFER as u64, 2 * PAGE as u64, 2, &content(1));
    stream
}

#[test]
fn babeltrace2_reads_a_trace_cut_at_any_page() {
    let dir = tempfile::tempdir().unwrap();
    describe(dir.path(), "by hand");
    let path = dir.path().join("ring-1");
    let entered = (SUB_BUFFER + 2 * PAGE) as u64;
    drop(make_stream(&path, RING_STREAM, entered + 3 * PAGE as u64));
    for pages in (0..=3).rev() {
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(entered + pages * PAGE as u64).unwrap();
        let Some(lines) = babeltrace(dir.path()) else { return };
        assert_eq!(lines.len(), 6, "{lines:#?}");
        let fields = "{ small = -1, count = 4294967295, large = -9223372036854775808, bits = 18446744073709551615, event = \"café\" }";
        assert!(lines[0].contains("made:by-hand") && lines[0].contains(fields), "{}", lines[0]);
        assert!(lines[1].contains("made:nothing"), "{}", lines[1]);
    }
}

#[test]
fn babeltrace2_reads_what_was_finished_and_what_has_nothing_in_it() {
    let dir = tempfile::tempdir().unwrap();
    describe(dir.path(), "by hand");
    drop(make_stream(&dir.path().join("ring-1"), RING_STREAM, 1 << 18));
    for empty in ["ring-2", "ring-3"] {
        create(&dir.path().join(empty), UUID, RING_STREAM, 1 << 20, 2 * PAGE as u64).unwrap();
    }
    for finished in ["ring-1", "ring-2"] {
        finish(&dir.path().join(finished), true).unwrap();
    }
    assert_eq!(fs::metadata(dir.path().join("ring-1")).unwrap().len(), (SUB_BUFFER + 2 * PAGE) as u64);
    assert_eq!(fs::metadata(dir.path().join("ring-2")).unwrap().len(), 0);
    assert!(babeltrace(dir.path()).is_none_or(|lines| lines.len() == 6));
}

#[test]
fn babeltrace2_joins_rings_the_low_rate_channel_and_other_processes() {
    let dir = tempfile::tempdir().unwrap();
    for process in ["a-1", "b-2"] {
        let folder = dir.path().join(process);
        fs::create_dir(&folder).unwrap();
        let mut uuid = UUID;
        uuid[0] = process.as_bytes()[0];
        let description = Description {
            uuid,
            hostname: "h",
            procname: process,
            pid: 1,
            mode: Mode::Overwrite,
            format: Format::Ctf1,
            clock: Calibration::start(),
            clock_name: clock::name(),
            events: &EVENTS,
        };
        write(&Folder::open(&folder).unwrap(), &description).unwrap();
        let ring = create(&folder.join("ring-1"), uuid, RING_STREAM, 1 << 20, 1 << 16).unwrap();
        write_packet(&ring, 0, SUB_BUFFER as u64, 1, &event(1, &[]));
        let channel = create(&folder.join("process"), uuid, PROCESS_STREAM, 1 << 20, 1 << 16).unwrap();
        let events = [
            event(process_event::THREAD, &[Field::U64(7), Field::Text(b"main")]),
            event(process_event::LOST, &[Field::U64(1), Field::Text(b"no ring")]),
            event(process_event::CLOCK, &[Field::U64(1)]),
            event(process_event::END, &[Field::U64(0)]),
        ];
        write_packet(&channel, 0, SUB_BUFFER as u64, 1, &events.concat());
    }
    let Some(lines) = babeltrace(dir.path()) else { return };
    assert_eq!(lines.len(), 10, "{lines:#?}");
    for name in ["made:nothing", "recorder:thread", "recorder:lost", "recorder:clock", "recorder:end"] {
        assert_eq!(lines.iter().filter(|line| line.contains(name)).count(), 2, "{name}: {lines:#?}");
    }
}

#[test]
fn new_metadata_replaces_the_old_text() {
    let dir = tempfile::tempdir().unwrap();
    describe(dir.path(), "first");
    describe(dir.path(), "second");
    let names: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["metadata"]);
    assert!(fs::read_to_string(dir.path().join("metadata")).unwrap().contains("procname = \"second\""));
}

#[test]
fn metadata_that_cannot_be_written_leaves_the_old() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("metadata")).unwrap();
    let description = Description {
        uuid: UUID,
        hostname: "",
        procname: "",
        pid: 1,
        mode: Mode::Stream,
        format: Format::Ctf1,
        clock: Calibration::start(),
        clock_name: "monotonic",
        events: &[],
    };
    write(&Folder::open(dir.path()).unwrap(), &description).unwrap_err();
    assert!(dir.path().join("metadata").is_dir() && !dir.path().join(UNFINISHED).exists());
}

#[test]
fn our_reader_reads_what_was_written() {
    Format::ALL.into_iter().for_each(our_reader_reads);
}

fn our_reader_reads(format: Format) {
    let dir = tempfile::tempdir().unwrap();
    let now = || i128::from(UNIX_EPOCH.elapsed().unwrap().as_secs());
    let before = now();
    describe_as(dir.path(), "by hand", format);
    drop(make_stream(&dir.path().join("ring-1"), RING_STREAM, 1 << 16));
    let trace = Trace::open(dir.path()).unwrap();
    let process = &trace.processes()[0];
    assert_eq!((process.pid, process.word_size), (u64::from(std::process::id()), usize::BITS));
    assert_eq!(process.hostname, hostname());
    assert!(trace.losses().is_empty(), "{:?}", trace.losses());
    let events: Vec<_> = trace.events().collect();
    assert_eq!((events.len(), events[1].class.name.as_str()), (6, "made:nothing"));
    let fields: Vec<_> = events[0].fields().collect();

    assert_eq!(
        fields,
        [
            ("small", Value::Signed(-1)),
            ("count", Value::Unsigned(u32::MAX.into())),
            ("large", Value::Signed(i64::MIN)),
            ("bits", Value::Unsigned(u64::MAX)),
            ("event", Value::Text("café".into())),
        ]
    );
    // Wide enough for a machine whose clock is being set.
    let seconds = i128::from(events[0].time) / 1_000_000_000;
    assert!((before - 10..=now() + 10).contains(&seconds), "{seconds}, which was to be {before}");
}

/// An event of class 0 at a time.
#[derive(Clone, Copy)]
struct At(u64, (i32, u32, i64, u64, &'static [u8]));

impl Payload for At {
    fn form(&self) -> Form {
        self.1.form()
    }

    fn size(&self, form: Form) -> usize {
        self.1.size(form)
    }

    unsafe fn put(&self, at: *mut u8, form: Form) {
        // SAFETY: as the caller promises.
        unsafe { self.1.put(at, form) }
    }

    fn time(&self) -> Option<u64> {
        Some(self.0)
    }

    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        self.1.show(look)
    }
}

#[test]
fn both_headers_and_both_forms_have_the_same_times_and_values() {
    Format::ALL.into_iter().for_each(both_headers_and_both_forms);
}

fn both_headers_and_both_forms(format: Format) {
    let dir = tempfile::tempdir().unwrap();
    describe_as(dir.path(), "by hand", format);
    let folder = Folder::open(dir.path()).unwrap();
    let ring = Ring::new(RingFile::create(&folder, "ring-1", UUID, RING_STREAM, Mode::Stream, 1 << 20).unwrap(), 1);
    assert!(ring.adopt(7));
    let (start, most) = (clock::now(), 1 << TIME_BITS);
    let pauses = [0, 0, 1, most - 1, most, most + 1, 5 * most, 7];
    let numbers = [
        (-1, 1, -1, 1),
        (i8::MIN.into(), u8::MAX.into(), -1 << 23, (1 << 24) - 1),
        (i32::from(i8::MIN) - 1, 0, 0, 0),
        (0, u32::from(u8::MAX) + 1, 0, 0),
        (0, 0, 1 << 23, 0),
        (0, 0, 0, 1 << 24),
        (i16::MIN.into(), u16::MAX.into(), i32::MIN.into(), u32::MAX.into()),
        (i32::from(i16::MIN) - 1, 0, 0, 0),
        (0, u32::from(u16::MAX) + 1, 0, 0),
        (0, 0, i64::from(i32::MAX) + 1, 0),
        (0, 0, 0, u64::from(u32::MAX) + 1),
    ];
    let mut time = start;
    let mut expected = Vec::new();
    let (mut follower, mut followed) = (Follower::new([dir.path()]), Vec::new());
    // They fill several packets.
    for turn in 0..5000 {
        time += pauses[turn % pauses.len()];
        let (small, count, large, bits) = numbers[turn % numbers.len()];
        ring.record(0, At(time, (small, count, large, bits, b"caf\xc3\xa9")));
        expected.push((time - start, format!("{small}, count = {count}, large = {large}, bits = {bits}, event")));
        if turn % 300 == 0 {
            assert!(follower.poll(|event| followed.push(format!("{event:?}"))).unwrap());
        }
    }
    follower.drain(|event| followed.push(format!("{event:?}"))).unwrap();
    drop(ring);
    let trace = Trace::open(dir.path()).unwrap();
    let events: Vec<_> = trace.events().collect();
    assert!(trace.losses().is_empty(), "{:?}", trace.losses());
    assert_eq!(events.len(), expected.len());
    assert!(followed == events.iter().map(|event| format!("{event:?}")).collect::<Vec<_>>());
    let other = tempfile::tempdir().unwrap();
    let recovered = dyntrace_reader::recover(dir.path(), other.path().join("plain")).unwrap();
    assert_eq!((recovered.events, recovered.damaged.len()), (expected.len() as u64, 0));
    let first = events[0].class;
    assert_eq!(first.fields[2].kind, FieldKind::Signed { bits: 64 });
    let frequency = i128::from(Calibration::start().frequency);
    for (event, (later, text)) in events.iter().zip(&expected) {
        assert!(ptr::eq(event.class, first), "both forms have one class");
        let number = |name| match event.field(name) {
            Some(Value::Signed(number)) => i128::from(number),
            Some(Value::Unsigned(number)) => i128::from(number),
            other => panic!("{name}: {other:?}"),
        };
        let [small, count, large, bits] = ["small", "count", "large", "bits"].map(number);
        assert_eq!(*text, format!("{small}, count = {count}, large = {large}, bits = {bits}, event"));
        let nanoseconds = i128::from(event.time - events[0].time);
        // Two calibrations may differ by a thousandth.
        let expected = i128::from(*later) * 1_000_000_000 / frequency;
        assert!((nanoseconds - expected).abs() <= 2 + expected / 1000, "{nanoseconds} ns, not {expected}");
    }
    if format != Format::Ctf1 {
        return;
    }
    let Some(lines) = babeltrace(dir.path()) else { return };
    assert_eq!(lines.len(), expected.len());
    // It converts cycles in floating point of 53 bits. qemu-user counts them from 1970.
    let since_zero = i128::from(time) * 1_000_000_000 / frequency;
    let most_apart = 1 + i64::try_from(since_zero >> 52).unwrap();
    for (line, (event, (_, text))) in lines.iter().zip(events.iter().zip(&expected)) {
        assert!(line.contains(text), "{text}: {line}");
        let fraction: i64 = line.split(['.', ']']).nth(1).and_then(|digits| digits.parse().ok()).unwrap();
        let later = (fraction - event.time.rem_euclid(1_000_000_000)).rem_euclid(1_000_000_000);
        assert!(later.min(1_000_000_000 - later) <= most_apart, "{} and {line}", event.time);
    }
}

proptest! {
    #[test]
    fn a_string_reads_as_it_was_written(name in any::<String>(), format in prop::sample::select(Format::ALL.to_vec())) {
        static CALIBRATION: LazyLock<Calibration> = LazyLock::new(Calibration::start);
        let dir = tempfile::tempdir().unwrap();
        let clock_name = clock::name();
        let (hostname, procname, clock) = (name.as_str(), name.as_str(), *CALIBRATION);
        let mode = Mode::Discard;
        let description =
            Description { uuid: UUID, hostname, procname, pid: 1, mode, format, clock, clock_name, events: &EVENTS };
        write(&Folder::open(dir.path()).unwrap(), &description).unwrap();
        let trace = Trace::open(dir.path()).unwrap();
        let process = &trace.processes()[0];
        let read = name.replace('\0', "\u{fffd}");
        prop_assert_eq!((&process.name, &process.hostname), (&read, &read));
    }
}

#[test]
fn babeltrace2_reads_any_name() {
    let dir = tempfile::tempdir().unwrap();
    describe(dir.path(), "\"; }; \\ \n\r\t\0\x1b[31m /* é \u{1F980} */ \\\\n 8\x017");
    drop(make_stream(&dir.path().join("ring-1"), RING_STREAM, 1 << 16));
    // The name is in each line, and may end one.
    let Some(lines) = babeltrace(dir.path()) else { return };
    assert_eq!(lines.iter().filter(|line| line.contains("made:")).count(), 6, "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("\u{1b}[31m /* é \u{1F980} */ \\\\n 8\u{1}7")), "{lines:#?}");
}
