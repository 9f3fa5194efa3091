//! Walks from packet to packet of a file. It checks each packet before its events are read, and skips damaged ones.
//!
//! A packet with a checksum is whole if the checksum is right, it is in its ring's file, and its sequence number is higher than
//! that of the packet before. Without a checksum, its header must be as the recorder writes it. After damage, the next packet is
//! searched at each page, as the size of a damaged packet may be wrong.
//!
//! A file is that of one thread after another. The packets around a gap name the threads whose events may be in it.

use std::path::Path;

use crate::map::MappedFile;
use crate::packet::{Checksum, PAGE, Packet, SUB_BUFFER};
use crate::process::Process;

/// A skipped part of a file.
#[derive(Debug)]
pub(crate) struct Gap {
    pub(crate) offset: u64,
    pub(crate) bytes: u64,
    pub(crate) reason: String,
}

/// The next packet of a file, and the damage before it.
#[derive(Debug)]
pub(crate) struct Next {
    pub(crate) packet: Option<Packet>,
    pub(crate) gap: Option<Gap>,
}

/// Judges the packets of a file.
#[derive(Clone, Copy)]
pub(crate) struct PacketChecker<'t> {
    map: &'t MappedFile,
    process: &'t Process,
    /// The ring number of the file, if a packet has one.
    ring: Option<u64>,
    is_circular: bool,
}

impl<'t> PacketChecker<'t> {
    pub(crate) fn new(map: &'t MappedFile, path: &Path, process: &'t Process) -> Self {
        Self { map, process, ring: own_ring(map, path), is_circular: false }
    }

    /// For a circular file, in which packets may be at any offset.
    pub(crate) fn circular(map: &'t MappedFile, path: &Path, process: &'t Process) -> Self {
        Self { is_circular: true, ..Self::new(map, path, process) }
    }

    /// Returns the ring number of the file, if its packets have one.
    pub(crate) fn ring(&self) -> Option<u64> {
        self.ring.filter(|_| self.process.metadata.format.checksums)
    }

    /// Returns the next entered packet from `offset` on, after the packet `last`.
    pub(crate) fn next(&self, mut offset: u64, last: Option<&Packet>) -> Next {
        let mut trouble: Option<(u64, String)> = None;
        let mut prepared = None;
        let packet = loop {
            if offset >= self.map.written() {
                break None;
            }
            match self.packet(offset, last) {
                Ok(packet) if !packet.is_prepared() => break Some(packet),
                Ok(packet) => {
                    prepared.get_or_insert(packet.offset);
                    offset = packet.end;
                }
                Err(reason) => {
                    trouble.get_or_insert((offset, reason));
                    offset = offset - offset % PAGE + PAGE;
                }
            }
        };
        let end = packet.map_or(self.map.length(), |packet| packet.offset);
        let missing = last.zip(packet).filter(|(last, next)| last.sequence.wrapping_add(1) != next.sequence);
        let missing = missing.map(|(last, next)| (last.sequence, next.sequence));
        // A writer enters one packet after the other. Before the first one, no sequence number tells that.
        let unentered = prepared
            .zip(packet)
            .filter(|(_, packet)| last.is_none() && !self.is_circular && packet.checksum != Checksum::Absent);
        let gap = match (trouble, missing) {
            (None, None) => unentered.map(|(offset, packet)| Gap {
                offset,
                bytes: end - offset,
                reason: format!(
                    "packet {} follows packets that nothing was written into{}",
                    packet.sequence,
                    around(last, Some(packet).as_ref())
                ),
            }),
            (Some((offset, mut reason)), missing) => {
                if let Some((from, to)) = missing {
                    reason += &format!(" (packet {to} follows packet {from})");
                }
                reason += &around(last, packet.as_ref());
                Some(Gap { offset, bytes: end.saturating_sub(offset), reason })
            }
            (None, Some((from, to))) => {
                let threads = around(last, packet.as_ref());
                let reason = format!("packet {to} follows packet {from}: the packets between are missing{threads}");
                Some(Gap { offset: end, bytes: 0, reason })
            }
        };
        Next { packet, gap }
    }

    /// Returns the packet at `offset`, if no damage is found.
    ///
    /// # Errors
    ///
    /// The damage.
    pub(crate) fn packet(&self, offset: u64, last: Option<&Packet>) -> Result<Packet, String> {
        let packet = self.map.packet(offset)?;
        if packet.is_prepared() {
            return match packet.checksum {
                Checksum::Absent | Checksum::Open(_) => Ok(packet),
                // Its writer will reuse it.
                Checksum::Sum { .. } if self.is_circular => Ok(packet),
                _ => Err("its sequence number is missing".to_owned()),
            };
        }
        if self.process.classes_of(packet.stream_id).is_none() {
            return Err(format!("the metadata knows no stream {}", packet.stream_id));
        }
        if packet.checksum != Checksum::Absent {
            if let Some(reason) = self.wrong(&packet) {
                return Err(reason);
            }
            if let Some(last) = last.filter(|last| packet.sequence <= last.sequence) {
                return Err(format!(
                    "packet {} is repeated or out of order: it follows packet {}",
                    packet.sequence, last.sequence
                ));
            }
        }
        Ok(packet)
    }

    /// Returns the damage of a packet in a trace with checksums.
    pub(crate) fn wrong(&self, packet: &Packet) -> Option<String> {
        match packet.checksum {
            Checksum::Damaged => return Some("its checksum word is damaged".to_owned()),
            Checksum::Sum { crc, .. } => match self.map.crc(packet) {
                Some(there) if there != crc => return Some("its checksum is wrong".to_owned()),
                // In a cut file the beginning of the packet is at its offset; a page from elsewhere is not.
                None if !self.is_circular && !packet.is_in_place() => {
                    return Some("its end is missing, and its sequence number does not match its offset".to_owned());
                }
                _ => {}
            },
            Checksum::Absent | Checksum::Open(_) => {}
        }
        if let Some(ring) = self.ring.filter(|ring| packet.ring != *ring) {
            return Some(format!("this packet belongs to ring {}, the file to ring {ring}", packet.ring));
        }
        packet.is_wrong_for_open(self.is_circular).map(str::to_owned)
    }
}

/// Tells of which threads events may be missing between two packets.
fn around(last: Option<&Packet>, next: Option<&Packet>) -> String {
    let threads = match (last.map(|last| last.tid), next.map(|next| next.tid)) {
        (Some(last), Some(next)) if last == next => format!("thread {last}"),
        (Some(last), Some(next)) => format!("threads {last} and {next}, and of threads between them,"),
        (Some(last), None) => format!("thread {last}, and of threads after it,"),
        (None, Some(next)) => format!("thread {next}, and of threads before it,"),
        (None, None) => "unknown threads".to_owned(),
    };
    format!("; events of {threads} may be missing")
}

/// Guesses the ring number of a file: the number in its name if one of the first two packets has it or neither has a number,
/// else that of the first packet.
fn own_ring(map: &MappedFile, path: &Path) -> Option<u64> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let digits = &name[name.trim_end_matches(|c: char| c.is_ascii_digit()).len()..];
    let named = if digits.is_empty() { Some(0) } else { digits.parse().ok() };
    let entered = |offset| map.packet(offset).ok().filter(|packet: &Packet| !packet.is_prepared());
    let first = entered(0);
    let second = entered(first.map_or(SUB_BUFFER, |first| first.end));
    let rings = [first, second].map(|packet| packet.map(|packet| packet.ring));
    if rings.contains(&named) { named } else { rings[0].or(rings[1]).or(named) }
}
