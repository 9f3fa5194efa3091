//! Ends, repairs and converts traces.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use dyntrace_folders::{Folder, NewFile};
use dyntrace_metadata::Format;

use crate::class::Classes;
use crate::error::Error;
use crate::losses::Damage;
use crate::map::MappedFile;
use crate::packet::{self, CONTENT_SIZE, PACKET_SIZE, PAGE, Packet};
use crate::process::{METADATA, Process};
use crate::process_folder::{ProcessFolder, process_folders, stream_files};
use crate::stream::StreamFile;
use crate::trace::{CHANNEL, open_files};
use crate::walk::{Gap, PacketChecker};

/// The result of [`recover`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// Number of packets copied.
    pub packets: u64,
    /// Number of events in them.
    pub events: u64,
    /// Damaged places, and files that cannot be read, all of which were left out. An unreadable `metadata` stands for its whole process.
    pub damaged: Vec<Damage>,
}

/// Ends the trace in the folder `dir` in place of its recorder.
///
/// Cuts prepared packets off the end of each file, and truncates files without events or counts, as an ending recorder does.
/// A trace that was ended already and damaged files stay unchanged. The program must have ended: a cut kills a program that still records.
///
/// # Errors
///
/// If there is no trace, or a file cannot be read or cut. Only root and this process's user may have write access to a folder
/// whose files are cut: the error names the folder's owner. The other processes of the trace are ended all the same; the first error is
/// returned.
pub fn finish(dir: impl AsRef<Path>) -> Result<(), Error> {
    let ended: Vec<_> = places(dir.as_ref())?.iter().map(finish_process).collect();
    ended.into_iter().collect()
}

fn finish_process(place: &ProcessFolder) -> Result<(), Error> {
    let writable = Folder::open(&place.path);
    // The same folder is read and cut.
    let folder = match &writable {
        Ok(folder) => folder.reading().map_err(Error::io("read the folder", &place.path))?,
        Err(_) => place.open()?,
    };
    let process = Process::open(&place.path, &folder)?;
    for name in stream_files(&place.path, &folder)? {
        let path = place.path.join(&name);
        let file = match &writable {
            Ok(folder) => folder.open_to_write(&name),
            Err(_) => folder.file(&name),
        };
        let file = file.map_err(Error::io("open", &path))?;
        let length = file.metadata().map_err(Error::io("look at", &path))?.len();
        let end = {
            let file = file.try_clone().map_err(Error::io("open", &path))?;
            let map = MappedFile::of(file, process.metadata.format).map_err(Error::io("open", &path))?;
            let (packets, gaps) = packets(&PacketChecker::new(&map, &path, &process));
            if !gaps.is_empty() {
                continue;
            }
            let header = process.metadata.format.header() as u64;
            let says_something = |packet: &Packet| packet.discarded > 0 || packet.content_end > packet.offset + header;
            packets.last().filter(|_| packets.iter().any(says_something)).map_or(0, |packet| packet.end)
        };
        if end < length {
            if let Err(error) = writable {
                return Err(Error::io("end the trace in", &place.path)(error));
            }
            file.set_len(end).map_err(Error::io("cut the prepared packets off", &path))?;
        }
    }
    Ok(())
}

/// Makes a plain trace in the new folder `out` from the trace in `dir`, which may be damaged and is only read.
///
/// Rings of the overwrite mode become event files, with their packets in order. Damaged packets are left out, and so are files and
/// processes that cannot be read: [`Recovered::damaged`] has them.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let recovered = dyntrace_reader::recover("tests/golden", folder.path().join("plain"))?;
/// assert_eq!((recovered.events, recovered.damaged.len()), (15, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// If there is no trace, no process's metadata can be read, or `out` exists or cannot be written.
pub fn recover(dir: impl AsRef<Path>, out: impl AsRef<Path>) -> Result<Recovered, Error> {
    make_plain(dir.as_ref(), out.as_ref(), None)
}

