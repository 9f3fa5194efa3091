//! `dyntrace run`: a script, by the tracer that is here, on a command or a process.

mod choose;
mod gate;
mod leftovers;
mod marks;
mod output;
mod recorded;
mod session;
mod target;
mod tracing;
mod watch;
mod wish;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use tempfile::NamedTempFile;

use crate::escape;
use crate::exit::{self, Failure, Outcome};
use crate::render::Rendering;
use crate::script::{self, Named, Script};
use crate::signals::Notice;
use crate::tracer::Kind;

use choose::Choice;
use marks::Mark;
use output::{Sink, Trace};
use target::Target;

pub use choose::By;
pub use target::Asked;

/// What happens while a command runs.
enum Event {
    /// This process got a signal, or the command or the tracer has ended, or stopped, or goes on.
    Notice(Notice),
    /// One of the two outputs of the tracer has ended.
    OutputEnded,
    /// The trace cannot be written any more.
    CannotWrite(io::Error),
}

/// What the user wants.
pub struct Request {
    /// The name or the path of the script.
    pub script: String,
    /// What makes the lines, if not the first tracer that is fit.
    pub tracer: Option<By>,
    /// Where the trace goes, if not to standard output.
    pub output: Option<PathBuf>,
    /// What is traced.
    pub asked: Asked,
}

/// Runs a script and, if asked to, the command that it traces. Everything that can be known before anything is started is checked first.
pub fn run(request: &Request) -> Outcome {
    let script = Script::find(&request.script).map_err(|error| Failure::new(exit::USAGE, error))?;
    let target = Target::find(&request.asked)?;
    let (tracer, text) = match choose::choose(&script, &request.asked, request.tracer)? {
        Choice::Tracer(tracer, text) => (tracer, text),
        Choice::Recorder(rendering) => return record(rendering, request, &target),
    };
    let named = Named::read(text, tracer.kind);
    if tracer.kind == Kind::Bpftrace {
        refuse_fixed_path(&script, text)?;
    }
    let sites = target.sites(&named)?;
    let sink = Sink::open(request.output.as_deref())?;
    let mark = matches!(script, Script::Shipped(_)).then(Mark::new);
    let text = mark.as_ref().map_or_else(|| text.to_owned(), |mark| mark.put_into(text));
    let file = ScriptFile::new(&script, tracer.kind, &text)?;
    session::Session { tracer: &tracer, script: file.path(), target: &target, asked: &request.asked, sites: &sites }
        .run(Trace::new(sink, mark))
}

/// Runs the command without a tracer.
fn record(rendering: &'static Rendering, request: &Request, target: &Target) -> Outcome {
    let Asked::Command(words) = &request.asked else {
        unreachable!("the recorder is chosen for commands only");
    };
    target.sites(&Named::exactly(rendering.probes().into_iter()))?;
    recorded::run(rendering, target, words, Sink::open(request.output.as_deref())?)
}

/// A probe of a process, attached by the path of its program as well, makes bpftrace report each event twice.
fn refuse_fixed_path(script: &Script, text: &str) -> Result<(), Failure> {
    match script::fixed_attach_point(text) {
        None => Ok(()),
        Some(point) => Err(Failure::new(
            exit::USAGE,
            anyhow!(
                "{}: write usdt:$1:provider:probe instead of {}: dyntrace run gives the program as $1",
                script.name(),
                escape::name(point)
            ),
        )),
    }
}

/// The file that the tracer reads the script from.
enum ScriptFile<'a> {
    /// The user's.
    Own(&'a Path),
    /// One for the text of a shipped script; removed at the end.
    Temporary(NamedTempFile),
}

impl ScriptFile<'_> {
    fn new<'a>(script: &'a Script, kind: Kind, text: &str) -> anyhow::Result<ScriptFile<'a>> {
        match script {
            Script::File { path, .. } => Ok(ScriptFile::Own(path)),
            Script::Shipped(script) => {
                let write = || {
                    let mut file = tempfile::Builder::new()
                        .prefix(&format!("dyntrace-{}-", script.name))
                        .suffix(&format!(".{}", kind.extension()))
                        .tempfile()?;
                    file.write_all(text.as_bytes())?;
                    Ok::<_, io::Error>(file)
                };
                Ok(ScriptFile::Temporary(write().context("cannot write the script to a temporary file")?))
            }
        }
    }

    fn path(&self) -> &Path {
        match self {
            ScriptFile::Own(path) => path,
            ScriptFile::Temporary(file) => file.path(),
        }
    }
}
