//! Interprets CTF 2: JSON texts, each after a record separator (RFC 7464). The format's specification calls them fragments.
//!
//! They are deserialized into the needed properties only, so unknown ones, however large, take no memory.

use std::borrow::Cow;
use std::collections::BTreeMap;

use dyntrace_metadata::event_header::{ID_BITS, TIME_BITS, WHOLE};
use dyntrace_metadata::{ByteOrder, CONTEXT, FieldKind, Naming, RECORD_SEPARATOR, TIMES};
use serde::Deserialize;

use super::content::{Environment, Fact, Metadata, Streams};
use super::problem::Problem;
use crate::class::EventClass;
use crate::clock::Clock;
use crate::packet::Format;

/// The property of every fragment.
#[derive(Deserialize)]
struct Kind<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Preamble {
    version: u64,
    uuid: Option<[u8; 16]>,
    extensions: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct TraceClass<'a> {
    #[serde(default)]
    environment: BTreeMap<String, Given>,
    #[serde(borrow)]
    packet_header_field_class: FieldClass<'a>,
}

/// A value of the environment.
#[derive(Deserialize)]
#[serde(untagged)]
enum Given {
    Number(i64),
    Text(String),
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct ClockClass {
    #[serde(default)]
    id: String,
    frequency: u64,
    #[serde(default)]
    offset_from_origin: Offset,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Offset {
    seconds: i64,
    cycles: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct StreamClass<'a> {
    #[serde(default)]
    id: u32,
    #[serde(borrow)]
    packet_context_field_class: FieldClass<'a>,
    #[serde(borrow)]
    event_record_header_field_class: FieldClass<'a>,
    event_record_common_context_field_class: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct EventRecordClass<'a> {
    #[serde(default)]
    id: u16,
    #[serde(default)]
    data_stream_class_id: u32,
    name: String,
    specific_context_field_class: Option<serde::de::IgnoredAny>,
    #[serde(borrow)]
    payload_field_class: FieldClass<'a>,
}

/// A field class of any type, with the properties of the recorder's classes.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct FieldClass<'a> {
    #[serde(rename = "type", borrow)]
    kind: Cow<'a, str>,
    length: Option<u64>,
    alignment: Option<u64>,
    minimum_alignment: Option<u64>,
    #[serde(borrow)]
    byte_order: Option<Cow<'a, str>>,
    #[serde(borrow)]
    bit_order: Option<Cow<'a, str>>,
    #[serde(borrow)]
    encoding: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    member_classes: Vec<Member<'a>>,
    #[serde(borrow)]
    selector_field_location: Option<Location<'a>>,
    #[serde(borrow, default)]
    options: Vec<Choice<'a>>,
    #[serde(borrow, default)]
    attributes: Attributes<'a>,
}

/// The attributes of a field class, by their namespace.
#[derive(Default, Deserialize)]
struct Attributes<'a> {
    #[serde(borrow, default)]
    dyntrace: OwnAttributes<'a>,
}

#[derive(Default, Deserialize)]
struct OwnAttributes<'a> {
    /// Of a number: the kind of names that contain it.
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
}

/// The place of the field that selects an option of a variant.
#[derive(Deserialize)]
struct Location<'a> {
    #[serde(borrow)]
    origin: Cow<'a, str>,
    path: Vec<Option<String>>,
}

/// An option of a variant.
#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Choice<'a> {
    selector_field_ranges: Vec<[i128; 2]>,
    #[serde(borrow)]
    field_class: FieldClass<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Member<'a> {
    name: String,
    #[serde(borrow)]
    field_class: FieldClass<'a>,
}

impl FieldClass<'_> {
    /// Whether it is a structure without padding, if its members have none.
    fn is_packed(&self) -> bool {
        self.kind == "structure" && matches!(self.minimum_alignment, None | Some(1 | 8))
    }

    /// The kind of the names that contain the number.
    fn naming(&self) -> Option<Naming> {
        let word = self.attributes.dyntrace.name.as_deref()?;
        Naming::ALL.into_iter().find(|naming| naming.word() == word)
    }
}

/// Parses a sequence of JSON texts.
pub(super) fn parse(text: &str) -> Result<Metadata, Problem> {
    let mut reading = Reading::default();
    for fragment in text.split(RECORD_SEPARATOR).skip(1) {
        reading.fragment(fragment)?;
        reading.line += memchr::memchr_iter(b'\n', fragment.as_bytes()).count();
    }
    let missing = |what| Problem { line: 1, reason: format!("there is no `{what}` fragment") };
    let format = reading.format.ok_or_else(|| missing("trace-class"))?;
    let clock = reading.clock.ok_or_else(|| missing("clock-class"))?;
    if reading.streams.is_empty() {
        return Err(missing("data-stream-class"));
    }
    Metadata::new(format, clock, reading.environment, reading.streams)
}