/// Does the same as [`recover`], but writes the metadata of the new trace in `format`.
///
/// ```
/// use dyntrace_reader::{Format, Trace};
///
/// let folder = tempfile::tempdir()?;
/// let new = folder.path().join("ctf2");
/// assert_eq!(dyntrace_reader::convert("tests/golden", &new, Format::Ctf2)?.events, 15);
/// assert_eq!(Trace::open(&new)?.events().count(), Trace::open("tests/golden")?.events().count());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// Those of [`recover`].
pub fn convert(dir: impl AsRef<Path>, out: impl AsRef<Path>, format: Format) -> Result<Recovered, Error> {
    make_plain(dir.as_ref(), out.as_ref(), Some(format))
}

/// Makes a plain trace, with a copy of the metadata or with new metadata in `format`.
fn make_plain(dir: &Path, out: &Path, format: Option<Format>) -> Result<Recovered, Error> {
    let places = places(dir)?;
    let mut recovered = Recovered::default();
    let new = Folder::create(out).map_err(Error::io("create the folder", out))?;
    let (mut is_any_read, mut first_error) = (false, None);
    for place in places.into_iter().map(Arc::new) {
        match Source::open(&place, format, &mut recovered) {
            Ok(source) => {
                is_any_read = true;
                let below = place.path.strip_prefix(dir).unwrap_or(Path::new(""));
                let path = out.join(below);
                let folder = new.make_below(below).map_err(Error::io("create the folder", &path))?;
                source.write_to(&Target { path, folder }, &mut recovered)?;
            }
            Err(error) => {
                let (file, reason) = (place.path.join(METADATA), error.to_string());
                recovered.damaged.push(Damage { file, offset: 0, bytes: 0, reason });
                first_error.get_or_insert(error);
            }
        }
    }
    match first_error {
        Some(error) if !is_any_read => {
            // It has nothing in it.
            let _ = dyntrace_folders::remove_empty(out);
            Err(error)
        }
        _ => Ok(recovered),
    }
}

/// A process of the old trace.
struct Source {
    process: Process,
    /// The metadata of the new trace.
    metadata: Vec<u8>,
    files: Vec<StreamFile>,
}

impl Source {
    /// Reads all that the copy of the process cannot do without. Files that cannot be opened are left out.
    fn open(place: &Arc<ProcessFolder>, format: Option<Format>, recovered: &mut Recovered) -> Result<Self, Error> {
        let (path, folder) = (&*place.path, place.open()?);
        let process = Process::open(path, &folder)?;
        let metadata = match format {
            Some(format) => process.metadata.text(format).into_bytes(),
            None => {
                let mut text = Vec::new();
                let read = folder.file(METADATA).and_then(|mut from| from.read_to_end(&mut text));
                read.map_err(Error::io("read the metadata", &path.join(METADATA)))?;
                text
            }
        };
        let files = open_files(place, &folder, (0, &process), &|_file| 1, &mut recovered.damaged)?;
        Ok(Source { process, metadata, files })
    }

    /// Copies the process. Parts that cannot be read are left out; an error is one of the new trace.
    fn write_to(&self, target: &Target, recovered: &mut Recovered) -> Result<(), Error> {
        let mut is_ended = false;
        for file in &self.files {
            let (packets, gaps) = packets(&file.checker(&self.process));
            recovered.damage(file, gaps);
            if file.path.file_name().is_some_and(|name| name == CHANNEL) {
                is_ended = packets.last().is_some_and(|packet| packet.checksum.is_last());
            }
            let mut output = Output::create(target, file, &self.process)?;
            for (number, packet) in (1..).zip(&packets) {
                // Recorders mark no end of circular files.
                let is_end_of_circle = file.is_circular && is_ended && number == packets.len();
                output.packet(packet, packet.checksum.is_last() || is_end_of_circle, recovered)?;
            }
            output.close()?;
        }
        // Last: without it, readers find no trace in a folder that was given up.
        let written =
            target.folder.create_file(METADATA, NewFile::Plain).and_then(|mut file| file.write_all(&self.metadata));
        written.map_err(Error::io("write the metadata", &target.path.join(METADATA)))
    }
}

fn places(dir: &Path) -> Result<Vec<ProcessFolder>, Error> {
    let places = process_folders(dir)?;
    if places.is_empty() { Err(Error::NoTrace { path: dir.to_owned() }) } else { Ok(places) }
}

