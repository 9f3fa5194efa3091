//! The content of metadata.

use dyntrace_metadata::{Description, Event, Stream, Value};

use super::problem::Problem;
use crate::class::{Classes, EventClass};
use crate::clock::Clock;
use crate::packet::Format;

/// The maximum number of stream classes: the recorder has two.
const MAX_STREAMS: usize = 16;

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

impl Metadata {
    pub(super) fn new(
        format: Format,
        clock: Clock,
        environment: Environment,
        streams: Streams,
    ) -> Result<Self, Problem> {
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
pub(super) struct Environment {
    /// Their line.
    pub(super) line: usize,
    pub(super) facts: Vec<(String, Fact)>,
}

#[derive(Debug)]
pub(super) enum Fact {
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
pub(super) struct Streams(Vec<(u32, Classes)>);

impl Streams {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn add(&mut self, id: u32) -> Result<(), String> {
        if self.0.len() == MAX_STREAMS || self.0.iter().any(|(known, _)| *known == id) {
            return Err(format!("there are too many streams, or stream {id} is defined twice"));
        }
        self.0.push((id, Classes::default()));
        Ok(())
    }

    pub(super) fn add_event(&mut self, stream: u32, id: u16, class: EventClass) -> Result<(), String> {
        let known = self.0.iter_mut().find(|(known, _)| *known == stream);
        let (_, classes) = known.ok_or_else(|| format!("there is no stream {stream} before this event"))?;
        if !classes.insert(id, class) {
            return Err(format!("event {id} of stream {stream} is defined twice"));
        }
        Ok(())
    }
}
