//! Traces for tests: whole packets, written by the functions that write a ring.

use std::io;
use std::path::Path;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use dyntrace_folders::Folder;
use dyntrace_metadata::Format;
use dyntrace_metadata::checksum;
use dyntrace_metadata::event_header::EventHeader;
use dyntrace_metadata::packet::{HEADER, offset};

use super::metadata::{self, Description};
use crate::clock::{self, Calibration};
use crate::rings::descriptor::{Argument, Descriptor, Kind};
use crate::rings::field::Field;
use crate::rings::form::Form;
use crate::rings::header::Header;
use crate::rings::mode::Mode;
use crate::rings::stream_file::{self, StreamFile};

pub(crate) const UUID: [u8; 16] = *b"0123456789abcdef";

static EVERY_KIND: Descriptor = Descriptor::new(
    "made",
    "by__hand",
    &[
        Argument { name: "small", kind: Kind::I32 },
        Argument { name: "count", kind: Kind::U32 },
        Argument { name: "large", kind: Kind::I64 },
        Argument { name: "bits", kind: Kind::U64 },
        Argument { name: "event", kind: Kind::Text },
    ],
    ptr::null::<AtomicU32>,
);
static NOTHING: Descriptor = Descriptor::new("made", "nothing", &[], ptr::null::<AtomicU32>);

/// Event 0 has a field of every kind, event 1 has none.
pub(crate) static EVENTS: [&Descriptor; 2] = [&EVERY_KIND, &NOTHING];

/// Describes a trace of [`EVENTS`] by a program of that name, as CTF 1.8.
pub(crate) fn describe(dir: &Path, procname: &str) {
    describe_as(dir, procname, Format::Ctf1);
}

/// The same in any format.
pub(crate) fn describe_as(dir: &Path, procname: &str, format: Format) {
    let description = Description {
        uuid: UUID,
        hostname: &metadata::hostname(),
        procname,
        pid: std::process::id(),
        mode: Mode::Stream,
        format,
        clock: Calibration::start(),
        clock_name: clock::name(),
        events: &EVENTS,
    };
    metadata::write(&Folder::open(dir).unwrap(), &description).unwrap();
}

/// The folder of a path, and its last name.
pub(crate) fn place(path: &Path) -> io::Result<(Folder, &str)> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Folder::open(above)?, path.file_name().unwrap().to_str().unwrap()))
}

/// A stream file at a path.
pub(crate) fn create(path: &Path, uuid: [u8; 16], stream: u32, limit: u64, prepared: u64) -> io::Result<StreamFile> {
    let (folder, name) = place(path)?;
    StreamFile::create(&folder, name, uuid, stream, limit, prepared)
}

/// Ends the stream file at a path.
pub(crate) fn finish(path: &Path, is_last: bool) -> io::Result<bool> {
    let (folder, name) = place(path)?;
    stream_file::finish(&folder.open_to_write(name)?, is_last)
}

/// An event as it is in a file.
pub(crate) fn event(id: u16, fields: &[Field<'_>]) -> Vec<u8> {
    let mut bytes = EventHeader::first(Form::Wide.event_id(id), clock::now()).whole().to_vec();
    for field in fields {
        match field {
            Field::I32(number) => bytes.extend(number.to_ne_bytes()),
            Field::U32(number) => bytes.extend(number.to_ne_bytes()),
            Field::I64(number) => bytes.extend(number.to_ne_bytes()),
            Field::U64(number) => bytes.extend(number.to_ne_bytes()),
            Field::Text(text) => bytes.extend(text.iter().chain(b"\0")),
            Field::Numbered(name) => name.with(|name| bytes.extend(name.iter().chain(b"\0"))),
            Field::Name(name) => bytes.extend(name.write(&mut [0; 16]).iter().chain(b"\0")),
        }
    }
    bytes
}

/// Enters a packet of `size` bytes at `place`, puts `content` into it and commits that, in the order of a ring's writer.
pub(crate) fn write_packet(stream: &StreamFile, place: u64, size: u64, sequence: u64, content: &[u8]) {
    assert!(place + size <= stream.prepared() && HEADER + content.len() <= size as usize);
    let field = |at: usize| {
        // SAFETY: the field is in the mapping, below the file's length, at a multiple of its size.
        unsafe { AtomicU64::from_ptr(stream.base().add(place as usize + at).cast()) }
    };
    field(offset::SEQUENCE).store(0, Ordering::Relaxed);
    field(offset::CHECKSUM).store(checksum::open(sequence), Ordering::Relaxed);
    fence(Ordering::Release);
    field(offset::CONTENT_SIZE).store(8 * HEADER as u64, Ordering::Relaxed);
    field(offset::TID).store(7, Ordering::Relaxed);
    field(offset::RING).store(1, Ordering::Relaxed);
    field(offset::PACKET_SIZE).store(8 * size, Ordering::Release);
    field(offset::SEQUENCE).store(sequence, Ordering::Release);
    // SAFETY: this is within the packet that was entered, as asserted, and only this thread writes there.
    unsafe {
        let start = stream.base().add(place as usize + HEADER);
        ptr::copy_nonoverlapping(content.as_ptr(), start, content.len());
    }
    field(offset::CONTENT_SIZE).store(8 * (HEADER + content.len()) as u64, Ordering::Release);
}

/// The headers of a file, if it is a row of packets from the first byte to the last.
pub(crate) fn packets(file: &[u8]) -> Option<Vec<Header>> {
    let mut headers = Vec::new();
    let mut place = 0;
    while place < file.len() {
        let header = Header::decode(file.get(place..place + HEADER)?.try_into().ok()?)?;
        place += header.packet_size as usize;
        headers.push(header);
    }
    (place == file.len()).then_some(headers)
}

/// The lines that babeltrace2 prints for a trace, which it must read without a line on stderr. None where there is no
/// babeltrace2; that is said.
pub(crate) fn babeltrace(dir: &Path) -> Option<Vec<String>> {
    let Ok(output) = Command::new("babeltrace2").arg(dir).output() else {
        let required = std::env::var("DYNTRACE_REQUIRE").unwrap_or_default();
        assert!(!required.contains("babeltrace2"), "babeltrace2: not installed, and DYNTRACE_REQUIRE asks for it");
        eprintln!("SKIPPED: reading a trace with babeltrace2: it is not installed");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "babeltrace2: {}: {errors}", output.status);
    Some(String::from_utf8_lossy(&output.stdout).lines().map(String::from).collect())
}
