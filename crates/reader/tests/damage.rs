//! Damaged, cut and hostile traces: reading ends, reports the damage, and returns the events around it.

mod common;

use std::fs;
use std::path::Path;

use common::{Arg, Fired, HEADER, PAGE, START, Writer, entry, fired, returned};
use dyntrace_reader::{Error, Losses, Trace, Value};
use proptest::prelude::*;

/// Returns the times of all events, and the losses.
fn read(path: &Path) -> Result<(Vec<i64>, Losses), Error> {
    let trace = Trace::open(path)?;
    let mut times = Vec::new();
    for event in trace.events() {
        let mut fields = event.fields();
        for position in 0..event.class.fields.len() {
            assert_eq!(event.value(position), fields.next().map(|(_, value)| value));
            assert!(event.value(position).is_some());
        }
        times.push(event.time.wrapping_sub(START));
    }
    Ok((times, trace.losses()))
}

/// Writes a small trace: three packets in one file, a second file, and the recorder's own file.
fn small(folder: &Path) -> Writer {
    let mut writer = Writer::new(folder);
    // Keeps the metadata short, as tests cut it at each byte.
    writer.classes.retain(|class| {
        class.name.starts_with("recorder:")
            || ["entry", "return"].iter().any(|end| class.name.ends_with(&format!("efile_drv-{end}")))
    });
    writer.write_metadata();
    let events = |times: std::ops::Range<u64>| -> Vec<Fired> {
        times
            .map(
                |time| {
                    if time % 2 == 0 { entry(time, 1, 2, "tag", 3, "/path") } else { returned(time, 1, 2, "t", 3, 4) }
                },
            )
            .collect()
    };
    let content = |times| events(times).iter().flat_map(|event| writer.event(event)).collect::<Vec<u8>>();
    let packets = [writer.packet(0, 7, 1, 0, 512, &content(1..5)), writer.packet(0, 7, 2, 1, 512, &content(5..9))];
    writer.write("ring-1", &[packets.concat(), writer.packet(0, 8, 3, 1, 512, &content(9..10))].concat());
    writer.ring("ring-2", 9, &events(20..22));
    writer.process(&[fired("recorder:lost", 30, [Arg::U(1), "why".into()])]);
    writer
}

#[test]
fn a_file_cut_anywhere_keeps_what_is_before() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = small(folder.path());
    let (all, losses) = read(folder.path()).expect("a trace");
    assert_eq!((all.len(), losses.damaged.len()), (12, 0));
    let whole = fs::read(writer.folder.join("ring-1")).expect("a ring");
    let mut kept_before = 0;
    for length in 0..whole.len() {
        writer.write("ring-1", &whole[..length]);
        let (times, losses) = read(folder.path()).expect("a trace");
        let kept = times.len() - 3;
        assert_eq!(times, [&all[..kept], &all[9..]].concat(), "cut at {length}");
        assert!(kept >= kept_before, "cut at {length}");
        // After a cut at the end of a packet the loss cannot be detected.
        assert_eq!(losses.damaged.is_empty(), length % 512 == 0, "cut at {length}: {losses:?}");
        kept_before = kept;
    }
    assert_eq!(kept_before, 9);
}

#[test]
fn metadata_cut_anywhere_is_an_error_or_tells_of_fewer_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = small(folder.path());
    let text = writer.metadata();
    let (all, _) = read(folder.path()).expect("a trace");
    for length in 0..text.len() {
        writer.write("metadata", &text.as_bytes()[..length]);
        match read(folder.path()) {
            Err(Error::Metadata { line, reason, .. }) => assert!(line <= text.lines().count() && !reason.is_empty()),
            Err(other) => panic!("{other}"),
            Ok((times, losses)) => {
                assert!(times.iter().all(|time| all.contains(time)));
                assert!(times.len() == all.len() || !losses.damaged.is_empty());
            }
        }
    }
}

