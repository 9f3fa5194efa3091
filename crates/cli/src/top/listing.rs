//! The rows of a tab, sorted and filtered.

use std::cmp::Ordering;

use dyntrace_analysis::report::format::duration;

use super::tab::{Tab, Unit};

/// The lengths of all the time and of the window.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seconds {
    pub all: f64,
    pub recent: f64,
}

/// The times that figures are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Since the beginning.
    All,
    /// The last seconds.
    Recent,
}

/// A row. Numbers are in the order of the tab's columns; `None` if there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Escaped.
    pub keys: Vec<String>,
    pub all: Vec<Option<u64>>,
    pub recent: Vec<Option<u64>>,
}

impl Row {
    pub fn numbers(&self, of: Of) -> &[Option<u64>] {
        match of {
            Of::All => &self.all,
            Of::Recent => &self.recent,
        }
    }
}

/// The rows of a tab.
#[derive(Clone, Debug)]
pub struct Listing {
    pub tab: Tab,
    pub rows: Vec<Row>,
    /// Those without a row of their own together, if there are any.
    pub others: Option<Row>,
    /// How many those are, or how often they came.
    pub left_out: u64,
}

impl Listing {
    /// Sorts the rows by a column, the largest first, or the smallest if `reverse`; alike ones by their keys.
    pub fn sort(&mut self, column: usize, of: Of, reverse: bool) {
        let order = |order: Ordering| if reverse { order } else { order.reverse() };
        self.rows
            .sort_by(|a, b| order(a.numbers(of)[column].cmp(&b.numbers(of)[column])).then_with(|| a.keys.cmp(&b.keys)));
    }

    /// Keeps the rows with a key that has the text, or that matches it if it is a pattern. Returns how many it left out.
    pub fn filter(&mut self, text: &str) -> usize {
        let before = self.rows.len();
        let pattern = text.contains(['*', '?', '[']).then(|| glob::Pattern::new(text).ok()).flatten();
        let matches = |key: &String| pattern.as_ref().map_or_else(|| key.contains(text), |glob| glob.matches(key));
        if !text.is_empty() {
            self.rows.retain(|row| row.keys.iter().any(matches));
        }
        before - self.rows.len()
    }
}

/// The number for people. `seconds`: the length of the time that it is of.
pub fn shown(number: Option<u64>, unit: Unit, seconds: f64) -> String {
    let Some(number) = number else { return "-".to_owned() };
    let rate = || if seconds > 0.0 { number as f64 / seconds } else { 0.0 };
    match unit {
        Unit::Count => number.to_string(),
        Unit::Rate => match rate() {
            rate if rate != 0.0 && rate < 99.95 => format!("{rate:.1}"),
            rate => format!("{rate:.0}"),
        },
        Unit::BytesRate => indicatif::BinaryBytes(rate() as u64).to_string(),
        Unit::Time => duration(number.try_into().unwrap_or(i64::MAX)),
        Unit::Share => format!("{:.1} %", rate() / 1e7),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing() -> Listing {
        let row = |command: &str, path: &str, count: u64, recent: u64| {
            let numbers = |count| vec![Some(count), Some(count), Some(0), Some(9), None, None, None];
            Row { keys: vec![command.to_owned(), path.to_owned()], all: numbers(count), recent: numbers(recent) }
        };
        let rows = vec![row("READ", "/a", 3, 2), row("OPEN", "/b", 7, 0), row("READ", "/b.log", 3, 1)];
        Listing { tab: Tab::Operations, rows, others: None, left_out: 0 }
    }

    fn paths(listing: &Listing) -> Vec<&str> {
        listing.rows.iter().map(|row| &*row.keys[1]).collect()
    }

    #[test]
    fn rows_are_sorted_by_a_column_of_either_time() {
        let mut listing = listing();
        listing.sort(0, Of::All, false);
        assert_eq!(paths(&listing), ["/b", "/a", "/b.log"]);
        listing.sort(0, Of::All, true);
        assert_eq!(paths(&listing), ["/a", "/b.log", "/b"]);
        listing.sort(0, Of::Recent, false);
        assert_eq!(paths(&listing), ["/a", "/b.log", "/b"]);
        listing.sort(4, Of::Recent, false);
        assert_eq!(paths(&listing), ["/b", "/a", "/b.log"], "alike by their keys");
    }

    #[test]
    fn a_filter_is_a_part_or_a_pattern() {
        for (text, expected) in [
            ("", &["/a", "/b", "/b.log"][..]),
            ("/b", &["/b", "/b.log"]),
            ("REA", &["/a", "/b.log"]),
            ("*.log", &["/b.log"]),
            ("[", &[]),
            ("OPE?", &["/b"]),
        ] {
            let mut listing = listing();
            assert_eq!(listing.filter(text), 3 - expected.len(), "{text}");
            assert_eq!(paths(&listing), expected, "{text}");
        }
    }

    #[test]
    fn numbers_for_people() {
        for (number, unit, expected) in [
            (Some(1500), Unit::Count, "1500"),
            (Some(1500), Unit::Rate, "750"),
            (Some(3), Unit::Rate, "1.5"),
            (Some(0), Unit::Rate, "0"),
            (Some(4096), Unit::BytesRate, "2.00 KiB"),
            (Some(1500), Unit::Time, "1.50 µs"),
            (Some(500_000_000), Unit::Share, "25.0 %"),
            (None, Unit::Time, "-"),
        ] {
            assert_eq!(shown(number, unit, 2.0), expected);
        }
        assert_eq!(shown(Some(1), Unit::Rate, 0.0), "0");
    }
}
