//! Interprets CTF 1.8.

use std::collections::HashMap;

use dyntrace_metadata::event_header::{ID_BITS, TIME_BITS, WHOLE};
use dyntrace_metadata::{ByteOrder, CONTEXT, FieldKind, Naming, TIMES};

use super::content::{Environment, Fact, Metadata, Streams};
use super::problem::Problem;
use super::syntax::{Block, Member, Parser, Statement, Type, Value};
use crate::class::EventClass;
use crate::clock::Clock;
use crate::packet::Format;

/// Parses TSDL.
pub(super) fn parse(text: &str) -> Result<Metadata, Problem> {
    let mut parser = Parser::new(text)?;
    let mut reading = Reading::default();
    while let Some(statement) = parser.statement()? {
        match statement {
            Statement::Alias { name, line, ty } => {
                let ty = reading.resolved(&ty).cloned();
                reading.aliases.insert(name, ty.ok_or_else(|| Problem { line, reason: NO_TYPE.to_owned() })?);
            }
            Statement::Block(block) => reading.block(block)?,
        }
    }
    reading.metadata()
}

const NO_TYPE: &str = "this type was not defined before";

/// The content parsed so far. A block refers only to earlier ones.
#[derive(Default)]
struct Reading {
    aliases: HashMap<String, Type>,
    trace: Option<Format>,
    clock: Option<Clock>,
    environment: Environment,
    streams: Streams,
}

