//! Checks of the tracers, of the scripts they can run, and of this user's rights.

use dyntrace_runs::tracer::{self, Search, Tracer, TracerKind};
use dyntrace_runs::{script, system};
use dyntrace_terminal::escape;

use super::finding::Finding;

/// Searches for each tracer of this system.
pub fn find() -> Vec<(TracerKind, Search)> {
    TracerKind::PREFERRED.iter().map(|&kind| (kind, tracer::search(kind))).collect()
}

pub fn check(found: &[(TracerKind, Search)]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut usable = false;
    for (kind, search) in found {
        let (kind, topic) = (*kind, kind.command());
        findings.push(match search {
            Search::Missing => Finding::warn(topic, "not in PATH", tracer::get_one(kind)),
            Search::Unfit { path, why } => {
                Finding::warn(topic, format!("{}: {why}", escape::path(path)), tracer::get_one(kind))
            }
            Search::Found(tracer) => {
                let finding = fitness(tracer);
                usable |= finding.0;
                finding.1
            }
        });
    }
    if !usable {
        findings.push(Finding::fail("tracers", "none can run a script", "see above: the first remedy is the simplest"));
    }
    findings
}

/// Whether a tracer runs any shipped script, and the finding.
fn fitness(tracer: &Tracer) -> (bool, Finding) {
    let (kind, topic) = (tracer.kind, tracer.kind.command());
    let here = format!("{} {}", escape::path(&tracer.path), tracer.version);
    if let Some(why) = system::forbids(kind) {
        let (what, remedy) = why.split_once(": ").unwrap_or((&why, "use sudo"));
        return (false, Finding::warn(topic, format!("{here}: {what}"), remedy));
    }
    if let Some(lack) = tracer::lacks(tracer, None) {
        return (false, Finding::warn(topic, format!("{here}: {}", lack.what), lack.remedy));
    }
    let lacks: Vec<_> = dyntrace::scripts::ALL
        .iter()
        .filter_map(|script| Some((script.name, tracer::lacks(tracer, Some(script::shipped_text(script, kind)))?)))
        .collect();
    let Some((_, lack)) = lacks.first() else {
        return (true, Finding::ok(topic, format!("{here} runs every shipped script")));
    };
    if tracer.prints_events() {
        let what = format!("{here} serves every shipped script through dyntrace run, but not by itself: {}", lack.what);
        return (true, Finding::ok(topic, what));
    }
    let names: Vec<_> = lacks.iter().map(|(name, _)| *name).collect();
    let usable = names.len() < dyntrace::scripts::ALL.len();
    (usable, Finding::warn(topic, format!("{here} cannot run {}: {}", names.join(", "), lack.what), &*lack.remedy))
}
