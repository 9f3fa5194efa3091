//! The numbers of patterns.

use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of a pattern, unique in the process. It displays as, and parses from, a decimal number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PatternId(u64);

impl PatternId {
    pub(crate) fn next() -> PatternId {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        // Relaxed: numbers only have to differ.
        PatternId(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl fmt::Display for PatternId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for PatternId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<PatternId, ParseIntError> {
        text.parse().map(PatternId)
    }
}
