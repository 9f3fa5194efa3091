//! `--tag`: only events and operations whose user tag matches a glob.
//!
//! A tracer gets the condition in its script ([`clauses`], [`condition`]), so that its tables count matching operations only. Where
//! dyntrace itself makes the lines, from recorded events or from those of an old bpftrace, it leaves out the other events.

mod clauses;
mod condition;

use anyhow::anyhow;
use dyntrace::recorder::Glob;
use dyntrace::scripts;
use dyntrace_analysis::view::OfTag;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};

use crate::script::{Named, Script};
use crate::tracer::TracerKind;

use clauses::Rule;
use condition::Condition;

/// The wanted user tags of a script.
#[derive(Clone)]
pub struct Tag {
    glob: Glob,
    rules: Vec<Rule>,
}

impl Tag {
    /// The tags that match `glob`. Fails for a script without user tags, and for one that dyntrace does not know.
    pub fn new(glob: &str, script: &Script) -> Result<Tag, Failure> {
        let rules = Rule::all(&script.name())?;
        let why = match script {
            Script::Shipped(shipped) if takers(&rules).any(|taker| taker == *shipped) => {
                return Ok(Tag { glob: glob.into(), rules });
            }
            Script::Shipped(shipped) => {
                format!("cannot select by --tag: the events of {} have no user tag", shipped.name)
            }
            Script::File { .. } => format!(
                "cannot select by --tag in {}: write the condition into the script, or run a shipped one",
                script.name()
            ),
        };
        let takers: Vec<&str> = takers(&rules).map(|script| script.name).collect();
        Err(Failure::new(exit::USAGE, anyhow!("{why}; scripts with user tags are {}", takers.join(", "))))
    }

    /// The pattern of the tags.
    pub fn glob(&self) -> &Glob {
        &self.glob
    }

    /// The option of other commands that selects the same, for messages.
    pub fn option(&self) -> String {
        format!(" --tag '{}'", escape::name(self.glob().as_str()))
    }

    /// The shipped script `text` with the condition in it, or why the tracer's language cannot say it.
    pub fn put_into(&self, text: &str, kind: TracerKind) -> Result<String, String> {
        let condition = Condition::new(&self.glob, kind).map_err(|why| {
            let glob = escape::name(self.glob.as_str());
            format!("cannot select by the user tag '{glob}': {why}; give a simpler one, such as 'req-*', or --tracer recorder")
        })?;
        Ok(clauses::put_into(text, kind, &self.rules, &condition))
    }

    /// Selects the same events where dyntrace makes the lines.
    pub fn selection(&self) -> OfTag {
        OfTag::new(self.glob.as_str())
    }
}

/// The shipped scripts that show an event with a user tag.
fn takers(rules: &[Rule]) -> impl Iterator<Item = &'static scripts::Script> {
    scripts::ALL.iter().filter(|script| {
        let probes = Named::read(script.bt, TracerKind::Bpftrace).names();
        rules.iter().any(|rule| rule.tag.is_some() && probes.contains(&rule.probe))
    })
}
