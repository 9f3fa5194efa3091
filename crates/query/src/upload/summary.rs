//! The work of an upload, in files and bytes.

use std::io::{self, Write as _};

use anyhow::Context as _;

/// A number of files, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Files {
    pub files: u64,
    pub bytes: u64,
}

impl Files {
    pub fn add(&mut self, bytes: u64) {
        self.files += 1;
        self.bytes += bytes;
    }
}

/// The files that were uploaded, and those that the store had before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub uploaded: Files,
    pub present: Files,
}

impl Summary {
    /// Prints the summary on standard output, on one line.
    pub fn print(&self, json: bool) -> anyhow::Result<()> {
        let line = if json { self.json() } else { self.text() };
        writeln!(io::stdout(), "{line}").context("cannot write to standard output")
    }

    fn text(&self) -> String {
        let Summary { uploaded, present } = self;
        format!(
            "uploaded: {} files, {} bytes; already there: {} files, {} bytes",
            uploaded.files, uploaded.bytes, present.files, present.bytes
        )
    }

    fn json(&self) -> String {
        let Summary { uploaded, present } = self;
        format!(
            r#"{{"version":1,"uploaded_files":{},"uploaded_bytes":{},"present_files":{},"present_bytes":{}}}"#,
            uploaded.files, uploaded.bytes, present.files, present.bytes
        )
    }
}
