//! The script as the tracer gets it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use tempfile::TempDir;

use crate::script::Script;
use crate::tracer::Kind;

use super::dtrace;
use super::marks::{Mark, Marked};
use super::tracing::Followed;

/// What the tracer will read.
pub struct Text<'a> {
    script: &'a Script,
    kind: Kind,
    text: String,
    mark: Mark,
}

/// The file that the tracer reads the script from.
pub enum ScriptFile {
    /// The user's.
    Own(PathBuf),
    /// One for a text that was changed, in a folder that is removed at the end.
    Temporary(PathBuf, #[expect(dead_code, reason = "kept until the end")] TempDir),
}

impl Text<'_> {
    /// That of `script`, whose text for `kind` this is.
    pub fn new<'a>(script: &'a Script, kind: Kind, text: &str) -> Text<'a> {
        let mark = Mark::new();
        let text = match script {
            Script::Shipped(_) => mark.put_into(text),
            Script::File { .. } => text.to_owned(),
        };
        Text { script, kind, text, mark }
    }

    /// What takes the marks out of the trace again.
    pub fn marked(&self, followed: &Followed) -> Marked {
        Marked::new(self.mark.clone(), followed.number_for(self.kind).is_some())
    }

    /// A file with what is to be run on what is `followed`.
    pub fn file(&self, followed: &Followed) -> anyhow::Result<ScriptFile> {
        match (followed.number_for(self.kind), self.script) {
            (Some(pid), _) => self.temporary(&dtrace::script_for(&self.text, pid, &self.mark)),
            (None, Script::Shipped(_)) => self.temporary(&self.text),
            (None, Script::File { path, .. }) => Ok(ScriptFile::Own(path.clone())),
        }
    }

    /// A file of the same name: the tracer shows it with an error in the script.
    fn temporary(&self, text: &str) -> anyhow::Result<ScriptFile> {
        let write = || {
            let folder = tempfile::Builder::new().prefix("dyntrace-").tempdir()?;
            let path = match self.script {
                Script::Shipped(script) => folder.path().join(format!("{}.{}", script.name, self.kind.extension())),
                Script::File { path, .. } => folder.path().join(path.file_name().unwrap_or_default()),
            };
            fs::write(&path, text)?;
            Ok::<_, io::Error>(ScriptFile::Temporary(path, folder))
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
