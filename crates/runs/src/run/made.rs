//! A script that a command of dyntrace's has made, under bpftrace on a process.

use std::ffi::OsString;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyntrace_analysis::render::Settings;
use dyntrace_folders::NewFile;
use dyntrace_programs::elf::Object;
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::temporary::Temporary;

use crate::script::Script;
use crate::tracer::{Tracer, TracerKind};

use super::choose::{self, By, Choice};
use super::output::Sink;
use super::script_file::Text;
use super::session::Session;
use super::target::{Asked, Target};

/// A script and the process to run it on.
pub struct Made<'a> {
    /// The command's name.
    pub name: &'a str,
    pub tracer: &'a Tracer,
    pub text: &'a str,
    pub pid: u32,
    /// Options of bpftrace.
    pub options: &'a [&'a str],
    /// Variables for its environment.
    pub environment: &'static [(&'static str, &'static str)],
}

/// Finds a bpftrace for the command `name`, on process `pid`.
pub fn bpftrace(name: &str, pid: u32) -> Result<Tracer, Failure> {
    let script = script(Path::new(name), "");
    match choose::choose(&script, &Asked::Process(pid), Some(By::Tracer(TracerKind::Bpftrace)), None)? {
        Choice::Tracer(tracer, _) if tracer.prints_events() => Ok(tracer),
        Choice::Tracer(tracer, _) | Choice::Raw(tracer, _) => Err(Failure::new(
            exit::NO_TRACER,
            anyhow!(
                "bpftrace {} is too old for {name}: 0.17.0 or newer is needed; {}",
                tracer.version,
                crate::tracer::get_one(TracerKind::Bpftrace)
            ),
        )),
        Choice::Recorder(_) => unreachable!("a tracer was asked for"),
    }
}

fn script(path: &Path, text: &str) -> Script {
    Script::File { path: path.to_owned(), kind: TracerKind::Bpftrace, text: text.to_owned() }
}

impl Made<'_> {
    /// Runs the script until it or the process ends, or the user interrupts. Its output goes to `output`.
    pub fn run(&self, output: File) -> Outcome {
        let temporary = Temporary::new()?;
        let file = format!("{}.{}", self.name, TracerKind::Bpftrace.extension());
        let write = || temporary.folder().create_file(&file, NewFile::Plain)?.write_all(self.text.as_bytes());
        write().context("cannot write the script to a temporary file")?;
        let script = script(&temporary.path().join(&file), self.text);
        let text = Text::new(&script, self.tracer, self.text, &Settings::default()).with_environment(self.environment);
        let options: Vec<OsString> = self.options.iter().map(Into::into).collect();
        // bpftrace needs the process only.
        let target = Target { asked: Asked::Process(self.pid), program: PathBuf::new(), object: Object::default() };
        let session = Session {
            tracer: self.tracer,
            options: &options,
            script: &text,
            target: &target,
            sites: &[],
            length: None,
        };
        session.run(Sink::File(output))
    }
}
