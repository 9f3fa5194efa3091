//! Plain traces out of what a crash or damage left.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::byte_order::ByteOrder;
use crate::class::Classes;
use crate::error::Error;
use crate::losses::Damage;
use crate::map::Map;
use crate::packet::{CONTENT_SIZE, HEADER, PACKET_SIZE, PAGE, Packet};
use crate::process::{METADATA, Process};
use crate::stream::EVENT_HEADER;
use crate::trace::{process_folders, stream_files};

/// Where a process's recorder in overwrite mode has its rings: files that are written in a circle.
const CIRCLES: &str = ".rings";

/// What [`recover`] did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recovered {
    /// How many packets were taken over.
    pub packets: u64,
    /// How many events are in them.
    pub events: u64,
    /// Where something was damaged. A file of events was cut there; in a circle only that packet was.
    pub damaged: Vec<Damage>,
}

/// Ends the trace in the folder `dir` in place of its recorder: cuts what was only prepared off the end of each file,
/// as a recorder does that ends by itself. A trace that was ended already stays as it is, a damaged file too.
///
/// Only for programs that have ended: one that still records would be killed by it.
///
/// # Errors
///
/// When there is no trace, and when a file cannot be read or cut.
pub fn finish(dir: impl AsRef<Path>) -> Result<(), Error> {
    for folder in folders(dir.as_ref())? {
        let process = Process::open(&folder)?;
        for path in stream_files(&folder)? {
            let end = {
                let map = open(&path, &process)?;
                match packets(&map).last().transpose() {
                    Ok(last) => last.map_or(0, |packet| packet.end),
                    Err(_) => continue,
                }
            };
            let file = OpenOptions::new().write(true).open(&path).map_err(Error::io("open", &path))?;
            if end < file.metadata().map_err(Error::io("look at", &path))?.len() {
                file.set_len(end).map_err(Error::io("cut what was only prepared off", &path))?;
            }
        }
    }
    Ok(())
}

/// Makes a plain trace in the new folder `out` of the one in `dir`, whatever is wrong with that: rings of the overwrite
/// mode become files of events, their packets in order; a damaged file is cut where the damage begins. `dir` is only read.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let recovered = dyntrace_trace::recover("tests/golden", folder.path().join("plain"))?;
/// assert_eq!((recovered.events, recovered.damaged.len()), (15, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// When there is no trace, when the metadata of a process cannot be read, and when `out` exists or cannot be written.
pub fn recover(dir: impl AsRef<Path>, out: impl AsRef<Path>) -> Result<Recovered, Error> {
    let (dir, out) = (dir.as_ref(), out.as_ref());
    let folders = folders(dir)?;
    let mut recovered = Recovered::default();
    create_folder(out, false)?;
    for folder in folders {
        let target = out.join(folder.strip_prefix(dir).unwrap_or(Path::new("")));
        create_folder(&target, true)?;
        let process = Process::open(&folder)?;
        let (from, to) = (folder.join(METADATA), target.join(METADATA));
        fs::copy(&from, &to).map_err(Error::io("copy the metadata to", &to))?;
        for path in stream_files(&folder)? {
            let map = open(&path, &process)?;
            let mut file = Output::create(&target, &path, &process)?;
            for packet in packets(&map) {
                match packet {
                    Ok(packet) if file.packet(&map, &packet, &mut recovered)? => {}
                    Ok(_) => break,
                    Err((offset, reason)) => recovered.damaged.push(Damage { file: path.clone(), offset, reason }),
                }
            }
            file.close()?;
        }
        let circles = folder.join(CIRCLES);
        for path in if circles.is_dir() { stream_files(&circles)? } else { Vec::new() } {
            let map = open(&path, &process)?;
            let mut file = Output::create(&target, &path, &process)?;
            for packet in circle(&map, &path, &mut recovered.damaged) {
                file.packet(&map, &packet, &mut recovered)?;
            }
            file.close()?;
        }
    }
    Ok(recovered)
}

fn folders(dir: &Path) -> Result<Vec<PathBuf>, Error> {
    let folders = process_folders(dir)?;
    if folders.is_empty() { Err(Error::NoTrace { path: dir.to_owned() }) } else { Ok(folders) }
}

fn open(path: &Path, process: &Process) -> Result<Map, Error> {
    Map::open(path, process.metadata.format).map_err(Error::io("open", path))
}

fn create_folder(path: &Path, may_exist: bool) -> Result<(), Error> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(may_exist);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(Error::io("create the folder", path))
}