#[test]
fn each_kind_of_damage_has_its_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = small(folder.path());
    let whole = fs::read(writer.folder.join("ring-1")).expect("a ring");
    // Two packets of thread 7, one of thread 8. Offset in the second packet, new bytes, reason, reported offset, remaining events of the
    // file, thread.
    let second = 512;
    let (later, own, none) = ("of thread 7, and of threads after it, may", "of thread 7 may", "; no event is missing");
    for (at, bytes, reason, offset, left, threads) in [
        (0, &[1][..], "magic", second, 4, later),
        (4, &[9][..], "uuid", second, 4, later),
        (20, &[9, 0, 0, 0][..], "stream", second, 4, later),
        (32, &[0; 8][..], "cannot hold", second, 4, later),
        (24, &[0; 8][..], "cannot hold", second, 4, later),
        (32, &[0xff; 8][..], "cannot hold", second, 4, later),
        (32, &(1_u64 << 40).to_ne_bytes()[..], "cut", whole.len(), 8, "the packet before"),
        (48, &[9][..], "missing", second, 9, own),
        (HEADER, &[0xff, 0xff][..], "no event 65535", second + HEADER, 5, own),
        (HEADER + 2, &[0; 8][..], "time goes back", second + HEADER, 9, none),
    ] {
        let mut damaged = whole.clone();
        damaged[second + at..][..bytes.len()].copy_from_slice(bytes);
        writer.write("ring-1", &damaged);
        let (times, losses) = read(folder.path()).expect("a trace");
        let found = &losses.damaged[0];
        assert!(found.reason.contains(reason) && found.reason.contains(threads), "{reason}: {losses:?}");
        assert_eq!((found.offset, times.len() - 3), (offset as u64, left), "{reason}: {losses:?}");
        assert!(found.file.ends_with("ring-1"));
    }
    // The sequence number of the third packet.
    let mut damaged = whole;
    damaged[2 * second + 48] = 9;
    writer.write("ring-1", &damaged);
    let reason = &read(folder.path()).expect("a trace").1.damaged[0].reason;
    assert!(reason.ends_with("; events of threads 7 and 8, and of threads between them, may be missing"), "{reason}");
}

#[test]
fn time_that_goes_back_all_over_a_file_takes_no_memory() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path());
    let events: Vec<_> = (0..10_000).map(|time| returned(10_000 - time, 1, 1, "", 1, 0)).collect();
    writer.ring("ring-1", 7, &events);
    let lost: Vec<_> =
        (0..1000).map(|at| fired("recorder:lost", at, [Arg::U(u64::MAX), Arg::S(at.to_string().into())])).collect();
    writer.process(&lost);
    let (times, losses) = read(folder.path()).expect("a trace");
    assert_eq!(times.len(), 11_000);
    assert!(losses.damaged.len() < 20 && losses.lost.len() < 20);
    assert_eq!(losses.events(), u64::MAX);
}

#[test]
fn a_process_that_cannot_be_read_costs_nothing_but_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    small(&folder.path().join("a/shop-12"));
    small(&folder.path().join("b")).write("metadata", b"event {");
    let (times, losses) = read(folder.path()).expect("a trace");
    assert_eq!((times.len(), losses.damaged.len()), (12, 1));
    assert!(losses.damaged[0].file.ends_with("b/metadata"), "{losses:?}");
    assert!(matches!(read(&folder.path().join("b")), Err(Error::Metadata { line: 1, .. })));
    let empty = tempfile::tempdir().expect("a folder");
    assert!(matches!(read(empty.path()), Err(Error::NoTrace { .. })));
    assert!(matches!(read(&empty.path().join("none")), Err(Error::Io { .. })));
}

#[test]
fn prepared_packets_are_no_events() {
    let folder = tempfile::tempdir().expect("a folder");
    let writer = Writer::new(folder.path());
    let packet = writer.packet(0, 7, 1, 0, 8 * PAGE, &writer.event(&returned(1, 1, 1, "", 1, 0)));
    writer.write("ring-1", &[writer.prepared(0), packet, writer.prepared(0).repeat(2)].concat());
    writer.write("ring-2", &writer.prepared(0).repeat(20));
    writer.write("ring-3", b"");
    let (times, losses) = read(folder.path()).expect("a trace");
    assert_eq!(times, [1]);
    assert!(losses.is_empty());
}

#[test]
fn the_other_byte_order_and_word_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut writer = Writer::new(folder.path());
    (writer.little, writer.word_size) = (!writer.little, 32);
    writer.write_metadata();
    writer.ring("ring-1", 7, &[entry(258, 1, -2, "tag", 3, "/path")]);
    let trace = Trace::open(folder.path()).expect("a trace");
    let events: Vec<_> = trace.events().collect();
    assert_eq!((events.len(), trace.processes()[0].word_size), (1, 32));
    assert_eq!((events[0].time, events[0].tid), (START + 258, 7));
    assert_eq!(events[0].field("tag"), Some(Value::Signed(-2)));
    assert!(trace.losses().is_empty());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any flipped bits, reading ends and does not panic.
    #[test]
    fn flipped_bits(flips in prop::collection::vec((any::<prop::sample::Index>(), 0..8_u8), 1..8), metadata in any::<bool>()) {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = small(folder.path());
        let file = writer.folder.join(if metadata { "metadata" } else { "ring-1" });
        let mut bytes = fs::read(&file).expect("a file");
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        fs::write(&file, bytes).expect("a file");
        if let Ok((times, _)) = read(folder.path()) {
            prop_assert!(metadata || times.len() >= 3, "the other files are whole");
        }
    }

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..5000)) {
        let folder = tempfile::tempdir().expect("a folder");
        let writer = small(folder.path());
        let start = fs::read(writer.folder.join("ring-1")).expect("a ring");
        writer.write("ring-1", &[&start[..HEADER], &bytes].concat());
        prop_assert!(read(folder.path()).expect("a trace").0.len() >= 3);
    }
}
