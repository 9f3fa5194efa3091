//! Figures by a key. There can be as many keys as events, so only those that were used last, and most, have lines of their own.

use std::collections::HashMap;

use super::sliding::{Sliding, Sum};

/// The most lines.
pub const LINES: usize = 512;
/// The lines that stay when there are more.
const KEPT: usize = 384;

/// The figures of a key.
#[derive(Default)]
pub struct Line<S> {
    pub all: S,
    pub recent: Sliding<S>,
    /// A number that goes up and down, as that of living tasks.
    pub now: i64,
    /// A last length or the like.
    pub gauge: u64,
    uses: u64,
    used: Option<i64>,
}

impl<S: Sum> Line<S> {
    /// Counts in the figures of all time and of the second of `time`.
    pub fn add(&mut self, time: i64, count: impl Fn(&mut S)) {
        self.uses += 1;
        self.used = self.used.max(Some(time));
        count(&mut self.all);
        self.recent.at(time).into_iter().for_each(count);
    }

    fn merge(&mut self, other: &Self) {
        self.all.merge(&other.all);
        self.recent.merge(&other.recent);
        self.now += other.now;
        self.uses += other.uses;
        self.used = self.used.max(other.used);
    }
}

/// Parts of a key, with a NUL between them: texts of events have none.
pub type Key = Box<[u8]>;

#[derive(Default)]
pub struct Table<S> {
    lines: HashMap<Key, Line<S>>,
    /// Of the keys without a line.
    pub others: Line<S>,
    /// Lines that were merged into `others`. A key that comes again counts again.
    pub left_out: u64,
    key: Vec<u8>,
}

impl<S: Sum> Table<S> {
    /// The line of the key with these parts.
    pub fn line<const N: usize>(&mut self, parts: [&[u8]; N]) -> &mut Line<S> {
        self.key.clear();
        for (number, part) in parts.into_iter().enumerate() {
            self.key.extend((number > 0).then_some(0));
            self.key.extend_from_slice(part);
        }
        if !self.lines.contains_key(self.key.as_slice()) {
            if self.lines.len() == LINES {
                self.fold();
            }
            self.lines.insert(self.key.as_slice().into(), Line::default());
        }
        self.lines.get_mut(self.key.as_slice()).expect("it was inserted")
    }

    /// The line of a key that had one, or `others`.
    pub fn kept(&mut self, key: &[u8]) -> &mut Line<S> {
        self.lines.get_mut(key).unwrap_or(&mut self.others)
    }

    /// The key of the last line.
    pub fn key(&self) -> &[u8] {
        &self.key
    }

    pub fn lines(&self) -> impl Iterator<Item = (&Key, &Line<S>)> {
        self.lines.iter()
    }

    /// Merges lines into `others`: those of which nothing is now, used the longest ago and the least.
    fn fold(&mut self) {
        let mut order: Vec<_> =
            self.lines.iter().map(|(key, line)| (line.now > 0, line.used, line.uses, key.clone())).collect();
        order.sort_unstable();
        for (.., key) in order.into_iter().take(LINES - KEPT) {
            self.left_out += 1;
            self.lines.remove(&key).into_iter().for_each(|line| self.others.merge(&line));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::top::model::sliding::SECOND;

    #[test]
    fn lines_are_bounded_and_nothing_is_lost() {
        let mut table = Table::<u64>::default();
        for number in 0..5000_i64 {
            let text = (number % 2000).to_string();
            table.line([b"path", text.as_bytes()]).add(number * 1000, |count| *count += 1);
            assert!(table.lines.len() <= LINES);
        }
        let own: u64 = table.lines().map(|(_, line)| line.all).sum();
        assert_eq!(own + table.others.all, 5000);
        let recent: u64 = table.lines().map(|(_, line)| line.recent.sum(SECOND)).sum();
        assert_eq!(recent + table.others.recent.sum(SECOND), 5000);
        assert!(table.left_out >= 2000 - LINES as u64);
        assert!(table.lines.contains_key(&b"path\x00999"[..]), "the last one has a line");
    }

    #[test]
    fn lines_in_use_stay() {
        let mut table = Table::<u64>::default();
        table.line([b"waits"]).now += 1;
        for number in 0..5000_i64 {
            table.line([number.to_string().as_bytes()]).add(number, |count| *count += 1);
        }
        assert_eq!(table.kept(b"waits").now, 1);
        assert_eq!((table.others.now, table.kept(b"gone").all), (0, table.others.all));
    }
}
