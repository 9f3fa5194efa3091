//! How this kernel handles a hit of the program's sites, under the tracers of this machine.

mod form;
mod running;
#[cfg(test)]
mod tests;
mod way;

use std::collections::BTreeMap;
use std::ffi::OsStr;

use dyntrace_programs::elf::Object;
use dyntrace_runs::system;
use dyntrace_runs::tracer::{self, Search, TracerKind};

use super::finding::Finding;
use form::{Form, Processor};
pub use running::replaces;
pub use way::Replaces;
use way::{Kernel, SiteNop, Way, at_hit, places};

const TOPIC: &str = "hits";

/// A tracer's name and version, and where it may attach.
type Attached = (String, &'static [SiteNop]);

/// Returns the finding about a program with probes.
pub fn check(object: &Object, found: &[(TracerKind, Search)]) -> Option<Finding> {
    let processor = Processor::of(object.machine).filter(|processor| processor.runs_here())?;
    let kernel = running::kernel()?;
    let mut tracers: Vec<Attached> = found
        .iter()
        .filter_map(|(_, search)| match search {
            Search::Found(tracer) => Some(tracer),
            Search::Unfit { .. } | Search::Missing => None,
        })
        .map(|tracer| (format!("{} {}", tracer.kind, tracer.version), places(tracer.kind, tracer.version)))
        .collect();
    if tracer::in_path(OsStr::new("perf")).next().is_some() {
        tracers.push(("perf".to_owned(), &[SiteNop::First]));
    }
    finding(processor, &object.code, kernel, &system::kernel_release(), &tracers)
}

fn finding(
    processor: Processor,
    code: &[Vec<u8>],
    kernel: Kernel,
    release: &str,
    tracers: &[Attached],
) -> Option<Finding> {
    let mut forms: BTreeMap<Form, usize> = BTreeMap::new();
    for site in code {
        *forms.entry(Form::of(processor, site)).or_default() += 1;
    }
    if forms.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    let (mut is_stepped, mut has_calls) = (false, false);
    for (&form, &sites) in &forms {
        let mut by_answer: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        let anyone: &[Attached] = &[("any tracer".to_owned(), &[SiteNop::First])];
        for (name, places) in if tracers.is_empty() { anyone } else { tracers } {
            let ways: Vec<_> = places.iter().map(|&place| at_hit(processor, form, place, kernel)).collect();
            is_stepped |= form == Form::Nop5 && ways.contains(&Some(Way::Stepped));
            has_calls |= ways.contains(&Some(Way::SystemCall));
            by_answer.entry(answer(processor, &ways)).or_default().push(name);
        }
        let answers: Vec<_> =
            by_answer.iter().map(|(answer, names)| format!("{answer} ({})", names.join(", "))).collect();
        let noun = if sites == 1 { "site" } else { "sites" };
        parts.push(format!("{sites} {noun} of {form}: {}{}", answers.join("; "), advice(processor, form, kernel)));
    }
    let text = format!("on kernel {release}, {}", parts.join("; "));
    Some(if is_stepped {
        Finding::warn(TOPIC, text, "build without dyntrace's feature nop5, or use kernel 6.16 or newer")
    } else if has_calls && kernel.replaces == Replaces::Nop5 {
        // Such a kernel copies the calls into the child, but not the page that they lead to.
        let text = format!(
            "{text}; a child that the process forks while it is traced dies by SIGSEGV at a site that its parent had hit"
        );
        Finding::warn(TOPIC, text, "build programs that fork, other than to execute, without dyntrace's feature nop5")
    } else {
        Finding::ok(TOPIC, text)
    })
}

/// The ways of a tracer's possible places as text.
fn answer(processor: Processor, ways: &[Option<Way>]) -> String {
    let text =
        |way: Option<Way>| way.map_or_else(|| "not known for this instruction".to_owned(), |way| way.text(processor));
    match *ways {
        [first, second] if second != first => {
            format!("{}, or {} if its libbpf attaches to the second nop", text(first), text(second))
        }
        [first, ..] => text(first),
        [] => text(None),
    }
}

/// The change that another form of dyntrace's site would make on this kernel.
fn advice(processor: Processor, form: Form, kernel: Kernel) -> &'static str {
    match (processor, form, kernel.replaces) {
        (Processor::X86_64, Form::NopAndNop10, Replaces::Nop5) => {
            "; built with dyntrace's feature nop5, for programs that do not fork: optimised to a system call"
        }
        (Processor::X86_64, Form::Nop5, Replaces::Nop10) => {
            "; built without dyntrace's feature nop5: optimised to a system call under a libbpf of kernel 7.3 or newer"
        }
        _ => "",
    }
}