/// The packets of a file that were entered, up to the first damaged place.
fn packets(map: &Map) -> impl Iterator<Item = Result<Packet, (u64, String)>> {
    let (mut offset, limit) = (0, map.written());
    std::iter::from_fn(move || {
        while offset < limit {
            match map.packet(offset) {
                Ok(packet) => {
                    offset = packet.end;
                    if !packet.is_prepared() {
                        return Some(Ok(packet));
                    }
                }
                Err(reason) => return Some(Err((std::mem::replace(&mut offset, limit), reason))),
            }
        }
        None
    })
}

/// The packets of a file written in a circle, in the order they were entered. Behind a damaged one it goes on at the
/// next page where a packet begins.
fn circle(map: &Map, path: &Path, damaged: &mut Vec<Damage>) -> Vec<Packet> {
    let mut found: Vec<Packet> = Vec::new();
    let (mut offset, mut whole) = (0, true);
    while offset < map.written() {
        let page_behind = offset - offset % PAGE + PAGE;
        match map.packet(offset) {
            Ok(packet) => {
                whole = true;
                offset = packet.end;
                if !packet.is_prepared() {
                    found.push(packet);
                }
            }
            Err(reason) => {
                if std::mem::take(&mut whole) {
                    damaged.push(Damage { file: path.to_owned(), offset, reason });
                }
                offset = page_behind;
            }
        }
    }
    found.sort_by_key(|packet| packet.sequence);
    found
}

/// A file of the new trace.
struct Output<'p> {
    from: PathBuf,
    path: PathBuf,
    process: &'p Process,
    file: BufWriter<File>,
}

impl<'p> Output<'p> {
    /// The new file for what is in `from`.
    fn create(folder: &Path, from: &Path, process: &'p Process) -> Result<Self, Error> {
        let name = from.file_name().unwrap_or_default();
        let create = |path: &Path| OpenOptions::new().write(true).create_new(true).open(path);
        let mut path = folder.join(name);
        let file = create(&path).or_else(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                path = folder.join(format!("circle-{}", name.to_string_lossy()));
                create(&path)
            }
            _ => Err(error),
        });
        let file = BufWriter::new(file.map_err(Error::io("create", &path))?);
        Ok(Self { from: from.to_owned(), path, process, file })
    }

    /// Writes the packet with its events up to the first that is not whole. False if there was such a one.
    fn packet(&mut self, map: &Map, packet: &Packet, recovered: &mut Recovered) -> Result<bool, Error> {
        let start = packet.offset as usize;
        let end = packet.content_end.min(map.written()) as usize;
        let Some((header, content)) = map.bytes()[start..end].split_first_chunk::<HEADER>() else {
            return Ok(false);
        };
        let Some(classes) = self.process.classes_of(packet.stream_id) else {
            let reason = format!("the metadata knows no stream {}", packet.stream_id);
            recovered.damaged.push(Damage { file: self.from.clone(), offset: packet.offset, reason });
            return Ok(false);
        };
        let (length, events) = whole_events(classes, self.process.metadata.format.byte_order, content);
        let size = ((HEADER + length) as u64).next_multiple_of(PAGE);
        let mut header = *header;
        for (at, bytes) in [(CONTENT_SIZE, (HEADER + length) as u64), (PACKET_SIZE, size)] {
            let bits = self.process.metadata.format.byte_order.u64((bytes * 8).to_ne_bytes());
            header[at..at + 8].copy_from_slice(&bits.to_ne_bytes());
        }
        let padding = [0; PAGE as usize];
        let padding = &padding[..size as usize - HEADER - length];
        for bytes in [&header, &content[..length], padding] {
            self.file.write_all(bytes).map_err(Error::io("write", &self.path))?;
        }
        recovered.packets += 1;
        recovered.events += events;
        let whole = start + HEADER + length == packet.content_end as usize;
        if !whole {
            let offset = packet.offset + (HEADER + length) as u64;
            let reason = "an event is not whole, or the metadata does not know it".to_owned();
            recovered.damaged.push(Damage { file: self.from.clone(), offset, reason });
        }
        Ok(whole)
    }

    fn close(mut self) -> Result<(), Error> {
        self.file.flush().map_err(Error::io("write", &self.path))
    }
}

/// How many bytes of the content are whole events, and how many events.
fn whole_events(classes: &Classes, byte_order: ByteOrder, content: &[u8]) -> (usize, u64) {
    let (mut rest, mut events) = (content, 0);
    while let Some((&[id0, id1, ..], data)) = rest.split_first_chunk::<EVENT_HEADER>()
        && let Some(class) = classes.get(byte_order.u16([id0, id1]))
        && let Some(length) = class.measure(data)
    {
        rest = &data[length..];
        events += 1;
    }
    (content.len() - rest.len(), events)
}