/// A folder of the new trace.
struct Target {
    path: PathBuf,
    folder: Folder,
}

/// Returns the entered packets of a file, and the damage between them.
fn packets(checker: &PacketChecker<'_>) -> (Vec<Packet>, Vec<Gap>) {
    let (mut packets, mut gaps) = (Vec::new(), Vec::<Gap>::new());
    loop {
        let last = packets.last();
        let next = checker.next(last.map_or(0, |packet: &Packet| packet.end), last);
        gaps.extend(next.gap);
        match next.packet {
            Some(packet) => packets.push(packet),
            None => return (packets, gaps),
        }
    }
}

impl Recovered {
    fn damage(&mut self, file: &StreamFile, gaps: impl IntoIterator<Item = Gap>) {
        self.damaged.extend(gaps.into_iter().map(|Gap { offset, bytes, reason }| Damage {
            file: file.path.clone(),
            offset: file.map.origin(offset),
            bytes,
            reason,
        }));
    }
}

/// A file of the new trace.
struct Output<'p> {
    from: &'p StreamFile,
    path: PathBuf,
    process: &'p Process,
    file: BufWriter<File>,
}

impl<'p> Output<'p> {
    /// Creates the new file for the content of `from`.
    fn create(target: &Target, from: &'p StreamFile, process: &'p Process) -> Result<Self, Error> {
        let name = from.path.file_name().unwrap_or_default();
        let mut path = target.path.join(name);
        let file = target.folder.create_file(name, NewFile::Plain).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                let name = format!("circle-{}", name.to_string_lossy());
                path = target.path.join(&name);
                target.folder.create_file(name, NewFile::Plain)
            }
            _ => Err(error),
        });
        let file = BufWriter::new(file.map_err(Error::io("create", &path))?);
        Ok(Self { from, path, process, file })
    }

    /// Writes the packet with its events up to the first incomplete one.
    fn packet(&mut self, packet: &Packet, is_last: bool, recovered: &mut Recovered) -> Result<(), Error> {
        let (map, format) = (&self.from.map, self.process.metadata.format);
        let start = packet.offset as usize;
        let end = packet.content_end.min(map.written()) as usize;
        let Some(classes) = self.process.classes_of(packet.stream_id) else { return Ok(()) };
        let Some((header, content)) = map.bytes()[start..end].split_at_checked(format.header()) else { return Ok(()) };
        let (length, events) = whole_events(classes, format, content);
        let length = header.len() + length;
        let size = (length as u64).next_multiple_of(PAGE);
        let mut bytes = [header, content].concat();
        bytes.truncate(length);
        for (at, size) in [(CONTENT_SIZE, length as u64), (PACKET_SIZE, size)] {
            let bits = format.byte_order.u64((size * 8).to_ne_bytes());
            bytes[at..at + 8].copy_from_slice(&bits.to_ne_bytes());
        }
        let whole = start + length == packet.content_end as usize;
        if format.checksums {
            format.set_checksum(&mut bytes, is_last && whole);
        }
        bytes.resize(size as usize, 0);
        self.file.write_all(&bytes).map_err(Error::io("write", &self.path))?;
        recovered.packets += 1;
        recovered.events += events;
        if !whole {
            let offset = packet.offset + length as u64;
            let reason = "an event is incomplete or has no class in the metadata".to_owned();
            recovered.damage(self.from, [Gap { offset, bytes: packet.content_end - offset, reason }]);
        }
        Ok(())
    }

    fn close(mut self) -> Result<(), Error> {
        self.file.flush().map_err(Error::io("write", &self.path))
    }
}

/// Returns the length of the complete events of the content, and their number.
fn whole_events(classes: &Classes, format: packet::Format, content: &[u8]) -> (usize, u64) {
    let (mut rest, mut events) = (content, 0);
    while let Some((header, id, _)) = format.event_header(rest, 0)
        && let Some((_, layout)) = classes.get(id)
        && let Some(length) = layout.measure(&rest[header..])
    {
        rest = &rest[header + length..];
        events += 1;
    }
    (content.len() - rest.len(), events)
}
