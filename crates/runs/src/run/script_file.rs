//! The script as the tracer gets it.

use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dyntrace_analysis::render::{Rendering, Settings};
use dyntrace_folders::NewFile;
use dyntrace_programs::elf::Note;
use dyntrace_terminal::exit::Failure;
use dyntrace_terminal::temporary::Temporary;

use crate::script::Script;
use crate::tracer::{Tracer, TracerKind};

use super::dtrace;
use super::marks::{self, Mark, Marked};
use super::one_process;
use super::output::{Reading, Sink};
use super::parameter::Parameter;
use super::raw::{self, Raw};
#[cfg(target_os = "linux")]
use super::returns;
use super::rows::{self, Rows};
use super::tag::Tag;
use super::tracing::Followed;

/// On SIGINT bpftrace discards buffered events; `exit()` comes after them.
const END_WHEN_ASKED: &str = "self:signal:SIGUSR1\n{\n\texit();\n}\n";

/// The text of the script for the tracer.
pub struct Text<'a> {
    script: &'a Script,
    kind: TracerKind,
    text: String,
    mark: Mark,
    /// The reader of the events that the script prints, if it prints no lines.
    raw: Option<Raw>,
    /// Whether the script's probes also fire in other processes of a file.
    mixes_processes: bool,
    /// Whether it prints operations that it does not count.
    has_rows: bool,
    parameter: Option<Parameter>,
    /// Variables that the tracer's environment needs.
    environment: &'static [(&'static str, &'static str)],
    /// Whether bpftrace, when it gets SIGUSR1, ends after the events that it has buffered.
    pub ends_when_asked: bool,
}

/// The file that the tracer reads the script from.
pub enum ScriptFile {
    /// The user's.
    Own(PathBuf),
    /// A changed text, in a folder that is removed at the end.
    Temporary(PathBuf, #[expect(dead_code, reason = "kept until the end")] Temporary),
}

impl Text<'_> {
    /// For `script`, with its `text` for this tracer.
    pub fn new<'a>(script: &'a Script, tracer: &Tracer, text: &str, settings: &Settings) -> Text<'a> {
        let mark = Mark::new();
        let kind = tracer.kind;
        // A temporary copy would not find the files that the script includes.
        let ends_when_asked = tracer.ends_when_asked() && !text.contains("#include") && !text.contains("import ");
        let rows = match script {
            Script::Shipped(shipped) => rows::parameter(shipped.name, kind),
            Script::File { .. } => None,
        };
        let (has_rows, parameter) = (rows.is_some(), rows.or_else(|| Parameter::of(settings)));
        let text = match script {
            Script::Shipped(_) => mark.put_into(text, kind),
            Script::File { .. } if ends_when_asked => format!("{text}\n{END_WHEN_ASKED}"),
            Script::File { .. } => text.to_owned(),
        };
        let mixes_processes = tracer.mixes_processes();
        let environment = &[];
        Text { script, kind, text, mark, raw: None, mixes_processes, has_rows, parameter, environment, ends_when_asked }
    }

    /// For the shipped `script` under a bpftrace that is too old for it, on a program with these `sites`, with the events of `tag`.
    pub fn raw<'a>(
        script: &'a Script,
        rendering: &'static Rendering,
        sites: &[Note],
        tag: Option<&Tag>,
        settings: Settings,
    ) -> Result<Text<'a>, Failure> {
        let mark = Mark::new();
        let raw = Raw::new(rendering, sites, mark.clone(), tag, settings)?;
        let (kind, text) = (TracerKind::Bpftrace, raw.script.clone());
        let environment = &raw::ENVIRONMENT;
        let (mixes_processes, has_rows, ends_when_asked) = (false, false, false);
        let (raw, parameter) = (Some(raw), None);
        Ok(Text { script, kind, text, mark, raw, mixes_processes, has_rows, parameter, environment, ends_when_asked })
    }

    /// Returns a function for the thread that reads the tracer's output: it makes the reader that turns output into the user's lines.
    pub fn reading(&self, followed: &Followed) -> anyhow::Result<impl FnOnce(&Sink) -> Reading + Send + use<>> {
        // bpftrace gets each command as a process.
        let pid = match followed {
            Followed::Process(pid) => *pid,
            Followed::Command(_) => 0,
        };
        let events = self.raw.as_ref().map(|raw| raw.reader(pid)).transpose()?;
        let marked = Marked::new(self.mark.clone(), followed.number_for(self.kind).is_some());
        let rows = self.has_rows.then(Rows::default);
        Ok(move |sink: &Sink| match events {
            Some(events) => Reading::Raw(Box::new(events(sink))),
            None => Reading::script(marked, rows),
        })
    }

    /// The same with variables for the tracer's environment.
    pub fn with_environment(self, environment: &'static [(&'static str, &'static str)]) -> Self {
        Text { environment, ..self }
    }

    /// Variables that the tracer's environment needs.
    pub fn environment(&self) -> &'static [(&'static str, &'static str)] {
        self.environment
    }

    /// The tracer's arguments before the script's file, and behind all others.
    pub fn arguments(&self) -> [Vec<OsString>; 2] {
        self.parameter.map(|parameter| parameter.arguments(self.kind)).unwrap_or_default()
    }

    /// Whether the script prints, at its end, how many lines its probes had to print.
    pub fn is_counted(&self) -> bool {
        matches!(self.script, Script::Shipped(_)) && marks::is_counted(self.kind)
    }

    /// Fails if the script may kill the `followed` process.
    pub fn must_be_harmless(&self, followed: &Followed) -> Result<(), Failure> {
        #[cfg(target_os = "linux")]
        if let Followed::Process(pid) = followed {
            returns::check(&self.text, self.kind, *pid)?;
        }
        Ok(())
    }

    /// Writes the script for the `followed` process or command to a file.
    pub fn file(&self, followed: &Followed) -> anyhow::Result<ScriptFile> {
        match (followed.number_for(self.kind), followed, self.script) {
            (Some(pid), ..) => self.temporary(&dtrace::script_for(&self.text, pid, &self.mark)),
            (None, Followed::Process(pid), _) if self.mixes_processes => {
                self.temporary(&one_process::limited(&self.text, self.kind, *pid)?)
            }
            (None, _, Script::Shipped(_)) => self.temporary(&self.text),
            (None, _, Script::File { .. }) if self.ends_when_asked => self.temporary(&self.text),
            (None, _, Script::File { path, .. }) => Ok(ScriptFile::Own(path.clone())),
        }
    }

    /// Writes a file of the same name, as the tracer shows the name in errors of the script.
    fn temporary(&self, text: &str) -> anyhow::Result<ScriptFile> {
        let write = || {
            let temporary = Temporary::new()?;
            let name: OsString = match self.script {
                Script::Shipped(script) => format!("{}.{}", script.name, self.kind.extension()).into(),
                Script::File { path, .. } => path.file_name().unwrap_or_default().to_owned(),
            };
            temporary.folder().create_file(&name, NewFile::Plain)?.write_all(text.as_bytes())?;
            Ok::<_, anyhow::Error>(ScriptFile::Temporary(temporary.path().join(name), temporary))
        };
        write().context("cannot write the script to a temporary file")
    }
}

impl ScriptFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        match self {
            ScriptFile::Own(path) => path,
            ScriptFile::Temporary(path, _) => path,
        }
    }
}
