//! Parses the metadata of a process into event classes, clock and names.
//!
//! CTF 1.8: `lexer` makes tokens, `syntax` blocks and types, and `tsdl` interprets them. CTF 2 is JSON, interpreted by `json`. Both accept
//! the recorder's output, with any white space, comments and unknown attributes. The headers of packets and events must be the
//! recorder's: the metadata of another tracer is an error.

mod json;
mod lexer;
mod syntax;
#[cfg(test)]
mod tests;
mod tsdl;

use dyntrace_metadata::{Description, Event, Stream, Value, is_ctf2};

use crate::class::{Classes, EventClass};
use crate::clock::Clock;
use crate::packet::Format;

/// The maximum number of stream classes: the recorder has two.
const MAX_STREAMS: usize = 16;

/// A problem with the text, and its line.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The line, from 1.
    pub(crate) line: usize,
    pub(crate) reason: String,
}

/// The content of the metadata.
#[derive(Debug)]
pub(crate) struct Metadata {
    pub(crate) format: Format,
    pub(crate) clock: Clock,
    pub(crate) hostname: Option<String>,
    pub(crate) process_name: Option<String>,
    pub(crate) pid: u64,
    pub(crate) word_size: u32,
    /// Stream ids and their event classes.
    pub(crate) streams: Vec<(u32, Classes)>,
    environment: Environment,
}

/// Parses the text of a metadata file.
pub(crate) fn parse(text: &str) -> Result<Metadata, Problem> {
    if is_ctf2(text) { json::parse(text) } else { tsdl::parse(text) }
}

impl Metadata {
    fn new(format: Format, clock: Clock, environment: Environment, streams: Streams) -> Result<Self, Problem> {
        Ok(Self {
            format,
            clock,
            hostname: environment.text("hostname"),
            process_name: environment.text("procname"),
            pid: environment.number("pid")?.unwrap_or(0),
            word_size: environment.number("word_size")?.unwrap_or(64),
            streams: streams.0,
            environment,
        })
    }

    /// Returns the metadata as text of `format`.
    pub(crate) fn text(&self, format: dyntrace_metadata::Format) -> String {
        let description = Description {
            byte_order: self.format.byte_order,
            uuid: self.format.uuid,
            environment: self.environment.facts.iter().map(|(name, fact)| (name.as_str(), fact.value())).collect(),
            clock: self.clock.describe(),
            streams: self.streams.iter().map(|(id, classes)| self.stream(*id, classes)).collect(),
        };
        description.text(format)
    }

    fn stream<'a>(&self, id: u32, classes: &'a Classes) -> Stream<'a> {
        let Format { checksums, compact, .. } = self.format;
        Stream { id, checksums, compact, events: classes.with_ids().map(event).collect() }
    }
}

fn event((id, class): (u16, &EventClass)) -> Event<'_> {
    let fields = class.fields.iter().map(|field| (field.name.as_str(), field.kind)).collect();
    Event { id, name: class.name.as_str().into(), fields }
}

/// Facts about the process and its recorder.
#[derive(Debug, Default)]
struct Environment {
    /// Their line.
    line: usize,
    facts: Vec<(String, Fact)>,
}

#[derive(Debug)]
enum Fact {
    Number(i128),
    Text(String),
}

impl Fact {
    fn value(&self) -> Value<'_> {
        match self {
            Fact::Number(number) => Value::Number(*number),
            Fact::Text(text) => Value::Text(text),
        }
    }
}

impl Environment {
    fn fact(&self, name: &str) -> Option<&Fact> {
        self.facts.iter().find(|(known, _)| known == name).map(|(_, fact)| fact)
    }

    fn text(&self, name: &str) -> Option<String> {
        match self.fact(name)? {
            Fact::Text(text) => Some(text.clone()),
            Fact::Number(_) => None,
        }
    }

    fn number<N: TryFrom<i128>>(&self, name: &str) -> Result<Option<N>, Problem> {
        let number = match self.fact(name) {
            None => return Ok(None),
            Some(Fact::Number(number)) => N::try_from(*number).ok(),
            Some(Fact::Text(_)) => None,
        };
        let reason = || format!("`{name}` of this environment is not a number in range");
        number.map(Some).ok_or_else(|| Problem { line: self.line, reason: reason() })
    }
}

/// The stream ids and event classes parsed so far.
#[derive(Default)]
struct Streams(Vec<(u32, Classes)>);

impl Streams {
    fn add(&mut self, id: u32) -> Result<(), String> {
        if self.0.len() == MAX_STREAMS || self.0.iter().any(|(known, _)| *known == id) {
            return Err(format!("there are too many streams, or stream {id} is defined twice"));
        }
        self.0.push((id, Classes::default()));
        Ok(())
    }

    fn add_event(&mut self, stream: u32, id: u16, class: EventClass) -> Result<(), String> {
        let known = self.0.iter_mut().find(|(known, _)| *known == stream);
        let (_, classes) = known.ok_or_else(|| format!("there is no stream {stream} before this event"))?;
        if !classes.insert(id, class) {
            return Err(format!("event {id} of stream {stream} is defined twice"));
        }
        Ok(())
    }
}
