//! Metadata is parsed, and any metadata is harmless.

use dyntrace_metadata::{ByteOrder, FieldKind, Format, Naming};
use proptest::prelude::*;

use super::*;
use crate::class::EventClass;

/// The smallest metadata that has everything.
const SMALL: &str = r#"/* CTF 1.8 */
trace { major = 1; minor = 8; byte_order = be; uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
    packet.header := struct { integer { size = 32; align = 8; signed = false; base = 16; } magic; integer { size = 8; } uuid[16]; u32 stream_id; };
};
env { tracer_name = "dyntrace"; hostname = "h\\o"; procname = "shop"; pid = 12; word_size = 32; };
clock { name = "monotonic"; freq = 1000000000; offset_s = -1; offset = 5; absolute = true; }; // and so on
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := timestamp_t;
typealias timestamp_t := u64;
stream { id = 0;
    packet.context := struct { u64 content_size; u64 packet_size; u64 events_discarded; u64 sequence; u64 tid; };
    event.header := struct { integer { size = 16; align = 8; } id; timestamp_t timestamp; };
};
callsite { name = "unknown"; };
event { name = "shop:order-paid"; id = 7; stream_id = 0; loglevel = 13;
    fields := struct { integer { size = 32; align = 8; signed = true; } _cents; string { encoding = UTF8; } _name; string _tag; u64 plain; };
};
"#;

fn small() -> String {
    SMALL.replacen("trace {", "typealias integer { size = 32; } := u32;\ntrace {", 1)
}

#[test]
fn everything_is_understood() {
    let metadata = parse(&small()).unwrap_or_else(|problem| panic!("{problem:?}"));
    assert_eq!(metadata.format.uuid, std::array::from_fn(|at| at as u8));
    assert_eq!(metadata.format.byte_order, ByteOrder::Big);
    assert_eq!(metadata.clock.time(0), -999_999_995);
    assert_eq!((metadata.hostname.as_deref(), metadata.process_name.as_deref()), (Some("h\\o"), Some("shop")));
    assert_eq!((metadata.pid, metadata.word_size), (12, 32));
    let (id, classes) = &metadata.streams[0];
    let (class, _) = classes.get(7).expect("the class");
    assert_eq!((*id, classes.iter().count(), class.probe(), class.provider()), (0, 1, "order-paid", "shop"));
    assert!([0, 6, 8, u16::MAX].iter().all(|id| classes.get(*id).is_none()));
    let fields: Vec<_> = class.fields.iter().map(|field| (field.name.as_str(), field.kind)).collect();
    let signed = FieldKind::Signed { bits: 32 };
    assert_eq!(
        fields,
        [
            ("cents", signed),
            ("name", FieldKind::Text),
            ("tag", FieldKind::Text),
            ("plain", FieldKind::Unsigned { bits: 64 })
        ]
    );
}

#[test]
fn foreign_metadata_is_reported_with_its_line() {
    for (from, to, line, reason) in [
        ("minor = 8", "minor = 9", 3, "not CTF 1.8"),
        ("byte_order = be", "byte_order = pdp", 3, "byte_order"),
        ("uuid = \"00", "uuid = \"0", 3, "uuid"),
        ("freq = 1000000000", "freq = 0", 7, "freq"),
        ("freq = 1000000000", "freq = -5", 7, "freq"),
        ("u64 sequence; ", "", 10, "packet.context"),
        ("size = 16; align = 8;", "size = 32; align = 8;", 10, "event.header"),
        ("timestamp_t timestamp", "string timestamp", 10, "event.header"),
        ("id = 7; stream_id = 0", "id = 7; stream_id = 3", 15, "no stream 3"),
        ("id = 7; ", "id = 70000; ", 15, "id"),
        ("size = 32; align = 8; signed = true", "size = 31; align = 8; signed = true", 15, "8, 16, 24, 32 or 64 bits"),
        ("size = 32; align = 8; signed = true", "size = 32; align = 32; signed = true", 15, "packed"),
        ("size = 32; align = 8; signed = true", "size = 32; byte_order = le; signed = true", 15, "byte order"),
        ("size = 32; align = 8; signed = true", "align = 8; signed = true", 16, "no `size`"),
        ("u64 plain", "u63 plain", 15, "neither an integer nor a string"),
        ("u64 plain", "u64 plain[3]", 15, "neither an integer nor a string"),
        ("u64 plain", "struct { u64 x; } plain", 16, "no such type"),
        ("string _tag", "floating_point { } _tag", 16, "no such type"),
        ("timestamp_t := u64", "timestamp := u64", 9, "not defined before"),
        ("clock {", "watch {", 1, "no `clock`"),
    ] {
        let text = small();
        assert!(text.contains(from), "{from}");
        let problem = parse(&text.replacen(from, to, 1)).expect_err(to);
        assert_eq!((problem.line, problem.reason.contains(reason)), (line, true), "{to}: {problem:?}");
    }
}

