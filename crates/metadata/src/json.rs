//! The text of CTF 2: a sequence of JSON texts, which its specification calls fragments.

use std::fmt::{self, Display, Formatter, Write as _};

use super::byte_order::ByteOrder;
use super::event_header::{ID_BITS, TIME_BITS, WHOLE};
use super::literal::{Quoted, Uuid};
use super::model::{Clock, Description, FieldKind, RECORD_SEPARATOR, Stream, TIMES, Value};
use super::naming::Naming;

/// The text around the checksum: in the last fragment's attributes, which other readers ignore.
const BEFORE_SUM: &str = ",\"attributes\":{\"dyntrace\":{\"crc32\":\"";
const BEHIND_SUM: &str = "\"}}}\n";

pub(super) fn text(description: &Description<'_>) -> String {
    let text = Fragments(description).to_string();
    let text = text.strip_suffix("}\n").expect("fragments are objects on lines of their own");
    let sum = crc32fast::hash(text.as_bytes());
    format!("{text}{BEFORE_SUM}{sum:08x}{BEHIND_SUM}")
}

/// Splits the text and its checksum.
pub(super) fn checksum(text: &str) -> Option<(&str, &str)> {
    let (above, sum) = text.strip_suffix(BEHIND_SUM)?.split_at_checked(text.len() - BEHIND_SUM.len() - 8)?;
    Some((above.strip_suffix(BEFORE_SUM)?, sum))
}

struct Fragments<'a>(&'a Description<'a>);

impl Display for Fragments<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Description { byte_order, uuid, environment, clock, streams } = self.0;
        let order = *byte_order;
        const RS: char = RECORD_SEPARATOR;
        writeln!(f, "{RS}{{\"type\":\"preamble\",\"version\":2,\"uuid\":[{}]}}", List(uuid.iter()))?;

        write!(f, "{RS}{{\"type\":\"trace-class\",\"uid\":\"{}\",\"environment\":", Uuid(uuid))?;
        let environment = environment.iter().map(|&fact| Fact(fact));
        write!(f, "{{{}}},\"packet-header-field-class\":", List(environment))?;
        let header = [
            Member { order, name: "magic", class: Class::Number(32, "packet-magic-number") },
            Member { order, name: "uuid", class: Class::Uuid },
            Member { order, name: "stream_id", class: Class::Number(32, "data-stream-class-id") },
        ];
        writeln!(f, "{}}}", Structure(header.iter()))?;

        // From 1970, so that traces of several processes can be read together. The format requires less than a second of cycles.
        let Clock { name, frequency, offset_seconds, offset_cycles } = clock;
        let (whole, cycles) = (offset_cycles / frequency.max(&1), offset_cycles % frequency.max(&1));
        let seconds = offset_seconds.saturating_add_unsigned(whole);
        let name = quoted(name);
        write!(f, "{RS}{{\"type\":\"clock-class\",\"id\":{name},\"name\":{name},\"frequency\":{frequency},")?;
        write!(f, "\"origin\":\"unix-epoch\",\"offset-from-origin\":")?;
        writeln!(f, "{{\"seconds\":{seconds},\"cycles\":{cycles}}}}}")?;

        for stream in streams {
            write!(f, "{RS}{{\"type\":\"data-stream-class\",\"id\":{},\"default-clock-class-id\":{name},", stream.id)?;
            let context = stream.context().iter();
            let context = context.map(|name| Member { order, name, class: Class::Number(64, role(name)) });
            let context = context.chain([Member { order, name: TIMES, class: Class::NoTimes }]);
            write!(f, "\"packet-context-field-class\":{},", Structure(context))?;
            let rest = Member { order, name: "rest", class: Class::Rest };
            let header = match stream.compact {
                true => &[id(order, ID_BITS), rest],
                false => &[id(order, 16), time(order, 64)],
            };
            writeln!(f, "\"event-record-header-field-class\":{}}}", Structure(header.iter()))?;
        }
        streams.iter().try_for_each(|stream| write_events(f, order, stream))
    }
}

fn id(order: ByteOrder, bits: u8) -> Member<'static> {
    Member { order, name: "id", class: Class::Number(bits, "event-record-class-id") }
}

fn time(order: ByteOrder, bits: u8) -> Member<'static> {
    Member { order, name: "timestamp", class: Class::Number(bits, "default-clock-timestamp") }
}

fn write_events(f: &mut Formatter<'_>, order: ByteOrder, stream: &Stream<'_>) -> fmt::Result {
    for event in &stream.events {
        write!(f, "{RECORD_SEPARATOR}{{\"type\":\"event-record-class\",\"id\":{},", event.id)?;
        write!(f, "\"data-stream-class-id\":{},\"name\":{},", stream.id, quoted(&event.name))?;
        let fields = event.fields.iter().map(|&(name, kind)| Member { order, name, class: Class::Field(kind) });
        writeln!(f, "\"payload-field-class\":{}}}", Structure(fields))?;
    }
    Ok(())
}

