//! Figures by some key, such as the user tag. There can be as many keys as operations, so only some have a row of their own.

use std::collections::HashMap;
use std::hash::Hash;

use dyntrace_reader::Operation;

use super::row::Row;

/// How many keys have a row while the trace is read.
const ROWS: usize = 256;
/// How many keep it when there are more, and in the end.
const KEPT: usize = 100;

/// A row for each key that has many operations, and one for the others.
pub struct Table<K> {
    rows: HashMap<K, Row>,
    others: Row,
}

impl<K> Default for Table<K> {
    fn default() -> Self {
        Table { rows: HashMap::new(), others: Row::default() }
    }
}

impl<K: Copy + Ord + Hash> Table<K> {
    /// Counts an operation that was answered.
    pub fn add(&mut self, key: K, operation: &Operation<'_>) {
        if self.rows.len() == ROWS && !self.rows.contains_key(&key) {
            self.fold();
        }
        self.rows.entry(key).or_default().add(operation);
    }

    /// The rows, that with most operations first; and what the others did, if there were more keys than rows.
    pub fn finish(mut self) -> (Vec<(K, Row)>, Option<Row>) {
        self.fold();
        let mut rows: Vec<_> = self.rows.into_iter().collect();
        rows.sort_by(|(a, first), (b, second)| second.count.cmp(&first.count).then(a.cmp(b)));
        (rows, (self.others.count > 0).then_some(self.others))
    }

    /// Leaves a row to the keys with most operations only.
    fn fold(&mut self) {
        let mut counts: Vec<(u64, K)> = self.rows.iter().map(|(key, row)| (row.count, *key)).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for (_, key) in counts.into_iter().skip(KEPT) {
            self.rows.remove(&key).into_iter().for_each(|row| self.others.merge(&row));
        }
    }
}