#[test]
fn a_great_id_and_many_streams_take_little() {
    let text = small();
    let event = "event { name = \"x\"; id = 65535; stream_id = 0; };";
    let metadata = parse(&format!("{text}{event}")).expect("metadata");
    assert!(metadata.streams[0].1.get(u16::MAX).is_some());
    assert!(parse(&format!("{text}{event}{event}")).expect_err("a problem").reason.contains("twice"));
    let stream = &text[text.find("stream { id").expect("the stream")..text.find("callsite").expect("its end")];
    let streams: String = (1..100).map(|id| stream.replacen("id = 0", &format!("id = {id}"), 1)).collect();
    assert!(parse(&format!("{text}{streams}")).expect_err("a problem").reason.contains("too many streams"));
}

/// Joins pieces of valid metadata, so that some results get far in the parser.
fn pieces() -> impl Strategy<Value = String> {
    let mut known: Vec<String> = small().split_inclusive([' ', '\n']).map(str::to_owned).collect();
    known.extend(small().split_inclusive("};\n").map(str::to_owned));
    known.extend(small_ctf2().split_inclusive([',', '\n']).map(str::to_owned));
    known.extend(small_ctf2().split_inclusive('\n').map(str::to_owned));
    known.extend(compact(Format::Ctf1).split_inclusive([' ', '\n']).map(str::to_owned));
    known.extend(compact(Format::Ctf2).split_inclusive(',').map(str::to_owned));
    let piece = prop_oneof![8 => prop::sample::select(known), 1 => any::<String>()];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text(text in any::<String>()) {
        let _ = parse(&text);
    }

    #[test]
    fn any_pieces(text in pieces()) {
        if let Err(problem) = parse(&text) {
            prop_assert!(problem.line <= text.lines().count() + 1 && !problem.reason.is_empty());
        }
    }

    #[test]
    fn any_change(is_ctf2: bool, is_compact: bool, at in any::<prop::sample::Index>(), length in 0..20_usize, new in "[ -~\\n]{0,3}") {
        let mut text = match (is_compact, is_ctf2) {
            (true, true) => compact(Format::Ctf2),
            (true, false) => compact(Format::Ctf1),
            (false, true) => small_ctf2(),
            (false, false) => small(),
        };
        let at = at.index(text.len());
        text.replace_range(at..(at + length).min(text.len()), &new);
        let _ = parse(&text);
    }
}

/// The same in CTF 2, with an unknown property and an unknown fragment.
fn small_ctf2() -> String {
    let text = parse(&small()).unwrap_or_else(|problem| panic!("{problem:?}")).text(Format::Ctf2);
    let text = text.replacen("\"uid\":", "\"name\":\"x\",\"extra\":[{\"a\":1}],\"uid\":", 1);
    text.replacen("\u{1e}{\"type\":\"data", "\u{1e}{\"type\":\"unknown\"}\n\u{1e}{\"type\":\"data", 1)
}

/// The same with compact headers of events.
fn compact(format: Format) -> String {
    let mut metadata = parse(&small()).unwrap_or_else(|problem| panic!("{problem:?}"));
    metadata.format.compact = true;
    metadata.text(format)
}