/// The role of a field of a packet's context; empty for none.
///
/// `events_discarded` has no role: babeltrace2 2.1 would abort when it grows in packets without an end time.
fn role(name: &str) -> &'static str {
    match name {
        "content_size" => "packet-content-length",
        "packet_size" => "packet-total-length",
        _ => "",
    }
}

/// Comma-separated values.
struct List<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for List<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.clone().enumerate().try_for_each(|(at, value)| match at {
            0 => write!(f, "{value}"),
            _ => write!(f, ",{value}"),
        })
    }
}

struct Fact<'a>((&'a str, Value<'a>));

impl Display for Fact<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.0 {
            (name, Value::Number(number)) => write!(f, "{}:{number}", quoted(name)),
            (name, Value::Text(text)) => write!(f, "{}:{}", quoted(name), quoted(text)),
        }
    }
}

/// The class of a structure with these members.
struct Structure<I>(I);

impl<I: Iterator<Item: Display> + Clone> Display for Structure<I> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{{\"type\":\"structure\",\"member-classes\":[{}]}}", List(self.0.clone()))
    }
}

#[derive(Clone)]
struct Member<'a> {
    order: ByteOrder,
    name: &'a str,
    class: Class,
}

#[derive(Clone)]
enum Class {
    /// An unsigned number: its bits, and its role.
    Number(u8, &'static str),
    Uuid,
    NoTimes,
    /// The rest of an event's header, after the id of 7 bits.
    Rest,
    Field(FieldKind),
}

impl Display for Member<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let &Member { order, name, ref class } = self;
        write!(f, "{{\"name\":{},\"field-class\":", quoted(name))?;
        match *class {
            Class::Number(bits, role) => write!(f, "{}", Integer { order, sign: "unsigned", bits, role }),
            Class::Field(FieldKind::Unsigned { bits }) => {
                write!(f, "{}", Integer { order, sign: "unsigned", bits, role: "" })
            }
            Class::Field(FieldKind::Signed { bits }) => {
                write!(f, "{}", Integer { order, sign: "signed", bits, role: "" })
            }
            Class::Field(FieldKind::Name(naming)) => write!(f, "{}", Number { order, naming }),
            Class::Field(FieldKind::Text) => f.write_str("{\"type\":\"null-terminated-string\"}"),
            Class::Uuid => {
                f.write_str("{\"type\":\"static-length-blob\",\"length\":16,\"roles\":[\"metadata-stream-uuid\"]}")
            }
            Class::Rest => {
                f.write_str("{\"type\":\"variant\",\"selector-field-location\":")?;
                f.write_str("{\"origin\":\"event-record-header\",\"path\":[\"id\"]},\"options\":[")?;
                let compact = [time(order, TIME_BITS)];
                let compact = Structure(compact.iter());
                write!(f, "{{\"name\":\"compact\",\"selector-field-ranges\":[[0,{}]],", WHOLE - 1)?;
                write!(f, "\"field-class\":{compact}}},")?;
                let whole = [id(order, 16), time(order, 64)];
                let whole = Structure(whole.iter());
                write!(f, "{{\"name\":\"whole\",\"selector-field-ranges\":[[{WHOLE},{WHOLE}]],")?;
                write!(f, "\"field-class\":{whole}}}]}}")
            }
            Class::NoTimes => {
                let time = Integer { order, sign: "unsigned", bits: 64, role: "default-clock-timestamp" };
                write!(f, "{{\"type\":\"static-length-array\",\"length\":0,\"element-field-class\":{time}}}")
            }
        }?;
        f.write_char('}')
    }
}

struct Integer {
    order: ByteOrder,
    sign: &'static str,
    bits: u8,
    /// Its role; empty for none.
    role: &'static str,
}

impl Display for Integer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Integer { order, sign, bits, role } = self;
        let order = match order {
            ByteOrder::Little => "little-endian",
            ByteOrder::Big => "big-endian",
        };
        write!(f, "{{\"type\":\"fixed-length-{sign}-integer\",\"length\":{bits},")?;
        let alignment = if bits % 8 == 0 { 8 } else { 1 };
        write!(f, "\"alignment\":{alignment},\"byte-order\":\"{order}\"")?;
        if !role.is_empty() {
            write!(f, ",\"roles\":[\"{role}\"]")?;
        }
        f.write_char('}')
    }
}

/// The number in a name.
struct Number {
    order: ByteOrder,
    naming: Naming,
}

impl Display for Number {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Number { order, naming } = *self;
        let integer = Integer { order, sign: "unsigned", bits: Naming::BITS, role: "" }.to_string();
        let word = naming.word();
        write!(f, "{},\"attributes\":{{\"dyntrace\":{{\"name\":\"{word}\"}}}}}}", integer.trim_end_matches('}'))
    }
}

/// A string of JSON.
fn quoted(text: &str) -> Quoted<'_> {
    Quoted { text, escape: |f, control| write!(f, "\\u{control:04x}") }
}
