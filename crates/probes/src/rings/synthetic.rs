//! Files for tests: whole packets, written by the functions that write a ring. The tests of `dyntrace` have this file, too.

use std::io;
use std::path::Path;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use dyntrace_folders::Folder;
use dyntrace_metadata::checksum;
use dyntrace_metadata::event_header::EventHeader;
use dyntrace_metadata::packet::{HEADER, offset};

use dyntrace_probes::clock;
use dyntrace_probes::rings::field::Field;
use dyntrace_probes::rings::form::Form;
use dyntrace_probes::rings::header::Header;
use dyntrace_probes::rings::stream_file::{self, StreamFile};

pub const UUID: [u8; 16] = *b"0123456789abcdef";

/// The folder of a path, and its last name.
pub fn place(path: &Path) -> io::Result<(Folder, &str)> {
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok((Folder::open(above)?, path.file_name().unwrap().to_str().unwrap()))
}

/// A stream file at a path.
pub fn create(path: &Path, uuid: [u8; 16], stream: u32, limit: u64, prepared: u64) -> io::Result<StreamFile> {
    let (folder, name) = place(path)?;
    StreamFile::create(&folder, name, uuid, stream, limit, prepared)
}

/// Ends the stream file at a path.
pub fn finish(path: &Path, is_last: bool) -> io::Result<bool> {
    let (folder, name) = place(path)?;
    stream_file::finish(&folder.open_to_write(name)?, is_last)
}

/// An event as it is in a file.
pub fn event(id: u16, fields: &[Field<'_>]) -> Vec<u8> {
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
pub fn write_packet(stream: &StreamFile, place: u64, size: u64, sequence: u64, content: &[u8]) {
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
pub fn packets(file: &[u8]) -> Option<Vec<Header>> {
    let mut headers = Vec::new();
    let mut place = 0;
    while place < file.len() {
        let header = Header::decode(file.get(place..place + HEADER)?.try_into().ok()?)?;
        place += header.packet_size as usize;
        headers.push(header);
    }
    (place == file.len()).then_some(headers)
}