impl Reading {
    fn block(&mut self, block: Block) -> Result<(), Problem> {
        match block.kind.as_str() {
            "trace" => self.trace(&block),
            "clock" => self.clock(&block),
            "stream" => self.stream(&block),
            "event" => self.event(&block),
            "env" => {
                let fact = |value| match value {
                    Value::Number(number) => Fact::Number(number),
                    Value::Word(text) | Value::Text(text) => Fact::Text(text),
                };
                let facts = block.values.into_iter().map(|(name, value)| (name, fact(value))).collect();
                self.environment = Environment { line: block.line, facts };
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn trace(&mut self, block: &Block) -> Result<(), Problem> {
        if (block.number("major")?, block.number("minor")?) != (Some(1), Some(8)) {
            return Err(block.problem("this is not CTF 1.8"));
        }
        let byte_order = match block.text("byte_order") {
            Some("le") => ByteOrder::Little,
            Some("be") => ByteOrder::Big,
            _ => return Err(block.problem("`byte_order` of this trace is neither `le` nor `be`")),
        };
        let uuid = block.text("uuid").and_then(uuid).ok_or_else(|| block.problem("this trace has no `uuid`"))?;
        self.trace = Some(Format { byte_order, uuid, checksums: false, compact: false });
        self.expect_layout(block, "packet.header", &[("magic", 32, 1), ("uuid", 8, 16), ("stream_id", 32, 1)])
    }

    fn clock(&mut self, block: &Block) -> Result<(), Problem> {
        let frequency = block.number("freq")?.unwrap_or(1_000_000_000);
        let seconds = block.number("offset_s")?.unwrap_or(0);
        let cycles = block.number("offset")?.unwrap_or(0);
        let name = block.text("name").unwrap_or_default().to_owned();
        let clock = Clock::new(name, frequency, seconds, cycles);
        self.clock = Some(clock.ok_or_else(|| block.problem("`freq` of this clock is zero"))?);
        Ok(())
    }

    fn stream(&mut self, block: &Block) -> Result<(), Problem> {
        let id = block.number("id")?.unwrap_or(0);
        let members = self.members(block, "packet.context")?;
        let times = members.last().filter(|last| last.name == TIMES).map(|_| (TIMES, 64, 0));
        let length = members.len() - usize::from(times.is_some());
        // Traces of the recorder's first version have only the first five.
        let checksums = length == CONTEXT.len();
        let context = CONTEXT[..if checksums { length } else { 5 }].iter().map(|&name| (name, 64, 1));
        self.expect_layout(block, "packet.context", &context.chain(times).collect::<Vec<_>>())?;
        let compact = self.is_compact(block);
        match &mut self.trace {
            Some(format) if self.streams.is_empty() => (format.checksums, format.compact) = (checksums, compact),
            Some(format) if (format.checksums, format.compact) == (checksums, compact) => {}
            None if !checksums && !compact => {}
            _ => return Err(block.problem("the headers of this stream differ from those of the stream before")),
        }
        if !compact {
            self.expect_layout(block, "event.header", &[("id", 16, 1), ("timestamp", 64, 1)])?;
        }
        self.streams.add(id).map_err(|reason| block.problem(reason))
    }

    fn event(&mut self, block: &Block) -> Result<(), Problem> {
        let name = match block.value("name") {
            Some(Value::Text(name) | Value::Word(name)) => name.clone(),
            _ => return Err(block.problem("this event has no `name`")),
        };
        let id: u16 = block.number("id")?.unwrap_or(0);
        let stream: u32 = block.number("stream_id")?.unwrap_or(0);
        let mut fields = Vec::new();
        for member in self.members(block, "fields")? {
            let kind = match (self.resolved(&member.ty), member.length) {
                (Some(Type::Text), None) => FieldKind::Text,
                (Some(integer @ Type::Integer { signed, .. }), None) => {
                    let bits = self.bits(block, integer)?;
                    match (signed, naming(&member.ty)) {
                        (true, _) => FieldKind::Signed { bits },
                        (false, Some(naming)) if bits == Naming::BITS => FieldKind::Name(naming),
                        (false, _) => FieldKind::Unsigned { bits },
                    }
                }
                _ => return Err(block.problem(format!("`{}` is neither an integer nor a string", member.name))),
            };
            fields.push((member.name.strip_prefix('_').unwrap_or(&member.name).to_owned(), kind));
        }
        self.streams.add_event(stream, id, EventClass::new(name, fields)).map_err(|reason| block.problem(reason))
    }

    fn metadata(self) -> Result<Metadata, Problem> {
        let missing = |what| Problem { line: 1, reason: format!("there is no `{what}` block") };
        let format = self.trace.ok_or_else(|| missing("trace"))?;
        let clock = self.clock.ok_or_else(|| missing("clock"))?;
        if self.streams.is_empty() {
            return Err(missing("stream"));
        }
        Metadata::new(format, clock, self.environment, self.streams)
    }

    /// Returns the members of the struct `name`; none if it is absent.
    fn members<'b>(&self, block: &'b Block, name: &str) -> Result<&'b [Member], Problem> {
        match block.ty(name) {
            None => Ok(&[]),
            Some(Type::Struct(members)) => Ok(members),
            Some(_) => Err(block.problem(format!("`{name}` of this {} is not a struct", block.kind))),
        }
    }

    /// Whether this stream's `event.header` is the compact one.
    fn is_compact(&self, block: &Block) -> bool {
        let Some(Type::Struct(members)) = block.ty("event.header") else { return false };
        let [id, rest] = &members[..] else { return false };
        let (Type::Enum { number, ranges }, Type::Variant { selector, options }) = (&id.ty, &rest.ty) else {
            return false;
        };
        let [compact, whole] = &options[..] else { return false };
        let has = |option: &Member, expected: &[(&str, u8)]| match &option.ty {
            Type::Struct(members) => {
                let is_like = |(member, (name, bits)): (&Member, &(&str, u8))| {
                    (member.name.as_str(), member.length) == (name, None) && self.is_unsigned(&member.ty, *bits)
                };
                members.len() == expected.len() && members.iter().zip(expected).all(is_like)
            }
            _ => false,
        };
        let names =
            [(compact.name.as_str(), 0, u64::from(WHOLE) - 1), (whole.name.as_str(), WHOLE.into(), WHOLE.into())];
        let are_ranges = ranges.iter().map(|(name, first, last)| (name.as_str(), *first, *last)).eq(names);
        let is_plain = [id, rest, compact, whole].iter().all(|member| member.length.is_none());
        is_plain
            && are_ranges
            && (id.name.as_str(), selector.as_str()) == ("id", "id")
            && self.is_unsigned(number, ID_BITS)
            && has(compact, &[("timestamp", TIME_BITS)])
            && has(whole, &[("id", 16), ("timestamp", 64)])
    }

    /// Whether the type is an unsigned integer of `bits` bits, in the trace's byte order and without padding before it.
    fn is_unsigned(&self, ty: &Type, bits: u8) -> bool {
        let align = if bits.is_multiple_of(8) { 8 } else { 1 };
        matches!(self.resolved(ty), Some(integer @ Type::Integer { bits: own_bits, align: own, signed: false, .. })
            if *own_bits == u64::from(bits) && *own <= align && self.is_in_order(integer))
    }

    /// Checks that the struct `name` has exactly these unsigned integers: name, bits, array length.
    fn expect_layout(&self, block: &Block, name: &str, expected: &[(&str, u8, u64)]) -> Result<(), Problem> {
        let members = self.members(block, name)?;
        let mut same = members.len() == expected.len();
        for (member, (expected_name, expected_bits, count)) in members.iter().zip(expected) {
            let Some(integer @ Type::Integer { signed: false, .. }) = self.resolved(&member.ty) else {
                same = false;
                break;
            };
            same &= member.name == *expected_name
                && self.bits(block, integer)? == *expected_bits
                && member.length.unwrap_or(1) == *count;
        }
        if same { Ok(()) } else { Err(block.problem(format!("`{name}` differs from that of dyntrace's recorder"))) }
    }

    /// Returns the size of a byte-aligned integer in the trace's byte order.
    fn bits(&self, block: &Block, integer: &Type) -> Result<u8, Problem> {
        let Type::Integer { bits, align, .. } = integer else { return Err(block.problem(NO_TYPE)) };
        match bits {
            8 | 16 | 24 | 32 | 64 if *align <= 8 && self.is_in_order(integer) => Ok(*bits as u8),
            _ => Err(block.problem(
                "this integer does not have 8, 16, 24, 32 or 64 bits, or is not packed, or has another byte order",
            )),
        }
    }

    /// Whether the integer is in the trace's byte order.
    fn is_in_order(&self, integer: &Type) -> bool {
        let Type::Integer { byte_order, .. } = integer else { return false };
        match (byte_order.as_deref(), &self.trace) {
            (None | Some("native"), _) => true,
            (Some("le"), Some(format)) => format.byte_order == ByteOrder::Little,
            (Some("be" | "network"), Some(format)) => format.byte_order == ByteOrder::Big,
            _ => false,
        }
    }

    /// Returns the type that a name stands for.
    fn resolved<'t>(&'t self, ty: &'t Type) -> Option<&'t Type> {
        match ty {
            Type::Named(name) => self.aliases.get(name),
            other => Some(other),
        }
    }
}

/// Returns the kind of the names whose numbers have this type.
fn naming(ty: &Type) -> Option<Naming> {
    let Type::Named(name) = ty else { return None };
    let word = name.strip_suffix("_number_t")?;
    Naming::ALL.into_iter().find(|naming| naming.word() == word)
}

/// Returns the bytes of a UUID in its textual form.
fn uuid(text: &str) -> Option<[u8; 16]> {
    let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let mut uuid = [0; 16];
    if digits.len() != 32 {
        return None;
    }
    for (byte, pair) in uuid.iter_mut().zip(digits.chunks(2)) {
        *byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(uuid)
}
