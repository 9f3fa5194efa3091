//! Lines of OTLP in JSON.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::ptr;

use dyntrace_reader::Process;

use super::message::{Resource, Scope, Span, number, text};

/// A line ends after this many bytes of spans. The collector's file receiver reads lines of up to 1 MiB.
const LINE: usize = 256 << 10;

/// Writes spans, in lines that are of one process each.
pub struct Writer<'t> {
    file: BufWriter<File>,
    /// For each process its spans that are not written yet, separated by commas.
    pending: Vec<(&'t Process, Vec<u8>)>,
}

impl<'t> Writer<'t> {
    pub fn new(file: File) -> Writer<'t> {
        Writer { file: BufWriter::new(file), pending: Vec::new() }
    }

    pub fn push(&mut self, process: &'t Process, span: &Span) -> io::Result<()> {
        let at = self.pending.iter().position(|(known, _)| ptr::eq(*known, process)).unwrap_or_else(|| {
            self.pending.push((process, Vec::new()));
            self.pending.len() - 1
        });
        let spans = &mut self.pending[at].1;
        if !spans.is_empty() {
            spans.push(b',');
        }
        serde_json::to_writer(&mut *spans, span)?;
        if spans.len() >= LINE { write(&mut self.file, process, spans) } else { Ok(()) }
    }

    pub fn finish(&mut self) -> io::Result<()> {
        for (process, spans) in &mut self.pending {
            write(&mut self.file, process, spans)?;
        }
        self.file.flush()
    }
}

fn write(file: &mut BufWriter<File>, process: &Process, spans: &mut Vec<u8>) -> io::Result<()> {
    if spans.is_empty() {
        return Ok(());
    }
    let resource = Resource {
        attributes: vec![
            text("service.name", &*process.name),
            text("host.name", &*process.hostname),
            number("process.pid", process.pid),
        ],
    };
    let scope = Scope { name: "dyntrace", version: env!("CARGO_PKG_VERSION") };
    file.write_all(br#"{"resourceSpans":[{"resource":"#)?;
    serde_json::to_writer(&mut *file, &resource)?;
    file.write_all(br#","scopeSpans":[{"scope":"#)?;
    serde_json::to_writer(&mut *file, &scope)?;
    file.write_all(br#","spans":["#)?;
    file.write_all(spans)?;
    spans.clear();
    file.write_all(b"]}]}]}\n")
}
