//! `--tag`: only events and operations whose user tag matches a glob.
//!
//! A tracer gets the condition in its script ([`clauses`], [`condition`]), so that its tables count matching operations only. Where
//! dyntrace itself makes the lines, from recorded events or from those of an old bpftrace, it leaves out the other events.

mod clauses;
mod condition;
mod process;

use anyhow::anyhow;
use dyntrace::recorder::Glob;
use dyntrace_analysis::view::OfTag;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure};

use crate::script::Script;
use crate::tracer::TracerKind;

use clauses::Between;
use condition::Condition;

/// A shipped script whose events have user tags.
struct Tagged {
    script: &'static str,
    /// How it finds the events of an operation that lie between entry and return and have no user tag.
    between: Between,
}

const TAGGED: [Tagged; 9] = [
    Tagged { script: "blocking_pool", between: Between::Process },
    Tagged { script: "efile_by_tag", between: Between::ByEntry },
    Tagged { script: "efile_drv", between: Between::Remembered },
    Tagged { script: "efile_errors", between: Between::ByEntry },
    Tagged { script: "efile_latency", between: Between::ByEntry },
    Tagged { script: "spawn-exit", between: Between::Process },
    Tagged { script: "task_latency", between: Between::Process },
    Tagged { script: "task_waits", between: Between::Process },
    Tagged { script: "user-probe", between: Between::ByEntry },
];

/// The wanted user tags of a script.
#[derive(Clone)]
pub struct Tag {
    glob: Glob,
    between: Between,
}

impl Tag {
    /// The tags that match `glob`. Fails for a script without user tags, and for one that dyntrace does not know.
    pub fn new(glob: &str, script: &Script) -> Result<Tag, Failure> {
        let takers = TAGGED.map(|tagged| tagged.script).join(", ");
        let why = match script {
            Script::Shipped(shipped) => match TAGGED.iter().find(|tagged| tagged.script == shipped.name) {
                Some(tagged) => return Ok(Tag { glob: glob.into(), between: tagged.between }),
                None => format!("cannot select by --tag: the events of {} have no user tag", shipped.name),
            },
            Script::File { .. } => format!(
                "cannot select by --tag in {}: write the condition into the script, or run a shipped one",
                script.name()
            ),
        };
        Err(Failure::new(exit::USAGE, anyhow!("{why}; scripts with user tags are {takers}")))
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
        Ok(clauses::put_into(text, kind, self.between, &condition))
    }

    /// Selects the same events where dyntrace makes the lines.
    pub fn selection(&self) -> OfTag {
        OfTag::new(self.glob.as_str())
    }
}