#[test]
fn the_compact_header_is_understood_and_no_other() {
    let tsdl = [
        ("size = 7;", "size = 6;"),
        ("size = 7; align = 1", "size = 7; align = 8"),
        ("0 ... 126", "0 ... 125"),
        ("0 ... 126", "126"),
        ("whole = 127", "whole = 126"),
        ("variant <id>", "variant <ide>"),
        ("low_time_t timestamp", "low_time_t time"),
        ("size = 25; align = 1", "size = 25; align = 2"),
        ("size = 25; align = 1; signed = false", "size = 25; align = 1; signed = true"),
    ];
    let json = [
        ("\"length\":7,\"alignment\":1", "\"length\":6,\"alignment\":1"),
        ("\"length\":7,\"alignment\":1", "\"length\":7,\"alignment\":8"),
        ("\"length\":25,", "\"length\":26,"),
        ("[[0,126]]", "[[0,125]]"),
        ("[[127,127]]", "[[127,128]]"),
        ("\"origin\":\"event-record-header\"", "\"origin\":\"packet-header\""),
        ("\"path\":[\"id\"]", "\"path\":[null]"),
        ("\"variant\"", "\"optional\""),
    ];
    for (format, changes) in [(Format::Ctf1, &tsdl[..]), (Format::Ctf2, &json[..])] {
        // Once more: a reader of CTF 2 sorts the facts of the environment.
        let text = parse(&compact(format)).unwrap_or_else(|problem| panic!("{problem:?}")).text(format);
        let metadata = parse(&text).unwrap_or_else(|problem| panic!("{problem:?}"));
        assert!(metadata.format.compact);
        assert_eq!(metadata.text(format), text);
        for (from, to) in changes {
            assert!(text.contains(from), "{from}: {text}");
            let problem = parse(&text.replacen(from, to, 1)).expect_err(to);
            assert!(problem.reason.contains("header"), "{to}: {problem:?}");
        }
    }
}

#[test]
fn numbers_in_the_place_of_names_are_understood_and_shown_as_text() {
    let text = small().replacen("env {", "typealias integer { size = 32; } := port_number_t;\nenv {", 1);
    let text = text.replacen("u64 plain", "integer { size = 24; align = 8; } odd; port_number_t _port", 1);
    let mut text = text.replacen("integer { size = 32; } := port", "integer { size = 32; align = 8; } := port", 1);
    for format in Format::ALL {
        let metadata = parse(&text).unwrap_or_else(|problem| panic!("{problem:?}"));
        let (class, layout) = metadata.streams[0].1.get(7).expect("the class");
        let kinds = |class: &EventClass| class.fields[3..].iter().map(|field| field.kind).collect::<Vec<_>>();
        assert_eq!(kinds(class), [FieldKind::Unsigned { bits: 24 }, FieldKind::Text]);
        assert_eq!(kinds(layout), [FieldKind::Unsigned { bits: 24 }, FieldKind::Name(Naming::Port)]);
        assert_eq!(layout.measure(b"\0\0\0\x01n\0t\0\0\0\x02\0\0\0\x07"), Some(15));
        text = metadata.text(format);
    }
    // Another attribute, and none, leave the number.
    for (from, to) in [("\"name\":\"port\"}", "\"name\":\"sport\"}"), ("{\"name\":\"port\"}", "{}")] {
        assert!(text.contains(from), "{text}");
        let metadata = parse(&text.replacen(from, to, 1)).unwrap_or_else(|problem| panic!("{problem:?}"));
        let (class, _) = metadata.streams[0].1.get(7).expect("the class");
        assert_eq!(class.fields[4].kind, FieldKind::Unsigned { bits: 32 });
    }
}

