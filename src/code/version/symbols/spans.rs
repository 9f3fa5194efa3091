//! Spans of addresses, with look-ups in nearly constant time.

/// Values by spans of addresses.
pub(super) struct Spans<T> {
    /// The lowest address.
    base: u64,
    /// Start and end of each span, relative to the base.
    ends: Vec<(u32, u32)>,
    values: Vec<T>,
    /// For each part of `1 << shift` bytes, the number of spans that begin before it.
    parts: Vec<u32>,
    shift: u32,
}

impl<T> Default for Spans<T> {
    fn default() -> Spans<T> {
        Spans::new(Vec::new())
    }
}

impl<T> Spans<T> {
    /// Takes starts, sizes and values. Of spans with the same start one is kept; an overlapping span ends where the next begins.
    pub(super) fn new(mut spans: Vec<(u64, u64, T)>) -> Spans<T> {
        spans.retain(|(_, size, _)| *size > 0);
        spans.sort_by_key(|(start, ..)| *start);
        spans.dedup_by_key(|(start, ..)| *start);
        let base = spans.first().map_or(0, |(start, ..)| *start);
        let behind = |address: u64| u32::try_from(address - base).ok();
        let (mut ends, mut values) = (Vec::new(), Vec::new());
        for (start, size, value) in spans {
            let (Some(start), Some(end)) = (behind(start), behind(start.saturating_add(size))) else { break };
            ends.push((start, end));
            values.push(value);
        }
        let reach = ends.last().map_or(0, |(start, _)| *start);
        // About as many parts as spans.
        let shift = (reach / (ends.len() as u32).max(1)).max(1).ilog2();
        let parts = (0..=(reach >> shift) + 1)
            .map(|part| ends.partition_point(|(start, _)| u64::from(*start) < u64::from(part) << shift) as u32);
        Spans { base, parts: parts.collect(), ends, values, shift }
    }

    pub(super) fn at(&self, address: u64) -> Option<&T> {
        let behind = u32::try_from(address.checked_sub(self.base)?).ok()?;
        let part = (behind >> self.shift) as usize;
        // Only the last span can lie beyond the last part.
        let upto = self.parts.get(part + 1).map_or(self.ends.len(), |upto| *upto as usize);
        let from = self.parts.get(part).map_or(upto, |from| *from as usize).saturating_sub(1);
        let number = from + self.ends[from..upto].partition_point(|(start, _)| *start <= behind);
        let number = number.checked_sub(1)?;
        (behind < self.ends[number].1).then(|| &self.values[number])
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Spans;

    proptest! {
        #[test]
        fn finds_what_a_search_finds(
            spans in prop::collection::vec((0_u64..5_000, 0_u64..80), 0..200),
            base in prop_oneof![Just(0), 0..u64::from(u32::MAX), Just(u64::MAX - 6_000)],
            asked in prop::collection::vec(0_u64..6_000, 0..100),
        ) {
            let spans: Vec<_> = spans.into_iter().map(|(start, size)| (base + start, size, base + start)).collect();
            let found = Spans::new(spans.clone());
            for address in asked {
                let address = base + address;
                let last = spans.iter().filter(|(start, size, _)| *start <= address && *size > 0).max_by_key(|(start, ..)| *start);
                let of_last = |start| spans.iter().filter(move |(other, size, _)| *other == start && *size > 0);
                let expected = last.is_some_and(|(start, ..)| of_last(*start).any(|(start, size, _)| address - start < *size));
                match found.at(address) {
                    None => prop_assert!(!expected || last.is_some_and(|(start, ..)| of_last(*start).count() > 1)),
                    Some(value) => prop_assert!(expected && last.unwrap().0 == *value),
                }
            }
        }
    }
}
