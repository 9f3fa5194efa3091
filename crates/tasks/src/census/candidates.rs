//! Finds cells that can be those of tasks in the present memory, on as many threads as there are cores.

use std::ops::Range;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

use crate::cores;
use crate::error::Error;
use crate::memory::maps::Mapping;
use crate::memory::source::Source;
use crate::scan::{ByAddress, Candidate, Elsewhere, scan};

/// Pieces of memory for each thread, so that threads whose pieces have few pages take further ones.
const PIECES: u64 = 8;

/// The smallest piece in bytes, a multiple of any page's size.
const SMALLEST: u64 = 4 << 20;

/// Returns candidates, `most` at most, in the order of their addresses, how many bytes were scanned, and the cells of other layouts.
pub fn find(
    memory: &Source,
    vtables: &ByAddress,
    heaps: &[&Mapping],
    most: usize,
) -> Result<(Vec<Candidate>, u64, Elsewhere), Error> {
    let threads = cores::available();
    let pieces = pieces(heaps.iter().map(|heap| &heap.range), threads as u64);
    // Relaxed: the ends of the threads order the rest.
    let (next, count) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let scan_pieces = |_| -> Result<(Vec<Candidate>, u64, Elsewhere), Error> {
        let mut present = memory.present()?;
        let (mut found, mut scanned, mut elsewhere) = (Vec::new(), 0, Elsewhere::default());
        while let Some(piece) = pieces.get(next.fetch_add(1, Relaxed)) {
            scanned += present.read(piece, |address, bytes| {
                let before = found.len();
                if count.load(Relaxed) < most {
                    scan(vtables, address, bytes, &mut elsewhere, |candidate| found.push(candidate));
                    count.fetch_add(found.len() - before, Relaxed);
                }
            })?;
        }
        Ok((found, scanned, elsewhere))
    };
    let parts: Vec<_> =
        cores::on_each(threads.min(pieces.len().max(1)), scan_pieces).into_iter().collect::<Result<_, _>>()?;
    let scanned = parts.iter().map(|(_, scanned, _)| scanned).sum();
    let mut elsewhere = Elsewhere::default();
    parts.iter().for_each(|(.., part)| elsewhere.append(part));
    let mut candidates = cores::joined(parts.into_iter().map(|(found, ..)| found).collect());
    candidates.sort_unstable_by_key(|candidate| candidate.address);
    candidates.truncate(most);
    Ok((candidates, scanned, elsewhere))
}

/// Cuts ranges into pieces.
fn pieces<'r>(ranges: impl Iterator<Item = &'r Range<u64>> + Clone, threads: u64) -> Vec<Range<u64>> {
    let total = ranges.clone().map(|range| range.end - range.start).fold(0, u64::saturating_add);
    let size = (total / (PIECES * threads)).max(1).next_multiple_of(SMALLEST);
    let cut = |range: &Range<u64>| {
        let end = range.end;
        let starts = (range.start..end).step_by(usize::try_from(size).unwrap_or(usize::MAX));
        starts.map(move |start| start..end.min(start.saturating_add(size))).collect::<Vec<_>>()
    };
    ranges.flat_map(cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_ranges() {
        let ranges = [0..1 << 40, 5 << 40..(5 << 40) + 4096, 6 << 40..(6 << 40) + (9 << 20)];
        let pieces = pieces(ranges.iter(), 2);
        assert!(pieces.len() <= 2 * PIECES as usize + ranges.len());
        for range in &ranges {
            let own: Vec<_> = pieces.iter().filter(|piece| range.contains(&piece.start)).collect();
            assert_eq!((own[0].start, own[own.len() - 1].end), (range.start, range.end));
            assert!(own.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
        assert_eq!(super::pieces([].iter(), 2), []);
    }
}
