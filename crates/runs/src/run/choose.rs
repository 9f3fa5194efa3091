//! Which tracer runs the script.

use std::borrow::Cow;
use std::fmt::Write as _;

use anyhow::anyhow;
use clap::ValueEnum;
use clap::builder::PossibleValue;
use dyntrace::scripts;
use dyntrace_analysis::render::{self, Rendering};
use dyntrace_terminal::exit::{self, Failure};
use dyntrace_terminal::{escape, say};

use crate::script::Script;
use crate::system;
use crate::tracer::{self, Search, Tracer, TracerKind};

use super::tag::Tag;
use super::target::Asked;
use super::wish;

/// Why a tracer is not chosen.
struct Refusal {
    kind: TracerKind,
    /// Whether it is installed: then a message says why it is not used.
    is_here: bool,
    /// The tracer, if it can still print events.
    old: Option<Tracer>,
    why: String,
}

/// The program that makes the lines of a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A tracer, from a script in its language.
    Tracer(TracerKind),
    /// The recorder in the program, and this command.
    Recorder,
}

impl ValueEnum for By {
    fn value_variants<'a>() -> &'a [By] {
        const {
            &[
                By::Tracer(TracerKind::Dtrace),
                By::Tracer(TracerKind::Stap),
                By::Tracer(TracerKind::Bpftrace),
                By::Recorder,
            ]
        }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        match self {
            By::Tracer(kind) => kind.to_possible_value(),
            By::Recorder => Some(PossibleValue::new("recorder").help("None: the command records itself")),
        }
    }
}

/// The choice.
pub enum Choice<'a> {
    /// A tracer, and the script in its language, with the condition on user tags.
    Tracer(Tracer, Cow<'a, str>),
    /// A bpftrace that is too old for the shipped script, and the rendering that turns its events into the script's lines.
    Raw(Tracer, &'static Rendering),
    /// The recorder, and the rendering that turns its events into lines.
    Recorder(&'static Rendering),
}

/// Returns the tracer `asked` for, or the first installed one that is fit for `script` and can select by `tag`. If there is none, returns
/// the recorder; if that cannot be used, a bpftrace that can at least print events.
pub fn choose<'a>(
    script: &'a Script,
    target: &Asked,
    asked: Option<By>,
    tag: Option<&Tag>,
) -> Result<Choice<'a>, Failure> {
    let asked = match asked {
        None => None,
        Some(By::Tracer(kind)) => Some(kind),
        Some(By::Recorder) => return rendering(script, target, tag).map(Choice::Recorder),
    };
    let candidates = asked.as_ref().map_or(TracerKind::PREFERRED, std::slice::from_ref);
    let mut refusals = Vec::new();
    for &kind in candidates {
        let Some(text) = script.text(kind) else { continue };
        match fit(kind, text, tag) {
            Ok((tracer, text)) => {
                say(&kind.to_string(), &refusals);
                return Ok(Choice::Tracer(tracer, text));
            }
            Err(refusal) => refusals.push(refusal),
        }
    }
    if asked.is_none()
        && let Ok(rendering) = rendering(script, target, tag)
    {
        say("the recorder", &refusals);
        return Ok(Choice::Recorder(rendering));
    }
    let old = refusals.iter_mut().find_map(|refusal| refusal.old.take());
    match (old, script) {
        (Some(old), Script::Shipped(shipped)) => Ok(Choice::Raw(old, shipped_rendering(shipped))),
        _ => Err(none(script, target, asked, tag, &refusals)),
    }
}

fn shipped_rendering(script: &scripts::Script) -> &'static Rendering {
    render::find(script.name).expect("every shipped script has a rendering: a test holds that")
}

/// Says on standard error why other installed tracers are not used.
fn say(chosen: &str, refusals: &[Refusal]) {
    for refusal in refusals.iter().filter(|refusal| refusal.is_here) {
        say!("dyntrace: using {chosen}, for {} cannot be used: {}", refusal.kind, refusal.why);
    }
}

/// Returns the rendering that turns recorded events into the lines of `script`.
fn rendering(script: &Script, target: &Asked, tag: Option<&Tag>) -> Result<&'static Rendering, Failure> {
    if !wish::IS_SUPPORTED {
        return Err(Failure::new(exit::NO_TRACER, anyhow!("there is no recorder for this system")));
    }
    let why = match (script, target) {
        (Script::Shipped(script), Asked::Command(_)) => {
            return Ok(shipped_rendering(script));
        }
        (Script::File { .. }, _) => {
            let names: Vec<&str> = render::ALL.iter().map(|rendering| rendering.script).collect();
            format!("the recorder cannot run {}: it makes the lines of {} only", script.name(), names.join(", "))
        }
        (_, Asked::Process(pid)) => {
            format!(
                "the recorder prints the lines of a command: for a process, dyntrace record -p {pid}{} -o trace, and dyntrace view trace",
                option(tag)
            )
        }
    };
    Err(Failure::new(exit::USAGE, anyhow!(why)))
}

/// The option that selects by user tag, for a command in a message.
fn option(tag: Option<&Tag>) -> String {
    tag.map(Tag::option).unwrap_or_default()
}

fn fit<'t>(kind: TracerKind, text: &'t str, tag: Option<&Tag>) -> Result<(Tracer, Cow<'t, str>), Refusal> {
    let refuse = |is_here, why| Err(Refusal { kind, is_here, old: None, why });
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
        Some(lack) => {
            let why = format!("{here}: {}; {}", lack.what, lack.remedy);
            Err(Refusal { kind, is_here: true, old: tracer.prints_events().then_some(tracer), why })
        }
        None => match tag.map(|tag| tag.put_into(text, kind)).transpose() {
            Ok(with_tag) => Ok((tracer, with_tag.map_or(Cow::Borrowed(text), Cow::Owned))),
            Err(lack) => refuse(true, format!("{here}: {lack}")),
        },
    }
}

fn none(
    script: &Script,
    target: &Asked,
    asked: Option<TracerKind>,
    tag: Option<&Tag>,
    refusals: &[Refusal],
) -> Failure {
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
    if let (Script::Shipped(script), Asked::Process(pid)) = (script, target) {
        let view = format!("dyntrace view trace --script {}", script.name);
        write!(text, "\nwithout a tracer: dyntrace record -p {pid}{} -o trace, and then {view}", option(tag))
            .expect("a String takes all that is written");
    }
    Failure::new(exit::NO_TRACER, anyhow!(text))
}