/// The content parsed so far. A fragment refers only to earlier ones.
#[derive(Default)]
struct Reading {
    /// Number of lines before the fragment.
    line: usize,
    uuid: Option<[u8; 16]>,
    format: Option<Format>,
    clock: Option<Clock>,
    environment: Environment,
    streams: Streams,
}

impl Reading {
    fn fragment(&mut self, fragment: &str) -> Result<(), Problem> {
        let Kind { kind } = self.read(fragment)?;
        if self.uuid.is_none() != (kind == "preamble") {
            return Err(self.problem("a `preamble` is not the first fragment, or there are two"));
        }
        match &*kind {
            "preamble" => self.preamble(&self.read(fragment)?),
            "trace-class" => self.trace(self.read(fragment)?),
            "clock-class" => self.clock(self.read(fragment)?),
            "data-stream-class" => self.stream(self.read(fragment)?),
            "event-record-class" => self.event(self.read(fragment)?),
            _ => Ok(()),
        }
    }

    fn read<'a, T: Deserialize<'a>>(&self, fragment: &'a str) -> Result<T, Problem> {
        let problem =
            |error: serde_json::Error| Problem { line: self.line + error.line().max(1), reason: error.to_string() };
        serde_json::from_str(fragment).map_err(problem)
    }

    fn preamble(&mut self, preamble: &Preamble) -> Result<(), Problem> {
        if preamble.version != 2 || preamble.extensions.is_some() {
            return Err(self.problem("this is not CTF 2, or CTF 2 with extensions"));
        }
        self.uuid = Some(preamble.uuid.ok_or_else(|| self.problem("this trace has no `uuid`"))?);
        Ok(())
    }

    fn trace(&mut self, class: TraceClass<'_>) -> Result<(), Problem> {
        let header = &class.packet_header_field_class;
        let byte_order = match header.member_classes.first().and_then(|magic| magic.field_class.byte_order.as_deref()) {
            Some("little-endian") => ByteOrder::Little,
            Some("big-endian") => ByteOrder::Big,
            _ => return Err(self.problem("`byte-order` of this trace is neither `little-endian` nor `big-endian`")),
        };
        let uuid = self.uuid.ok_or_else(|| self.problem("this trace has no `uuid`"))?;
        self.format = Some(Format { byte_order, uuid, checksums: false, compact: false });
        let fact = |given| match given {
            Given::Number(number) => Fact::Number(number.into()),
            Given::Text(text) => Fact::Text(text),
        };
        let facts = class.environment.into_iter().map(|(name, given)| (name, fact(given))).collect();
        self.environment = Environment { line: self.line + 1, facts };
        self.expect_layout("packet-header", header, &[("magic", 32), ("uuid", 128), ("stream_id", 32)])
    }

    fn clock(&mut self, class: ClockClass) -> Result<(), Problem> {
        let Offset { seconds, cycles } = class.offset_from_origin;
        let clock = Clock::new(class.id, class.frequency, seconds, cycles);
        self.clock = Some(clock.ok_or_else(|| self.problem("`frequency` of this clock is zero"))?);
        Ok(())
    }

