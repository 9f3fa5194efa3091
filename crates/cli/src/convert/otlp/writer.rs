//! Lines of OTLP in JSON, for a file or for an endpoint.

use std::fs::File;
use std::io::{self, BufWriter, Write as _};
use std::mem;
use std::ptr;

use dyntrace_reader::Process;

use super::endpoint::Endpoint;
use super::message::{Resource, Scope, Span, number, text};

/// A line ends after this many bytes of spans. The collector's file receiver reads lines of up to 1 MiB.
const LINE: usize = 256 << 10;

/// Writes spans, in lines that are of one process each.
pub struct Writer<'t> {
    to: Receiver,
    /// For each process its spans that are not written yet, separated by commas.
    pending: Vec<(&'t Process, Vec<u8>)>,
}

pub enum Receiver {
    File(BufWriter<File>),
    Endpoint(Endpoint),
}

impl<'t> Writer<'t> {
    pub fn new(to: Receiver) -> Writer<'t> {
        Writer { to, pending: Vec::new() }
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
        if spans.len() < LINE {
            return Ok(());
        }
        let spans = mem::take(spans);
        self.to.take(line(process, &spans)?)
    }

    pub fn finish(&mut self) -> io::Result<()> {
        for (process, spans) in self.pending.drain(..).filter(|(_, spans)| !spans.is_empty()) {
            self.to.take(line(process, &spans)?)?;
        }
        match &mut self.to {
            Receiver::File(file) => file.flush(),
            Receiver::Endpoint(endpoint) => endpoint.finish(),
        }
    }
}

impl Receiver {
    fn take(&mut self, line: Vec<u8>) -> io::Result<()> {
        match self {
            Receiver::File(file) => file.write_all(&line),
            Receiver::Endpoint(endpoint) => endpoint.send(line),
        }
    }
}

fn line(process: &Process, spans: &[u8]) -> io::Result<Vec<u8>> {
    let resource = Resource {
        attributes: vec![
            text("service.name", &*process.name),
            text("host.name", &*process.hostname),
            number("process.pid", process.pid),
        ],
    };
    let scope = Scope { name: "dyntrace", version: env!("CARGO_PKG_VERSION") };
    let mut line = br#"{"resourceSpans":[{"resource":"#.to_vec();
    serde_json::to_writer(&mut line, &resource)?;
    line.extend_from_slice(br#","scopeSpans":[{"scope":"#);
    serde_json::to_writer(&mut line, &scope)?;
    line.extend_from_slice(br#","spans":["#);
    line.extend_from_slice(spans);
    line.extend_from_slice(b"]}]}]}\n");
    Ok(line)
}
