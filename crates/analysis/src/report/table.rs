//! Figures by a key, such as the user tag. There can be as many keys as operations, so only the most frequent have rows.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;

use dyntrace_reader::FileOperation;

use crate::figures::Row;

/// The most rows while the trace is read.
const ROWS: usize = 256;
/// The rows that stay when there are more, and at the end.
pub const KEPT: usize = 100;

#[derive(Default)]
pub struct Table<K> {
    rows: HashMap<K, Row>,
    others: Row,
}

impl<K: Clone + Ord + Hash> Table<K> {
    /// Counts an operation that was answered.
    pub fn add<Q>(&mut self, key: &Q, operation: &FileOperation<'_>)
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(row) = self.rows.get_mut(key) {
            return row.add(operation);
        }
        if self.rows.len() == ROWS {
            self.fold();
        }
        self.rows.entry(key.to_owned()).or_default().add(operation);
    }

    /// The rows, the most operations first, and that of the other keys, if there were too many.
    pub fn finish(mut self) -> (Vec<(K, Row)>, Option<Row>) {
        self.fold();
        let mut rows: Vec<_> = self.rows.into_iter().collect();
        rows.sort_by(|(a, first), (b, second)| second.count.cmp(&first.count).then(a.cmp(b)));
        (rows, (self.others.count > 0).then_some(self.others))
    }

    /// Merges the rows with the fewest operations into `others`.
    fn fold(&mut self) {
        let mut counts: Vec<(u64, K)> = self.rows.iter().map(|(key, row)| (row.count, key.clone())).collect();
        counts.sort_unstable_by(|a, b| b.cmp(a));
        for (_, key) in counts.into_iter().skip(KEPT) {
            self.rows.remove(&key).into_iter().for_each(|row| self.others.merge(&row));
        }
    }
}
