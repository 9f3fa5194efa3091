//! How the lines of a script are made.

use dyntrace_reader::Event;

/// The line that a script prints for a probe.
pub struct Line {
    /// The probe, with its provider.
    pub probe: &'static str,
    /// The line, with the names of fields in it.
    pub template: &'static str,
}

/// A script, made from recorded events.
pub struct Rendering {
    pub script: &'static str,
    pub way: Way,
}

/// How the lines of a script are made.
pub enum Way {
    /// One for each event.
    Lines(&'static [Line]),
    /// By a summary of events.
    Summary {
        /// The probes, each with its provider.
        probes: &'static [&'static str],
        begin: fn(&Settings) -> Box<dyn Printer>,
    },
}

/// Values in scripts that the user may change.
#[derive(Clone, Copy)]
pub struct Settings {
    /// A poll of this many nanoseconds or more is slow.
    pub slow: i64,
}

impl Default for Settings {
    /// As the scripts have it.
    fn default() -> Settings {
        Settings { slow: 10_000_000 }
    }
}

/// Writes events as text.
pub trait Printer {
    /// Takes the next event, and appends the lines that are ready.
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>);

    /// Appends the lines that follow the last event.
    fn end(&mut self, _out: &mut Vec<u8>) {}

    /// Forgets event classes: the trace was reopened, so their addresses are not valid any more.
    fn forget_classes(&mut self) {}
}

impl Rendering {
    pub(super) const fn new(script: &'static str, way: Way) -> Rendering {
        Rendering { script, way }
    }

    /// The probes that it needs, each with its provider.
    pub fn probes(&self) -> Vec<&'static str> {
        match self.way {
            Way::Lines(lines) => lines.iter().map(|line| line.probe).collect(),
            Way::Summary { probes, .. } => probes.to_vec(),
        }
    }

    /// Whether it needs this event. Summaries also need the names of threads.
    pub fn needs(&self, event: &Event<'_>) -> bool {
        let name = event.class.name.as_str();
        match self.way {
            Way::Lines(lines) => lines.iter().any(|line| line.probe == name),
            Way::Summary { probes, .. } => probes.contains(&name) || name == "recorder:thread",
        }
    }

    pub(super) fn lines(&self) -> &'static [Line] {
        match self.way {
            Way::Lines(lines) => lines,
            Way::Summary { .. } => &[],
        }
    }
}
