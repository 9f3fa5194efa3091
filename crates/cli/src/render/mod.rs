//! What the shipped scripts print, made from recorded events: one rendering for each script, held against its text for bpftrace by a
//! test here, and against what bpftrace prints by `tests/tracers`.

mod aio_pool;
pub mod append;
mod commands;
mod dist;
mod efile_by_tag;
mod efile_drv;
mod efile_errors;
mod efile_latency;
mod message_latency;
mod messages;
pub mod operation;
mod template;
mod times;
mod user_probe;

use dyntrace_reader::Event;

pub use commands::Commands;
pub use template::Piece;

/// What a script prints of one probe.
pub struct Line {
    /// The probe as traces name it, with its provider.
    pub probe: &'static str,
    /// The line, with the names of fields in it.
    pub template: &'static str,
}

/// A script, made from recorded events.
pub struct Rendering {
    /// The name of the script.
    pub script: &'static str,
    /// How.
    pub way: Way,
}

/// How the lines of a script are made.
pub enum Way {
    /// A line of each event: one for each of its probes.
    Lines(&'static [Line]),
    /// Of what events say together.
    Answer {
        /// Its probes, each with its provider.
        probes: &'static [&'static str],
        /// What takes them in.
        begin: fn() -> Box<dyn Answer>,
    },
}

/// A script that remembers events until they answer its question.
pub trait Answer {
    /// Takes the next event in, and appends the lines that it leads to.
    fn event(&mut self, event: &Event<'_>, out: &mut Vec<u8>);

    /// Appends the lines that come when the events have ended.
    fn end(&mut self, out: &mut Vec<u8>);
}

impl Rendering {
    /// The probes that it needs, each with its provider.
    pub fn probes(&self) -> Vec<&'static str> {
        match self.way {
            Way::Lines(lines) => lines.iter().map(|line| line.probe).collect(),
            Way::Answer { probes, .. } => probes.to_vec(),
        }
    }

    /// Whether it is made from this event: of one of its probes, or, where events say something together, of the names of threads.
    pub fn needs(&self, event: &Event<'_>) -> bool {
        let name = event.class.name.as_str();
        match self.way {
            Way::Lines(lines) => lines.iter().any(|line| line.probe == name),
            Way::Answer { probes, .. } => probes.contains(&name) || name == "recorder:thread",
        }
    }

    /// The lines that it makes of single events.
    fn lines(&self) -> &'static [Line] {
        match self.way {
            Way::Lines(lines) => lines,
            Way::Answer { .. } => &[],
        }
    }
}

/// All of them.
pub const ALL: &[Rendering] = &[
    Rendering { script: "aio_pool", way: Way::Answer { probes: aio_pool::PROBES, begin: aio_pool::begin } },
    Rendering { script: "dist", way: Way::Lines(dist::LINES) },
    Rendering { script: "efile_by_tag", way: Way::Answer { probes: efile_by_tag::PROBES, begin: efile_by_tag::begin } },
    Rendering { script: "efile_drv", way: Way::Lines(efile_drv::LINES) },
    Rendering { script: "efile_errors", way: Way::Answer { probes: efile_errors::PROBES, begin: efile_errors::begin } },
    Rendering {
        script: "efile_latency",
        way: Way::Answer { probes: efile_latency::PROBES, begin: efile_latency::begin },
    },
    Rendering {
        script: "message_latency",
        way: Way::Answer { probes: message_latency::PROBES, begin: message_latency::begin },
    },
    Rendering { script: "messages", way: Way::Lines(messages::LINES) },
    Rendering { script: "user-probe", way: Way::Lines(user_probe::LINES) },
];

/// The rendering of the script called `name`.
pub fn find(name: &str) -> Option<&'static Rendering> {
    ALL.iter().find(|rendering| rendering.script == name)
}

/// The parts of the line that one of the `renderings` makes of the probe, if one does and the event has all the fields it prints.
pub fn pieces(renderings: &[Rendering], probe: &str, position: impl Fn(&str) -> Option<usize>) -> Option<Vec<Piece>> {
    let line = renderings.iter().flat_map(Rendering::lines).find(|line| line.probe == probe)?;
    template::parse(line.template, position)
}

#[cfg(test)]
mod tests {
    use dyntrace::scripts;
    use dyntrace_build::model::Provider;

    use super::*;

    /// Takes what a script for bpftrace says of a probe apart: the format and the arguments of its one printf.
    fn printf(block: &str) -> (String, Vec<&str>) {
        let call = block.split_once("printf(\"").unwrap().1;
        let (format, arguments) = call.split_once("\\n\",").unwrap();
        let arguments = arguments.split_once(");").unwrap().0;
        (format.to_owned(), arguments.split(',').map(str::trim).collect())
    }

    /// The template that does the same as the printf.
    fn template(provider: &Provider, probe: &str, block: &str) -> String {
        let probe = provider.probes.iter().find(|known| known.name == probe).unwrap();
        let (format, arguments) = printf(block);
        let mut parts = format.split('%');
        let mut template = parts.next().unwrap().to_owned();
        for (part, argument) in parts.zip(&arguments) {
            let number: String = argument.chars().filter(char::is_ascii_digit).collect();
            let name = &probe.arguments[number.parse::<usize>().unwrap()].name;
            let op = if argument.starts_with("@op_map[") { ":op" } else { "" };
            let rest = part.strip_prefix("ld").or_else(|| part.strip_prefix('s')).unwrap();
            template += &format!("${name}{op}{rest}");
        }
        template
    }

    #[test]
    fn every_shipped_script_has_a_rendering_that_says_what_it_says() {
        let provider = dyntrace_build::parse(scripts::PROVIDER_D, "provider.d").unwrap();
        for script in scripts::ALL {
            let rendering = find(script.name).unwrap_or_else(|| panic!("no rendering of {}", script.name));
            let blocks: Vec<(&str, &str)> =
                script.bt.split("\nusdt:$1:dyntrace:").skip(1).map(|block| block.split_once('\n').unwrap()).collect();
            let named = blocks.iter().map(|(probe, _)| format!("dyntrace:{}", probe.replace("__", "-")));
            assert_eq!(named.collect::<Vec<_>>(), rendering.probes(), "{}", script.name);
            for ((probe, block), line) in blocks.into_iter().zip(rendering.lines()) {
                assert_eq!(template(&provider, probe, block), line.template, "{}", line.probe);
            }
        }
    }
}
