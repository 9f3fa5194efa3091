//! The processes of a trace.

use std::io::Read;
use std::path::{Path, PathBuf};

use dyntrace_folders::Reading;

use crate::class::{Classes, EventClass};
use crate::clock::Clock;
use crate::error::Error;
use crate::metadata::{self, Metadata};

/// The file that every folder of a process has.
pub(crate) const METADATA: &str = "metadata";

/// The limit of its size, above that of any program's probes.
const MAX_METADATA: u64 = 16 << 20;

/// A recorded process.
#[derive(Debug)]
#[non_exhaustive]
pub struct Process {
    /// The folder of its files.
    pub path: PathBuf,
    /// Its name.
    pub name: String,
    /// Its process id.
    pub pid: u64,
    /// The machine it ran on; empty if unknown.
    pub hostname: String,
    /// The size of its machine word in bits: 32 or 64.
    pub word_size: u32,
    /// The clock of its times.
    pub clock: Clock,
    pub(crate) metadata: Metadata,
    /// A problem with its metadata, which could be parsed nevertheless.
    pub(crate) damage: Option<&'static str>,
}

impl Process {
    /// Reads the metadata in `folder`, whose path is `path`.
    pub(crate) fn open(path: &Path, folder: &Reading) -> Result<Self, Error> {
        let file = path.join(METADATA);
        let mut bytes = Vec::new();
        folder
            .file(METADATA)
            .and_then(|opened| opened.take(MAX_METADATA + 1).read_to_end(&mut bytes))
            .map_err(Error::io("read the metadata", &file))?;
        let problem = |line, reason| Error::Metadata { path: file.clone(), line, reason };
        if bytes.len() as u64 > MAX_METADATA {
            return Err(problem(1, format!("the file has more than {MAX_METADATA} bytes")));
        }
        let text = str::from_utf8(&bytes).map_err(|error| {
            let line = memchr::memchr_iter(b'\n', &bytes[..error.valid_up_to()]).count() + 1;
            problem(line, "this is not UTF-8".to_owned())
        })?;
        Self::parse(path.to_owned(), text)
    }

    /// Reads the metadata `text` of the folder at `path`.
    pub(crate) fn parse(path: PathBuf, text: &str) -> Result<Self, Error> {
        let metadata = metadata::parse(text).map_err(|found| Error::Metadata {
            path: path.join(METADATA),
            line: found.line,
            reason: found.reason,
        })?;
        let damage = metadata.format.checksums.then(|| dyntrace_metadata::checksum_problem(text)).flatten();
        let folder = || path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Ok(Self {
            name: metadata.process_name.clone().unwrap_or_else(folder),
            pid: metadata.pid,
            hostname: metadata.hostname.clone().unwrap_or_default(),
            word_size: metadata.word_size,
            clock: metadata.clock.clone(),
            metadata,
            damage,
            path,
        })
    }

    /// Returns the uuid of its trace, which its metadata and each of its packets have.
    pub fn uuid(&self) -> [u8; 16] {
        self.metadata.format.uuid
    }

    /// Returns the event classes of a stream class.
    pub(crate) fn classes_of(&self, stream_id: u32) -> Option<&Classes> {
        self.metadata.streams.iter().find(|(id, _)| *id == stream_id).map(|(_, classes)| classes)
    }

    /// Returns all event classes of its program, also those without events.
    pub fn classes(&self) -> impl Iterator<Item = &EventClass> {
        self.metadata.streams.iter().flat_map(|(_, classes)| classes.iter())
    }
}
