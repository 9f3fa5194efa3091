//! A shipped script under a bpftrace that is too old for it.
//!
//! bpftrace before 0.24 reads six arguments of a probe, and has neither the macros nor the loops of the shipped scripts. Here
//! it only prints each event with its arguments ([`script`]). dyntrace makes the lines from these events, as from recorded ones
//! ([`events`]).
//!
//! An event is printed in several records, as each string needs most of the 512 bytes of stack that a clause has:
//!
//! - `MARK< CPU PROBE TIME n TID NUMBER... COMM MARK>`: the thread, and the arguments that are numbers.
//! - `MARK< CPU PROBE TIME s TEXT MARK>`: one for each string.
//!
//! Records of one processor arrive in order; those of others may lie between them. At the end, `MARK=` and `MARK;` stand around bpftrace's
//! count of the events.

mod events;
mod script;

use anyhow::Context as _;
use dyntrace_analysis::render::{Rendering, Settings};
use dyntrace_build::model::{Argument, Kind, Probe};
use dyntrace_metadata as metadata;
use dyntrace_programs::elf::Note;
use dyntrace_programs::provider::Providers;
use dyntrace_reader::Source;
use dyntrace_terminal::exit::{self, Failure};

pub use events::Events;

use super::marks::Mark;
use super::output::Sink;
use super::tag::Tag;

/// Bytes of a string that bpftrace keeps, with its NUL: the most that it allows.
pub const STRING: usize = 200;

/// The class of events that name a thread, before those of the probes.
const THREAD: u16 = 0;

/// Environment variables that replace the `config` block of newer versions.
pub const ENVIRONMENT: [(&str, &str); 2] = [("BPFTRACE_STRLEN", "200"), ("BPFTRACE_PERF_RB_PAGES", "4096")];

/// A shipped script in the form for an old bpftrace, and the description of its events.
pub struct Raw {
    /// The script for bpftrace.
    pub script: String,
    events: Described,
}

/// The events of a script.
#[derive(Clone)]
struct Described {
    rendering: &'static Rendering,
    probes: Vec<Probe>,
    mark: Mark,
    tag: Option<Tag>,
    settings: Settings,
}

impl Raw {
    /// For the script of `rendering`, on a program with these `sites`. `tag`: the user tags of the events that make lines.
    pub fn new(
        rendering: &'static Rendering,
        sites: &[Note],
        mark: Mark,
        tag: Option<&Tag>,
        settings: Settings,
    ) -> Result<Raw, Failure> {
        let providers = Providers::with(&[])?;
        let names = rendering.probes().into_iter().filter_map(|name| name.split_once(':'));
        let probes: Vec<Probe> = names
            .filter_map(|(provider, name)| {
                providers.get(provider)?.probes.iter().find(|probe| probe.tool_name() == name).cloned()
            })
            .collect();
        let script = script::script(&probes, sites, &mark).map_err(|error| Failure::new(exit::NO_TRACER, error))?;
        Ok(Raw { script, events: Described { rendering, probes, mark, tag: tag.cloned(), settings } })
    }

    /// Returns the reader of the events of process `pid`, for a thread of its own.
    pub fn reader(&self, pid: u32) -> anyhow::Result<impl FnOnce(&Sink) -> Events + Send + use<>> {
        let Described { rendering, probes, mark, tag, settings } = self.events.clone();
        let source = Source::new(&description(&probes, pid)).context("cannot describe the events")?;
        Ok(move |sink: &Sink| {
            let of_tag = tag.as_ref().map(Tag::selection);
            Events::new(mark, rendering, probes, of_tag, source, sink.format(rendering, &settings))
        })
    }
}

/// Whether the argument is a string.
fn is_text(argument: &Argument) -> bool {
    argument.ty.kind == Kind::Text
}

/// The classes of the events, as the metadata of a recording has them.
fn description(probes: &[Probe], pid: u32) -> String {
    let field = |argument: &Argument| match argument.ty.kind {
        Kind::I32 => metadata::FieldKind::Signed { bits: 32 },
        Kind::U32 => metadata::FieldKind::Unsigned { bits: 32 },
        Kind::I64 => metadata::FieldKind::Signed { bits: 64 },
        Kind::U64 => metadata::FieldKind::Unsigned { bits: 64 },
        Kind::Text => metadata::FieldKind::Text,
    };
    let thread = metadata::Event {
        id: THREAD,
        name: "recorder:thread".into(),
        fields: vec![("tid", metadata::FieldKind::Unsigned { bits: 64 }), ("name", metadata::FieldKind::Text)],
    };
    let of_probe = |(id, probe): (u16, &Probe)| metadata::Event {
        id,
        name: format!("dyntrace:{}", probe.tool_name()).into(),
        fields: Vec::new(),
    };
    let mut events: Vec<_> = std::iter::once(thread).chain((THREAD + 1..).zip(probes).map(of_probe)).collect();
    for (event, probe) in events[1..].iter_mut().zip(probes) {
        event.fields = probe.arguments.iter().map(|argument| (argument.name.as_str(), field(argument))).collect();
    }
    let text = metadata::Description {
        byte_order: metadata::ByteOrder::NATIVE,
        uuid: [0; 16],
        environment: vec![("pid", metadata::Value::Number(pid.into())), ("word_size", metadata::Value::Number(64))],
        clock: metadata::Clock { name: "boot", frequency: 1_000_000_000, offset_seconds: 0, offset_cycles: 0 },
        streams: vec![metadata::Stream { id: 0, checksums: true, compact: false, events }],
    };
    text.text(metadata::Format::Ctf1)
}
