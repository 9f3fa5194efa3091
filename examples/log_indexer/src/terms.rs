//! The lines and terms of a file.

use std::collections::HashMap;

/// The length of a term in bytes: a word of letters, digits and `_` with at least one letter; case is ignored.
const LENGTHS: std::ops::RangeInclusive<usize> = 3..=64;

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Terms {
    pub bytes: u64,
    pub lines: u64,
    pub counts: HashMap<String, u64>,
}

/// Counts terms in chunks: a word may begin in one chunk and end in another.
#[derive(Default)]
pub struct Counter {
    terms: Terms,
    /// The unfinished word, cut one byte above the limit of a term.
    word: String,
}

impl Counter {
    pub fn add(&mut self, piece: &[u8]) {
        self.terms.bytes += piece.len() as u64;
        for &byte in piece {
            if byte.is_ascii_alphanumeric() || byte == b'_' {
                if self.word.len() <= *LENGTHS.end() {
                    self.word.push(byte.to_ascii_lowercase().into());
                }
                continue;
            }
            self.end_word();
            self.terms.lines += u64::from(byte == b'\n');
        }
    }

    /// Returns the counts. A last line without a newline does not count.
    pub fn finish(mut self) -> Terms {
        self.end_word();
        self.terms
    }

    fn end_word(&mut self) {
        if LENGTHS.contains(&self.word.len()) && self.word.bytes().any(|byte| byte.is_ascii_alphabetic()) {
            match self.terms.counts.get_mut(&self.word) {
                Some(count) => *count += 1,
                None => _ = self.terms.counts.insert(self.word.clone(), 1),
            }
        }
        self.word.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(pieces: &[&[u8]]) -> Terms {
        let mut counter = Counter::default();
        pieces.iter().for_each(|piece| counter.add(piece));
        counter.finish()
    }

    #[test]
    fn words_lines_and_bytes() {
        let terms = count(&[b"2026-11-21 Error: disk_full\n17 error\nends"]);
        assert_eq!((terms.bytes, terms.lines), (41, 2));
        let counts = [("error", 2), ("disk_full", 1), ("ends", 1)].map(|(term, count)| (term.to_owned(), count));
        assert_eq!(terms.counts, HashMap::from(counts));
    }

    #[test]
    fn it_does_not_matter_where_pieces_end() {
        let text = b"one twofold\nthree\xff\0four";
        let whole = count(&[text]);
        for at in 0..=text.len() {
            let (first, second) = text.split_at(at);
            assert_eq!(count(&[first, second]), whole, "cut at {at}");
        }
    }

    #[test]
    fn words_without_end_take_no_room() {
        let mut counter = Counter::default();
        (0..1000).for_each(|_| counter.add(&[b'a'; 1000]));
        assert!(counter.word.len() <= 65);
        assert!(counter.finish().counts.is_empty());
    }
}