    fn stream(&mut self, mut class: StreamClass<'_>) -> Result<(), Problem> {
        let is_empty = |last: &mut Member<'_>| {
            let class = &last.field_class;
            last.name == TIMES && (&*class.kind, class.length) == ("static-length-array", Some(0))
        };
        class.packet_context_field_class.member_classes.pop_if(is_empty);
        let context = CONTEXT.map(|name| (name, 64));
        // Traces of the recorder's first version have only the first five.
        let checksums = class.packet_context_field_class.member_classes.len() == context.len();
        let context = if checksums { &context[..] } else { &context[..5] };
        self.expect_layout("packet-context", &class.packet_context_field_class, context)?;
        let header = &class.event_record_header_field_class;
        let compact = self.is_compact(header);
        if !compact {
            self.expect_layout("event-record-header", header, &[("id", 16), ("timestamp", 64)])?;
        }
        if class.event_record_common_context_field_class.is_some() {
            return Err(self.problem("the recorder's events have no context"));
        }
        match &mut self.format {
            Some(format) if self.streams.is_empty() => (format.checksums, format.compact) = (checksums, compact),
            Some(format) if (format.checksums, format.compact) == (checksums, compact) => {}
            _ => return Err(self.problem("the headers of this stream differ from those of the stream before")),
        }
        self.streams.add(class.id).map_err(|reason| self.problem(reason))
    }

    fn event(&mut self, class: EventRecordClass<'_>) -> Result<(), Problem> {
        if class.specific_context_field_class.is_some() {
            return Err(self.problem("the recorder's events have no context"));
        }
        if !class.payload_field_class.is_packed() {
            return Err(self.problem("`payload-field-class` is not a packed structure"));
        }
        let mut fields = Vec::new();
        for member in class.payload_field_class.member_classes {
            let kind = self.kind(&member.field_class);
            let problem =
                || self.problem(format!("`{}` is neither an integer nor a string of the recorder's", member.name));
            let kind = kind.ok_or_else(problem)?;
            fields.push((member.name, kind));
        }
        let added = self.streams.add_event(class.data_stream_class_id, class.id, EventClass::new(class.name, fields));
        added.map_err(|reason| self.problem(reason))
    }

    /// Checks that the structure has exactly these unsigned integers, or bytes if they have more than 64 bits.
    fn expect_layout(&self, name: &str, class: &FieldClass<'_>, expected: &[(&str, u8)]) -> Result<(), Problem> {
        if self.has_layout(class, expected) {
            return Ok(());
        }
        Err(self.problem(format!("`{name}-field-class` differs from that of dyntrace's recorder")))
    }

    /// Whether the structure has exactly these.
    fn has_layout(&self, class: &FieldClass<'_>, expected: &[(&str, u8)]) -> bool {
        let is_like = |(member, (name, bits)): (&Member<'_>, &(&str, u8))| {
            let class = &member.field_class;
            let is_blob = class.kind == "static-length-blob" && class.length == Some(u64::from(bits / 8)) && *bits > 64;
            member.name == *name && (is_blob || self.kind(class) == Some(FieldKind::Unsigned { bits: *bits }))
        };
        let members = &class.member_classes;
        class.is_packed() && members.len() == expected.len() && members.iter().zip(expected).all(is_like)
    }

    /// Whether the structure is the compact header of events.
    fn is_compact(&self, class: &FieldClass<'_>) -> bool {
        let [id, rest] = &class.member_classes[..] else { return false };
        let ([compact, whole], Some(Location { origin, path })) =
            (&rest.field_class.options[..], &rest.field_class.selector_field_location)
        else {
            return false;
        };
        let (most, all) = (i128::from(WHOLE), Some("id".to_owned()));
        class.is_packed()
            && id.name == "id"
            && self.unsigned(&id.field_class, 1) == Some(ID_BITS.into())
            && (&*rest.field_class.kind, &**origin, &path[..]) == ("variant", "event-record-header", &[all])
            && compact.selector_field_ranges == [[0, most - 1]]
            && whole.selector_field_ranges == [[most, most]]
            && matches!(&compact.field_class.member_classes[..], [time]
                if time.name == "timestamp" && self.unsigned(&time.field_class, 1) == Some(TIME_BITS.into()))
            && compact.field_class.kind == "structure"
            && matches!(compact.field_class.minimum_alignment, None | Some(1))
            && self.has_layout(&whole.field_class, &[("id", 16), ("timestamp", 64)])
    }

    /// Returns the bits of an unsigned integer in the trace's byte order, aligned to at most `align` bits.
    fn unsigned(&self, class: &FieldClass<'_>, align: u64) -> Option<u64> {
        let is_unsigned = class.kind == "fixed-length-unsigned-integer" && self.is_plain(class, align)?;
        class.length.filter(|_| is_unsigned)
    }

    /// Whether a class is in the trace's byte order, and aligned to at most `align` bits.
    fn is_plain(&self, class: &FieldClass<'_>, align: u64) -> Option<bool> {
        let (order, bit_order) = match self.format.as_ref()?.byte_order {
            ByteOrder::Little => ("little-endian", "first-to-last"),
            ByteOrder::Big => ("big-endian", "last-to-first"),
        };
        let is_plain = class.byte_order.as_deref() == Some(order)
            && class.bit_order.as_deref().is_none_or(|order| order == bit_order)
            && class.alignment.unwrap_or(1) <= align;
        Some(is_plain)
    }

    /// Returns the kind of a string, or of a byte-aligned integer in the trace's byte order.
    fn kind(&self, class: &FieldClass<'_>) -> Option<FieldKind> {
        let is_plain = self.is_plain(class, 8)?;
        let bits = class.length.filter(|bits| is_plain && matches!(bits, 8 | 16 | 24 | 32 | 64)).map(|bits| bits as u8);
        match &*class.kind {
            "fixed-length-unsigned-integer" => bits.map(|bits| match class.naming() {
                Some(naming) if bits == Naming::BITS => FieldKind::Name(naming),
                _ => FieldKind::Unsigned { bits },
            }),
            "fixed-length-signed-integer" => bits.map(|bits| FieldKind::Signed { bits }),
            "null-terminated-string" if matches!(class.encoding.as_deref(), None | Some("utf-8")) => {
                Some(FieldKind::Text)
            }
            _ => None,
        }
    }

    fn problem(&self, reason: impl Into<String>) -> Problem {
        Problem { line: self.line + 1, reason: reason.into() }
    }
}
