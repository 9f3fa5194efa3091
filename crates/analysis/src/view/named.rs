//! The globs of `--probe`, and whether the trace has events of each.

use std::cell::Cell;

use anyhow::anyhow;
use dyntrace_programs::probe_names::Names;
use dyntrace_reader::{EventClass, Process, Selection, Trace};
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};

use crate::losses;

pub struct Named<'g>(Vec<Glob<'g>>);

struct Glob<'g> {
    text: &'g str,
    selection: Selection,
    has_events: Cell<bool>,
}

impl<'g> Named<'g> {
    pub fn new(globs: &'g [String]) -> Named<'g> {
        let glob =
            |text: &'g String| Glob { text, selection: Selection::new().probe(text), has_events: Cell::default() };
        Named(globs.iter().map(glob).collect())
    }

    /// Fails if neither the trace nor the library has a probe of a name. Other providers may have probes that the trace does not have.
    pub fn check(&self, trace: &Trace) -> Result<(), Failure> {
        let classes = || trace.processes().iter().flat_map(Process::classes);
        for Glob { text, selection, .. } in &self.0 {
            if !classes().any(|class| selection.matches_probe(class)) {
                let names = Names::own()?.with(classes().map(|class| class.name.to_string()));
                if !names.has(text) && names.knows_provider(text) {
                    let shown = escape::name(text);
                    let meant = names.did_you_mean(text);
                    let error = anyhow!(
                        "no probe of the trace or of dyntrace matches {shown}. {meant}Without --probe, all events are shown"
                    );
                    return Err(Failure::new(exit::USAGE, error));
                }
            }
        }
        Ok(())
    }

    /// Notes an event of the trace, shown or not.
    pub fn see(&self, class: &EventClass) {
        for glob in self.0.iter().filter(|glob| !glob.has_events.get()) {
            glob.has_events.set(glob.selection.matches_probe(class));
        }
    }

    /// Tells of which globs the trace has no event.
    pub fn say_unseen(&self) {
        for glob in self.0.iter().filter(|glob| !glob.has_events.get()) {
            losses::warn(&format!("the trace has no event of {}", escape::name(glob.text)));
        }
    }
}