#[test]
fn both_formats_say_the_same() {
    let one = parse(&small()).unwrap_or_else(|problem| panic!("{problem:?}"));
    let two = parse(&small_ctf2()).unwrap_or_else(|problem| panic!("{problem:?}"));
    assert_eq!((one.format.uuid, one.format.byte_order), (two.format.uuid, two.format.byte_order));
    assert_eq!(one.clock.time(7), two.clock.time(7));
    assert_eq!((&one.hostname, &one.process_name, one.pid), (&two.hostname, &two.process_name, two.pid));
    let classes = |metadata: &Metadata| format!("{:?}", metadata.streams);
    assert_eq!(classes(&one), classes(&two));
    for format in Format::ALL {
        let text = two.text(format);
        assert_eq!(dyntrace_metadata::checksum_problem(&text), None);
        assert_eq!(dyntrace_metadata::is_ctf2(&text), format == Format::Ctf2);
        assert_eq!(classes(&parse(&text).unwrap_or_else(|problem| panic!("{problem:?}"))), classes(&two));
        for (from, to) in [("shop:order", "shop:ordes"), ("crc32", "crc33"), ("12", "13")] {
            let problem = dyntrace_metadata::checksum_problem(&text.replacen(from, to, 1));
            assert!(problem.is_some_and(|problem| problem.contains("checksum")), "{from}: {problem:?}");
        }
    }
}

#[test]
fn foreign_ctf2_metadata_is_reported_with_its_line() {
    for (from, to, line, reason) in [
        ("\"version\":2", "\"version\":3", 1, "not CTF 2"),
        ("\"version\":2", "\"version\":2,\"extensions\":{}", 1, "extensions"),
        ("\"version\":2", "\"version\":\"2\"", 1, "invalid type"),
        (",14,15]", ",14]", 1, "invalid length"),
        ("preamble", "foreword", 1, "`preamble`"),
        ("\u{1e}{\"type\":\"trace-class\"", "\u{1e}{\"type\":\"preamble\"}\u{1e}{\"type\":\"trace-class\"", 2, "two"),
        ("\"magic\"", "\"magik\"", 2, "packet-header"),
        ("big-endian", "middle-endian", 2, "byte-order"),
        ("static-length-blob\",\"length\":16", "static-length-blob\",\"length\":15", 2, "packet-header"),
        ("\"pid\":12", "\"pid\":\"twelve\"", 2, "`pid`"),
        ("\"frequency\":1000000000", "\"frequency\":0", 3, "frequency"),
        ("\"sequence\"", "\"sequins\"", 5, "packet-context"),
        ("\"static-length-array\",\"length\":0", "\"static-length-array\",\"length\":1", 5, "packet-context"),
        ("\"timestamp\"", "\"time\"", 5, "event-record-header"),
        (
            "\"event-record-header",
            "\"event-record-common-context-field-class\":{},\"event-record-header",
            5,
            "no context",
        ),
        ("\"data-stream-class-id\":0", "\"data-stream-class-id\":3", 6, "no stream 3"),
        ("\"id\":7,", "\"id\":70000,", 6, "70000"),
        ("signed-integer\",\"length\":64", "signed-integer\",\"length\":63", 5, "packet-context"),
        ("fixed-length-signed-integer\",\"length\":32", "fixed-length-signed-integer\",\"length\":31", 6, "neither"),
        (
            "fixed-length-signed-integer\",\"length\"",
            "fixed-length-signed-integer\",\"bit-order\":\"\",\"length\"",
            6,
            "neither",
        ),
        ("fixed-length-signed-integer\",", "fixed-length-signed-boolean\",", 6, "neither"),
        ("null-terminated-string\"", "null-terminated-string\",\"encoding\":\"utf-16le\"", 6, "neither"),
        ("\"payload-field-class\":{", "\"payload-field-class\":{\"minimum-alignment\":64,", 6, "packed"),
        ("\"payload-field-class\":{", "\"specific-context-field-class\":{},\"payload-field-class\":{", 6, "no context"),
        ("clock-class\"", "watch-class\"", 1, "no `clock-class`"),
        ("}\n", "\n", 1, "EOF"),
    ] {
        let text = small_ctf2();
        assert!(text.contains(from), "{from}: {text}");
        let problem = parse(&text.replacen(from, to, 1)).expect_err(to);
        // The JSON of a fragment may end in the next line.
        let is_there = problem.line == line || reason == "EOF" && problem.line == line + 1;
        assert!(is_there && problem.reason.contains(reason), "{to}: {problem:?}");
    }
}
