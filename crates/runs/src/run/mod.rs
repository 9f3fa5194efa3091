//! `dyntrace run`: runs a script by an installed tracer, on a command or a process.

mod arguments;
mod at_work;
mod choose;
mod dtrace;
mod event;
mod gate;
mod leftovers;
mod lost;
#[cfg(target_os = "linux")]
mod made;
mod marks;
mod one_process;
mod output;
mod parameter;
mod raw;
mod recorded;
#[cfg(target_os = "linux")]
pub mod returns;
mod rows;
mod script_file;
mod session;
mod tag;
mod target;
mod tracing;
mod watch;
mod wish;

use anyhow::anyhow;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::{escape, say};

use crate::script::{self, Named, Script};
use crate::tracer::TracerKind;

use choose::Choice;
use output::Sink;
use script_file::Text;
use tag::Tag;
use target::{Asked, Target};

pub use arguments::Arguments;
#[cfg(target_os = "linux")]
pub use made::{Made, bpftrace};

/// Runs a script and, if asked to, the command that it traces. All checks that need no running program come first.
pub fn run(arguments: &Arguments) -> Outcome {
    let script = Script::find(&arguments.script).map_err(|error| Failure::new(exit::USAGE, error))?;
    let tag = arguments.tag.as_ref().map(|glob| Tag::new(glob, &script)).transpose()?;
    let tag = tag.as_ref();
    let settings = script.settings(arguments.slow)?;
    let target = Target::find(Asked::of(arguments.pid, &arguments.command))?;
    let (tracer, text, sites) = match choose::choose(&script, &target.asked, arguments.tracer, tag)? {
        Choice::Tracer(tracer, text) => {
            let named = Named::read(&text, tracer.kind);
            if tracer.kind == TracerKind::Bpftrace {
                refuse_fixed_path(&script, &text)?;
            }
            let sites = target.sites(&named)?;
            let text = Text::new(&script, &tracer, &text, &settings);
            (tracer, text, sites)
        }
        Choice::Raw(tracer, rendering) => {
            let sites = target.sites(&Named::exactly(rendering.probes().into_iter()))?;
            say!(
                "dyntrace: {} {} is too old for the script: it prints the events, and dyntrace makes the lines",
                tracer.kind,
                tracer.version
            );
            (tracer, Text::raw(&script, rendering, &sites, tag, settings)?, sites)
        }
        Choice::Recorder(rendering) if arguments.tracer_option.is_empty() => {
            return recorded::run(rendering, &target, tag, &settings, arguments.output.as_deref());
        }
        Choice::Recorder(_) => {
            let why = "the recorder has no options of a tracer: leave --tracer-option out, or name another tracer";
            return Err(Failure::new(exit::USAGE, anyhow!(why)));
        }
    };
    let sink = Sink::open(arguments.output.as_deref())?;
    let options = &arguments.tracer_option;
    let length = arguments.length;
    session::Session { tracer: &tracer, options, script: &text, target: &target, sites: &sites, length }.run(sink)
}

/// Refuses a script with the path of the program in its probes: with a process, bpftrace would report each event twice.
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
