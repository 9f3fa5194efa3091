//! The comparison of two traces, group by group.

use super::confidence::{self, Estimate};
use super::figure::{Percentile, Time};
use super::groups::{By, GroupsOfKind};
use super::side::Side;
use crate::figures::Row;

pub struct Diff {
    pub a: Side,
    pub b: Side,
    /// All operations.
    pub all: Pair,
    pub tables: Vec<Table>,
}

pub struct Table {
    pub by: By,
    /// Those that differ most come first.
    pub pairs: Vec<Pair>,
}

/// A group in both traces.
pub struct Pair {
    /// `None` for the groups beyond the limit.
    pub name: Option<Vec<u8>>,
    pub a: Option<Row>,
    pub b: Option<Row>,
    /// The figures that differ beyond chance, the farthest apart first.
    pub changes: Vec<Change>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    pub of: Compared,
    pub a: Estimate,
    pub b: Estimate,
    /// How far apart the intervals are; positive if the value is higher in B.
    pub apart: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    Percentile(Percentile, Time),
    /// The share of operations that failed.
    Errors,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Only in B.
    New,
    /// Only in A.
    Gone,
    Both,
}

/// Durations that differ by less are the same, in nanoseconds.
const SMALLEST_TIME: f64 = 1.0;
/// Shares of errors that differ by less are the same.
const SMALLEST_SHARE: f64 = 1e-6;

impl Pair {
    fn new(name: Option<Vec<u8>>, a: Option<Row>, b: Option<Row>) -> Pair {
        let mut changes = match (&a, &b) {
            (Some(a), Some(b)) => changes(a, b),
            _ => Vec::new(),
        };
        changes.sort_by(|first, second| second.apart.abs().total_cmp(&first.apart.abs()));
        Pair { name, a, b, changes }
    }

    pub fn state(&self) -> State {
        match (&self.a, &self.b) {
            (None, _) => State::New,
            (_, None) => State::Gone,
            _ => State::Both,
        }
    }

    pub fn counts(&self) -> (u64, u64) {
        let count = |row: &Option<Row>| row.as_ref().map_or(0, |row| row.count);
        (count(&self.a), count(&self.b))
    }

    pub fn differs(&self) -> bool {
        self.state() != State::Both || !self.changes.is_empty()
    }

    /// Descending: pairs with changes by the farthest one, new and gone groups, then the others by the ratio of their counts.
    fn rank(&self) -> (u8, f64, u64) {
        let (a, b) = self.counts();
        let ratio = ((a + 1) as f64 / (b + 1) as f64).ln().abs();
        match self.changes.first() {
            Some(change) => (2, change.apart.abs(), a + b),
            None if self.state() != State::Both => (1, (a + b) as f64, 0),
            None => (0, ratio, a + b),
        }
    }
}

fn changes(a: &Row, b: &Row) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut compare = |of, estimates: (Option<Estimate>, Option<Estimate>), smallest| {
        if let (Some(a), Some(b)) = estimates
            && let Some(apart) = confidence::apart(&a, &b, smallest)
        {
            changes.push(Change { of, a, b, apart });
        }
    };
    for time in Time::ALL {
        for percentile in Percentile::ALL {
            let of = |row| confidence::percentile(time.of(row), percentile.part());
            compare(Compared::Percentile(percentile, time), (of(a), of(b)), SMALLEST_TIME);
        }
    }
    let of = |row: &Row| confidence::share(row.errors, row.count);
    compare(Compared::Errors, (of(a), of(b)), SMALLEST_SHARE);
    changes
}

/// Takes the groups out of both.
pub fn compare(mut a: Side, mut b: Side) -> Diff {
    let all = Pair::new(None, Some(std::mem::take(&mut a.groups.all)), Some(std::mem::take(&mut b.groups.all)));
    let kinds = |side: &mut Side| std::mem::take(&mut side.groups.kinds);
    let kinds = kinds(&mut a).into_iter().zip(kinds(&mut b));
    let tables = By::ALL.into_iter().zip(kinds).map(|(by, (a, b))| Table { by, pairs: pairs(a, b) });
    let tables = tables.filter(|table| !table.pairs.is_empty()).collect();
    Diff { a, b, all, tables }
}

fn pairs(mut a: GroupsOfKind, mut b: GroupsOfKind) -> Vec<Pair> {
    // Before either is changed.
    let (a_is_cut, b_is_cut) = (a.is_cut(), b.is_cut());
    if b_is_cut {
        a.match_with(&b);
    }
    if a_is_cut {
        b.match_with(&a);
    }
    let mut pairs: Vec<Pair> = Vec::new();
    for (name, row) in a.rows {
        let other = b.rows.remove(&name);
        pairs.push(Pair::new(Some(name), Some(row), other));
    }
    pairs.extend(b.rows.into_iter().map(|(name, row)| Pair::new(Some(name), None, Some(row))));
    if a_is_cut || b_is_cut {
        pairs.push(Pair::new(None, Some(a.others), Some(b.others)));
    }
    pairs.sort_by(|first, second| {
        let ((kind, apart, count), (other_kind, other_apart, other_count)) = (first.rank(), second.rank());
        let order = other_kind.cmp(&kind).then(other_apart.total_cmp(&apart)).then(other_count.cmp(&count));
        order.then_with(|| first.name.cmp(&second.name))
    });
    pairs
}
