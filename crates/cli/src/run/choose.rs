//! Which tracer runs the script.

use std::fmt::Write as _;

use anyhow::anyhow;

use crate::escape;
use crate::exit::{self, Failure};
use crate::script::Script;
use crate::system;
use crate::tracer::{self, Kind, Search, Tracer};

/// Why a tracer is not taken.
struct Refusal {
    kind: Kind,
    /// Whether it is installed, so that the user may wonder.
    is_here: bool,
    why: String,
}

/// The first tracer that is here and fit for `script`, or the one `asked` for; and the script in its language.
pub fn choose(script: &Script, asked: Option<Kind>) -> Result<(Tracer, &str), Failure> {
    let candidates = asked.as_ref().map_or(Kind::PREFERRED, std::slice::from_ref);
    let mut refusals = Vec::new();
    for &kind in candidates {
        let Some(text) = script.text(kind) else { continue };
        match fit(kind, text) {
            Ok(tracer) => {
                for refusal in refusals.iter().filter(|refusal: &&Refusal| refusal.is_here) {
                    anstream::eprintln!("dyntrace: using {kind}, for {} cannot be used: {}", refusal.kind, refusal.why);
                }
                return Ok((tracer, text));
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    Err(none(script, asked, &refusals))
}

fn fit(kind: Kind, text: &str) -> Result<Tracer, Refusal> {
    let refuse = |is_here, why| Err(Refusal { kind, is_here, why });
    let tracer = match tracer::search(kind) {
        Search::Found(tracer) => tracer,
        Search::Missing => return refuse(false, format!("not found in PATH; {}", tracer::get_one(kind))),
        Search::Unfit { path, why } => {
            return refuse(false, format!("{}: {why}; {}", escape::path(path), tracer::get_one(kind)));
        }
    };
    let here = format!("{} {}", escape::path(&tracer.path), tracer.version);
    if let Some(why) = system::forbids(kind) {
        return refuse(true, format!("{here}: {why}"));
    }
    match tracer::lacks(&tracer, Some(text)) {
        Some(lack) => refuse(true, format!("{here}: {}; {}", lack.what, lack.remedy)),
        None => Ok(tracer),
    }
}

fn none(script: &Script, asked: Option<Kind>, refusals: &[Refusal]) -> Failure {
    let name = script.name();
    if let (Some(kind), true) = (asked, refusals.is_empty()) {
        return Failure::new(exit::USAGE, anyhow!("{name} is not written for {kind}: leave --tracer out"));
    }
    let mut text = format!("no tracer here can run {name}");
    for refusal in refusals {
        write!(text, "\n  {}: {}", refusal.kind, refusal.why).expect("a String takes all that is written");
    }
    if refusals.is_empty() {
        text.push_str(": it is written for a tracer of another system");
    }
    Failure::new(exit::NO_TRACER, anyhow!(text))
}
