//! Copying a circle into a trace while its writer goes on.
//!
//! The writer that takes a sub-buffer again stores 0 in the packet's sequence first, then the new header, then the new
//! sequence, and only then events. So for each packet:
//!
//! 1. Read the sequence, then the content size: what it covers is whole, unless the packet is being taken.
//! 2. Copy that much.
//! 3. Read the sequence again. If it is another, the copy may be a mixture: leave it out.
//!
//! Packets are copied oldest first, ahead of the writer. One that is fast, or a copier that had to wait for a CPU, may
//! overtake: then there are newer packets, which are copied in another round. What is older than a packet that is lost is
//! left out, too: a snapshot is the last of the events, without a gap.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::packet::{HEADER, Header, PAGE, SUB_BUFFER, offset};
use super::stream_file::StreamFile;
use crate::sync::atomic::{AtomicU64, Ordering, fence};

/// After so many times the copier gives up hurrying after the writer.
const ROUNDS: usize = 8;

/// What a copy holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Packets that the writer took again before they were copied, and those before them.
    pub(crate) overwritten: u64,
}

/// Copies what is in `circle` to `path`, which must not exist, as a plain stream file of the trace with that identity.
///
/// # Errors
///
/// The system's, as it gave it; then there is no file.
pub(crate) fn copy(circle: &StreamFile, path: &Path, uuid: [u8; 16]) -> io::Result<Copied> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    let copied = copy_to(circle, &mut file, uuid);
    if copied.is_err() {
        // The error worth telling is why it could not be written.
        let _ = fs::remove_file(path);
    }
    copied
}

/// Copies a stream file that nobody writes meanwhile, as [`copy`] does.
pub(crate) fn copy_plain(from: &Path, path: &Path, uuid: [u8; 16]) -> io::Result<()> {
    let mut bytes = fs::read(from)?;
    let mut packet = bytes.as_mut_slice();
    while let Some(header) = packet.first_chunk().and_then(Header::decode) {
        packet[..HEADER].copy_from_slice(&Header { uuid, ..header }.encode());
        packet = packet.get_mut(header.packet_size as usize..).unwrap_or_default();
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(&bytes)
}

fn copy_to(circle: &StreamFile, file: &mut File, uuid: [u8; 16]) -> io::Result<Copied> {
    let packets: Vec<Packet> = packets(circle).collect();
    let mut copied = Copied::default();
    let mut copy = Vec::with_capacity(SUB_BUFFER);
    let mut last = 0;
    for _ in 0..ROUNDS {
        let mut newer: Vec<_> = packets.iter().map(|packet| (packet.sequence(), packet)).collect();
        newer.retain(|&(sequence, _)| sequence > last);
        newer.sort_unstable_by_key(|&(sequence, _)| sequence);
        let mut overwritten = 0;
        for (sequence, packet) in newer {
            if packet.copy(sequence, uuid, &mut copy) {
                if last != 0 && sequence != last + 1 {
                    begin_anew(file, &mut copied)?;
                }
                file.write_all(&copy)?;
                copied.packets += 1;
                copied.bytes += copy.len() as u64;
                last = sequence;
            } else {
                overwritten += 1;
            }
        }
        copied.overwritten += overwritten;
        if overwritten == 0 {
            break;
        }
    }
    Ok(copied)
}

/// Forgets what was copied: it is older than packets that are lost, and a snapshot has no gap.
fn begin_anew(file: &mut File, copied: &mut Copied) -> io::Result<()> {
    *copied = Copied { overwritten: copied.overwritten + copied.packets, ..Copied::default() };
    file.set_len(0)?;
    file.rewind()
}

/// A sub-buffer of a circle, as words.
pub(super) struct Packet<'c>(pub(super) &'c [AtomicU64]);

fn packets(circle: &StreamFile) -> impl Iterator<Item = Packet<'_>> {
    let words = circle.prepared() as usize / 8;
    // SAFETY: the pages below the prepared length are mapped, begin at a page and stay for as long as the circle. Its writer
    // changes them meanwhile. Words are therefore loaded as atomics, and what may be a mixture is thrown away.
    let words = unsafe { std::slice::from_raw_parts(circle.base().cast::<AtomicU64>(), words) };
    words.chunks_exact(SUB_BUFFER / 8).map(Packet)
}

impl Packet<'_> {
    /// 0 while nothing is there that could be copied.
    pub(super) fn sequence(&self) -> u64 {
        // Acquire: with the Release of the writer that enters. Who sees the sequence sees its header.
        self.0[offset::SEQUENCE / 8].load(Ordering::Acquire)
    }

    /// Makes `copy` a packet of a trace of its own, without what is not used of it. `false` if the packet is no longer this one.
    pub(super) fn copy(&self, sequence: u64, uuid: [u8; 16], copy: &mut Vec<u8>) -> bool {
        copy.clear();
        if self.sequence() != sequence {
            return false;
        }
        // Acquire: with the Release of the writer that commits. What the size covers is whole.
        let content_size = self.0[offset::CONTENT_SIZE / 8].load(Ordering::Acquire) as usize / 8;
        let content_size = content_size.clamp(HEADER, SUB_BUFFER);
        for word in &self.0[..content_size.div_ceil(8)] {
            copy.extend(word.load(Ordering::Relaxed).to_ne_bytes());
        }
        // Partner: the writer's fence between the sequence of 0 and what it writes next. If some of that was copied, the
        // sequence below is another.
        fence(Ordering::Acquire);
        if self.0[offset::SEQUENCE / 8].load(Ordering::Relaxed) != sequence {
            return false;
        }
        let Some(header) = copy.first_chunk().and_then(Header::decode) else {
            return false;
        };
        let packet_size = content_size.next_multiple_of(PAGE);
        let header = Header { uuid, content_size: content_size as u64, packet_size: packet_size as u64, ..header };
        copy[..HEADER].copy_from_slice(&header.encode());
        copy.truncate(content_size);
        copy.resize(packet_size, 0);
        true
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
