//! The text of CTF 1.8.

use std::fmt::{self, Display, Formatter};

use super::byte_order::ByteOrder;
use super::event_header::{ID_BITS, TIME_BITS, WHOLE};
use super::literal::{Quoted, Uuid};
use super::model::{Clock, Description, Event, FieldKind, TIMES, Value};
use super::naming::Naming;

pub(super) fn text(description: &Description<'_>) -> String {
    let text = Tsdl(description).to_string();
    // A comment for other readers.
    let sum = crc32fast::hash(text.as_bytes());
    text + &format!("/* crc32 {sum:08x} of the text above */\n")
}

/// Splits the text and its checksum.
pub(super) fn checksum(text: &str) -> Option<(&str, &str)> {
    let line = text.trim_end_matches('\n').rfind('\n').map_or(0, |end| end + 1);
    let (above, line) = text.split_at(line);
    Some((above, line.strip_prefix("/* crc32 ")?.strip_suffix(" of the text above */\n")?))
}

struct Tsdl<'a>(&'a Description<'a>);

impl Display for Tsdl<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Description { byte_order, uuid, environment, clock, streams } = self.0;
        writeln!(f, "/* CTF 1.8 */\n")?;

        let byte_order = match byte_order {
            ByteOrder::Little => "le",
            ByteOrder::Big => "be",
        };
        writeln!(f, "trace {{ major = 1; minor = 8; byte_order = {byte_order}; uuid = \"{}\";", Uuid(uuid))?;
        writeln!(f, "  packet.header := struct {{ {U32} magic; {U8} uuid[16]; {U32} stream_id; }};")?;
        writeln!(f, "}};\n")?;

        writeln!(f, "env {{")?;
        for (name, value) in environment {
            match value {
                Value::Number(number) => writeln!(f, "  {name} = {number};")?,
                Value::Text(text) => writeln!(f, "  {name} = {};", quoted(text))?,
            }
        }
        writeln!(f, "}};\n")?;

        // Absolute: from 1970, so that traces of several processes can be read together.
        let Clock { name, frequency, offset_seconds, offset_cycles } = clock;
        write!(f, "clock {{ name = \"{name}\"; freq = {frequency}; ")?;
        writeln!(f, "offset_s = {offset_seconds}; offset = {offset_cycles}; absolute = true; }};")?;
        let mapped = format_args!("map = clock.{name}.value;");
        writeln!(f, "typealias integer {{ size = 64; align = 8; signed = false; {mapped} }} := timestamp_t;")?;
        if streams.iter().any(|stream| stream.compact) {
            writeln!(
                f,
                "typealias integer {{ size = {TIME_BITS}; align = 1; signed = false; {mapped} }} := low_time_t;"
            )?;
        }
        let fields = || streams.iter().flat_map(|stream| &stream.events).flat_map(|event| &event.fields);
        for naming in
            Naming::ALL.into_iter().filter(|naming| fields().any(|(_, kind)| *kind == FieldKind::Name(*naming)))
        {
            writeln!(f, "typealias {U32} := {}_number_t;", naming.word())?;
        }
        writeln!(f)?;

        for stream in streams {
            writeln!(f, "stream {{ id = {};", stream.id)?;
            writeln!(f, "  packet.context := struct {{")?;
            for field in stream.context() {
                writeln!(f, "    {U64} {field};")?;
            }
            writeln!(f, "    timestamp_t {TIMES}[0];")?;
            writeln!(f, "  }};")?;
            if stream.compact {
                let id = format_args!("integer {{ size = {ID_BITS}; align = 1; signed = false; }}");
                writeln!(f, "  event.header := struct {{")?;
                writeln!(f, "    enum : {id} {{ compact = 0 ... {}, whole = {WHOLE} }} id;", WHOLE - 1)?;
                writeln!(f, "    variant <id> {{")?;
                writeln!(f, "      struct {{ low_time_t timestamp; }} compact;")?;
                writeln!(f, "      struct {{ {U16} id; timestamp_t timestamp; }} whole;")?;
                writeln!(f, "    }} rest;")?;
                writeln!(f, "  }};")?;
            } else {
                writeln!(f, "  event.header := struct {{ {U16} id; timestamp_t timestamp; }};")?;
            }
            writeln!(f, "}};\n")?;
        }
        for stream in streams {
            for event in &stream.events {
                write_event(f, stream.id, event)?;
            }
        }
        Ok(())
    }
}

fn write_event(f: &mut Formatter<'_>, stream: u32, event: &Event<'_>) -> fmt::Result {
    writeln!(f, "event {{ name = {}; id = {}; stream_id = {stream};", quoted(&event.name), event.id)?;
    writeln!(f, "  fields := struct {{")?;
    for (name, kind) in &event.fields {
        // The underscore distinguishes names from TSDL's keywords; readers remove it.
        match *kind {
            FieldKind::Signed { bits } => writeln!(f, "    {} _{name};", Integer { bits, signed: true })?,
            FieldKind::Unsigned { bits } => writeln!(f, "    {} _{name};", Integer { bits, signed: false })?,
            FieldKind::Name(naming) => writeln!(f, "    {}_number_t _{name};", naming.word())?,
            FieldKind::Text => writeln!(f, "    string {{ encoding = UTF8; }} _{name};")?,
        }
    }
    writeln!(f, "  }};")?;
    writeln!(f, "}};\n")
}

struct Integer {
    bits: u8,
    signed: bool,
}

const U8: Integer = Integer { bits: 8, signed: false };
const U16: Integer = Integer { bits: 16, signed: false };
const U32: Integer = Integer { bits: 32, signed: false };
const U64: Integer = Integer { bits: 64, signed: false };

impl Display for Integer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Integer { bits, signed } = self;
        write!(f, "integer {{ size = {bits}; align = 8; signed = {signed}; }}")
    }
}

/// A string literal of TSDL, whose literals are those of C.
fn quoted(text: &str) -> Quoted<'_> {
    // Always three digits: a digit that follows is not part of the escape.
    Quoted { text, escape: |f, control| write!(f, "\\{control:03o}") }
}
