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

mod description;
mod events;
mod script;

use anyhow::Context as _;
use dyntrace_analysis::render::{Rendering, Settings};
use dyntrace_build::model::Probe;
use dyntrace_programs::elf::Note;
use dyntrace_programs::provider::Providers;
use dyntrace_reader::Source;
use dyntrace_terminal::exit::{self, Failure};

pub use description::STRING;
use description::description;
pub use events::Events;

use super::marks::Mark;
use super::output::Sink;
use super::tag::Tag;

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
