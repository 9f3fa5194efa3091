//! Copying a circular file into a trace while its writer continues.
//!
//! The writer that enters a sub-buffer again stores 0 in the packet's sequence, then the new header, then the new sequence, then events. So
//! for each packet:
//!
//! 1. Read the sequence, then the content size. The content is complete, unless the packet is being overwritten.
//! 2. Copy the content.
//! 3. Read the sequence again. If it has changed, drop the copy.
//!
//! Packets are copied oldest first, ahead of the writer. A fast writer may overtake the copier, which then copies the newer packets in
//! another round. Packets older than a lost one are dropped, too: a snapshot is the last of the events, without a gap.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::FileExt;

use dyntrace_folders::{Folder, NewFile};
use dyntrace_metadata::checksum;
use dyntrace_metadata::packet::{HEADER, SUB_BUFFER, offset};

use dyntrace_probes::rings::header::Header;
use dyntrace_probes::rings::packet::{Packet, packets, set_checksum};
use dyntrace_probes::rings::stream_file::StreamFile;

/// Rounds after which the copier gives up.
const ROUNDS: usize = 8;

/// The contents of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Packets that the writer overwrote before they were copied, and those before them.
    pub(crate) overwritten: u64,
}

/// Copies the circular file to the new file `name` in `folder`, as a plain stream file of the trace with that uuid.
///
/// # Errors
///
/// The system's, without the path. Then there is no file.
pub(crate) fn copy(circular: &StreamFile, folder: &Folder, name: &str, uuid: [u8; 16]) -> io::Result<Copied> {
    let mut file = folder.create_file(name, NewFile::Plain)?;
    let copied = copy_to(circular, &mut file, uuid);
    if copied.is_err() {
        // The error to report is why it could not be written.
        let _ = folder.remove_file(name);
    }
    copied
}

/// The bytes of a stream file that no thread writes, as a plain stream file of the trace with that uuid.
///
/// # Errors
///
/// The system's, without the path.
pub(crate) fn plain(folder: &Folder, name: &str, uuid: [u8; 16]) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    folder.open_file(name)?.read_to_end(&mut bytes)?;
    let mut packet = bytes.as_mut_slice();
    let mut last = None;
    while let Some(header) = packet.first_chunk().and_then(Header::decode)
        && packet.len() as u64 >= header.packet_size
    {
        let (this, rest) = packet.split_at_mut(header.packet_size as usize);
        this[..HEADER].copy_from_slice(&Header { uuid, ..header }.encode());
        if header.sequence != 0 {
            last = Some(set_checksum(&mut this[..header.content_size as usize]));
        }
        packet = rest;
    }
    if let Some(word) = last {
        *word = checksum::last(u64::from_ne_bytes(*word)).to_ne_bytes();
    }
    Ok(bytes)
}

fn copy_to(circular: &StreamFile, file: &mut File, uuid: [u8; 16]) -> io::Result<Copied> {
    let packets: Vec<Packet> = packets(circular).collect();
    let mut copied = Copied::default();
    let mut copy = Vec::with_capacity(SUB_BUFFER);
    let (mut last, mut last_checksum) = (0, None);
    for _ in 0..ROUNDS {
        let mut newer: Vec<_> = packets.iter().map(|packet| (packet.sequence(), packet)).collect();
        newer.retain(|&(sequence, _)| sequence > last);
        newer.sort_unstable_by_key(|&(sequence, _)| sequence);
        let mut overwritten = 0;
        for (sequence, packet) in newer {
            if packet.copy(sequence, uuid, &mut copy) {
                if last != 0 && sequence != last + 1 {
                    start_over(file, &mut copied)?;
                }
                file.write_all(&copy)?;
                let word = u64::from_ne_bytes(std::array::from_fn(|byte| copy[offset::CHECKSUM + byte]));
                last_checksum = Some((copied.bytes + offset::CHECKSUM as u64, word));
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
    if let Some((place, word)) = last_checksum {
        file.write_all_at(&checksum::last(word).to_ne_bytes(), place)?;
    }
    Ok(copied)
}

/// Drops the copied packets: they are older than lost ones.
fn start_over(file: &mut File, copied: &mut Copied) -> io::Result<()> {
    *copied = Copied { overwritten: copied.overwritten + copied.packets, ..Copied::default() };
    file.set_len(0)?;
    file.rewind()
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests;
