//! Lines of OTLP in JSON.

use std::io;
use std::mem;
use std::path::PathBuf;

use dyntrace_reader::Process;

use super::message::{Resource, Scope, Span, number, text};

/// A line ends after this many bytes of spans. The collector's file receiver reads lines of up to 1 MiB.
const LINE: usize = 256 << 10;

/// Takes lines of spans.
pub trait Receiver {
    fn take(&mut self, batch: Batch) -> io::Result<()>;
}

/// A line: the data of one export.
#[derive(Debug)]
pub struct Batch {
    pub line: Vec<u8>,
    pub spans: u64,
}

/// Writes spans, in lines that are of one process each.
pub struct Writer<R> {
    to: R,
    owners: Vec<Pending>,
    /// The process that was asked for last.
    last: usize,
}

/// A process of the spans, by its number in the writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner(pub usize);

/// The spans of a process that are not written yet, separated by commas.
struct Pending {
    /// The folder of the process.
    path: PathBuf,
    /// It in JSON.
    resource: Vec<u8>,
    spans: Vec<u8>,
    count: u64,
}

impl<R: Receiver> Writer<R> {
    pub fn new(to: R) -> Writer<R> {
        Writer { to, owners: Vec::new(), last: 0 }
    }

    /// The owner of the spans of a process, which is the same for each opening of its trace.
    pub fn owner(&mut self, process: &Process) -> Owner {
        let is_its = |owner: &Pending| owner.path.as_os_str() == process.path.as_os_str();
        if !self.owners.get(self.last).is_some_and(is_its) {
            self.last = self.owners.iter().position(is_its).unwrap_or_else(|| {
                let (path, resource) = (process.path.clone(), resource(process));
                self.owners.push(Pending { path, resource, spans: Vec::new(), count: 0 });
                self.owners.len() - 1
            });
        }
        Owner(self.last)
    }

    pub fn push(&mut self, Owner(owner): Owner, span: &Span) -> io::Result<()> {
        let pending = &mut self.owners[owner];
        if !pending.spans.is_empty() {
            pending.spans.push(b',');
        }
        serde_json::to_writer(&mut pending.spans, span)?;
        pending.count += 1;
        if pending.spans.len() < LINE {
            return Ok(());
        }
        self.to.take(pending.batch()?)
    }

    /// Writes all spans.
    pub fn flush(&mut self) -> io::Result<()> {
        for pending in self.owners.iter_mut().filter(|pending| pending.count > 0) {
            self.to.take(pending.batch()?)?;
        }
        Ok(())
    }

    pub fn into_receiver(self) -> R {
        self.to
    }
}

impl Pending {
    /// Takes the spans out of it.
    fn batch(&mut self) -> io::Result<Batch> {
        let scope = Scope { name: "dyntrace", version: env!("CARGO_PKG_VERSION") };
        let mut line = br#"{"resourceSpans":[{"resource":"#.to_vec();
        line.extend_from_slice(&self.resource);
        line.extend_from_slice(br#","scopeSpans":[{"scope":"#);
        serde_json::to_writer(&mut line, &scope)?;
        line.extend_from_slice(br#","spans":["#);
        line.append(&mut self.spans);
        line.extend_from_slice(b"]}]}]}\n");
        Ok(Batch { line, spans: mem::take(&mut self.count) })
    }
}

fn resource(process: &Process) -> Vec<u8> {
    let resource = Resource {
        attributes: vec![
            text("service.name", &*process.name),
            text("host.name", &*process.hostname),
            number("process.pid", process.pid),
        ],
    };
    serde_json::to_vec(&resource).expect("numbers and texts are JSON")
}
