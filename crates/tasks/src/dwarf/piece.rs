//! The bytes of one section.

use std::ops::{Deref, Range};
use std::sync::Arc;

use gimli::SectionId;
use memmap2::Mmap;
use object::{CompressionFormat, Object, ObjectSection};

use super::{Error, limits};

/// A section's bytes: of the image, of a further file, or decompressed.
#[derive(Debug)]
pub(super) enum Piece<'bytes> {
    Borrowed(&'bytes [u8]),
    Mapped(Arc<Mmap>, Range<usize>),
    Owned(Vec<u8>),
}

impl Deref for Piece<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Piece::Borrowed(bytes) => bytes,
            Piece::Mapped(file, range) => &file[range.clone()],
            Piece::Owned(bytes) => bytes,
        }
    }
}

/// Returns a section's bytes, which are empty if there is none. Takes the size of its allocation from `room`.
pub(super) fn of<'bytes>(
    file: &object::File<'bytes>,
    name: &'static str,
    room: &mut u64,
) -> Result<Piece<'bytes>, Error> {
    let Some(found) = file.section_by_name(name) else { return Ok(Piece::Borrowed(&[])) };
    let failed = |error| Error::Section { section: name, error };
    let bytes = found.compressed_data().map_err(failed)?;
    if bytes.format == CompressionFormat::None {
        return Ok(Piece::Borrowed(bytes.data));
    }
    // The decompressor allocates as many bytes as the file says.
    let size = bytes.uncompressed_size;
    let most = (bytes.data.len() as u64).saturating_mul(limits::EXPANSION).min(*room);
    *room = room.checked_sub(size).filter(|_| size <= most).ok_or(Error::TooLarge { section: name, size })?;
    bytes.decompress().map(|bytes| Piece::Owned(bytes.into_owned())).map_err(failed)
}

/// Like [`of`], of a file that the sections keep.
pub(super) fn kept(
    bytes: &Arc<Mmap>,
    file: &object::File<'_>,
    name: &'static str,
    room: &mut u64,
) -> Result<Piece<'static>, Error> {
    Ok(match of(file, name, room)? {
        Piece::Borrowed([]) => Piece::Borrowed(&[]),
        Piece::Borrowed(section) => {
            let start = section.as_ptr().addr() - bytes.as_ptr().addr();
            Piece::Mapped(Arc::clone(bytes), start..start + section.len())
        }
        Piece::Mapped(file, range) => Piece::Mapped(file, range),
        Piece::Owned(bytes) => Piece::Owned(bytes),
    })
}

/// Whether the reader asks for anything in a section. The others, with the places of variables among them, are large.
pub(super) fn is_used(id: SectionId) -> bool {
    let used = [
        SectionId::DebugAbbrev,
        SectionId::DebugAddr,
        SectionId::DebugAranges,
        SectionId::DebugInfo,
        SectionId::DebugLine,
        SectionId::DebugLineStr,
        SectionId::DebugRanges,
        SectionId::DebugRngLists,
        SectionId::DebugStr,
        SectionId::DebugStrOffsets,
    ];
    used.contains(&id)
}
