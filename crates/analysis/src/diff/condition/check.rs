//! Whether conditions hold.

use super::{Comparison, Condition, Figure, Group, Name, Value};
use crate::diff::compare::{Diff, Pair};
use crate::diff::confidence::{self, Estimate};
use crate::diff::side::Side;
use crate::figures::Row;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// There is nothing to compare.
    NoData,
    NotMet,
    /// The estimates meet it, but not all values of their confidence intervals do.
    Unsure,
    Met,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::NoData => "no data",
            Verdict::NotMet => "not met",
            Verdict::Unsure => "unsure",
            Verdict::Met => "met",
        }
    }
}

/// A condition that was checked.
pub struct Checked<'d> {
    pub text: &'d str,
    /// The kind of its figure's values.
    pub is_time: bool,
    /// The verdict on the worst group.
    pub verdict: Verdict,
    /// Those with that verdict.
    pub groups: Vec<Of<'d>>,
}

/// A group, and its figure in A and in B.
pub struct Of<'d> {
    /// `None` for all operations.
    pub name: Option<&'d [u8]>,
    pub a: Option<Estimate>,
    pub b: Option<Estimate>,
}

/// Returns `None` if the condition names a group that neither trace has.
pub fn check<'d>(condition: &'d Condition, diff: &'d Diff) -> Option<Checked<'d>> {
    let groups: Vec<(Option<&[u8]>, &Pair)> = match &condition.group {
        None => vec![(None, &diff.all)],
        Some(Group { by, name }) => {
            let pairs = diff.tables.iter().filter(|table| table.by == *by).flat_map(|table| &table.pairs);
            let named = pairs.filter_map(|pair| Some((pair.name.as_deref()?, pair)));
            let named: Vec<_> = named.map(|(name, pair)| (Some(name), pair)).collect();
            match name {
                None => named,
                Some(name) => name.select(named),
            }
        }
    };
    if groups.is_empty() && condition.group.as_ref().is_some_and(|group| group.name.is_some()) {
        return None;
    }
    let checked = groups.into_iter().map(|(name, pair)| {
        let a = estimate(condition.figure, pair.a.as_ref(), &diff.a);
        let b = estimate(condition.figure, pair.b.as_ref(), &diff.b);
        (verdict(condition, a, b), Of { name, a, b })
    });
    let checked: Vec<_> = checked.collect();
    let verdict = checked.iter().map(|(verdict, _)| *verdict).max().unwrap_or(Verdict::NoData);
    let groups = checked.into_iter().filter(|(other, _)| *other == verdict).map(|(_, group)| group).collect();
    Some(Checked { text: &condition.text, is_time: condition.figure.is_time(), verdict, groups })
}

impl Name {
    /// The groups that it means: the one of exactly this name, or all that match.
    fn select<'d>(&self, groups: Vec<(Option<&'d [u8]>, &'d Pair)>) -> Vec<(Option<&'d [u8]>, &'d Pair)> {
        let is_exact = |(name, _): &&(Option<&[u8]>, _)| *name == Some(self.text.as_bytes());
        match groups.iter().find(is_exact) {
            Some(group) => vec![*group],
            None => {
                groups.into_iter().filter(|(name, _)| name.is_some_and(|name| self.pattern.matches(name))).collect()
            }
        }
    }
}

fn estimate(figure: Figure, row: Option<&Row>, side: &Side) -> Option<Estimate> {
    let exact = |value: f64| Estimate { value, low: Some(value), high: Some(value) };
    match figure {
        Figure::Percentile(percentile, time) => confidence::percentile(time.of(row?), percentile.part()),
        Figure::Max(time) => time.of(row?).longest().map(|time| exact(time as f64)),
        Figure::Mean(time) => time.of(row?).mean().map(|time| exact(time as f64)),
        Figure::Count => Some(exact(row.map_or(0, |row| row.count) as f64)),
        Figure::Errors => Some(exact(row.map_or(0, |row| row.errors) as f64)),
        Figure::Rate => side.rate(row.map_or(0, |row| row.count)).map(exact),
    }
}

fn verdict(condition: &Condition, a: Option<Estimate>, b: Option<Estimate>) -> Verdict {
    let Some(b) = b else { return Verdict::NoData };
    // The value to compare with: the estimate, and the two ends.
    let (value, least, most) = match condition.value {
        Value::Absolute(value) => (value, value, value),
        Value::Times(factor) => {
            let Some(a) = a else { return Verdict::NoData };
            // No factor makes an unknown end known.
            let most = a.high.map_or(f64::INFINITY, |high| high * factor);
            (a.value * factor, a.least() * factor, most)
        }
    };
    let (hardest, bound) = match condition.comparison {
        Comparison::More | Comparison::AtLeast => (b.least(), most),
        Comparison::Less | Comparison::AtMost => (b.most(), least),
        // Only of numbers, which are exact.
        Comparison::Equal | Comparison::Different => (b.value, value),
    };
    match condition.comparison {
        comparison if !comparison.holds(b.value, value) => Verdict::NotMet,
        comparison if comparison.holds(hardest, bound) => Verdict::Met,
        _ => Verdict::Unsure,
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn estimate(value: f64, low: f64, high: f64) -> Option<Estimate> {
        Some(Estimate { value, low: Some(low), high: Some(high) })
    }

    #[test]
    fn it_holds_for_every_value_of_the_intervals_or_is_not_met() {
        let slower = parse("p99(total) > 1.2x").unwrap();
        let a = estimate(100.0, 90.0, 110.0);
        for (b, expected) in [
            (estimate(200.0, 140.0, 250.0), Verdict::Met),
            // 1.2 times 110 is 132.
            (estimate(200.0, 132.0, 250.0), Verdict::Unsure),
            (estimate(119.0, 119.0, 119.0), Verdict::NotMet),
            (None, Verdict::NoData),
        ] {
            assert_eq!(verdict(&slower, a, b), expected, "{b:?}");
        }
        let b = estimate(200.0, 140.0, 250.0);
        assert_eq!(verdict(&slower, None, b), Verdict::NoData);
        assert_eq!(verdict(&slower, Some(Estimate { value: 1.0, low: None, high: None }), b), Verdict::Unsure);
        let faster = parse("p50(total) <= 0.5x").unwrap();
        assert_eq!(verdict(&faster, a, estimate(40.0, 30.0, 45.0)), Verdict::Met);
        assert_eq!(verdict(&faster, a, estimate(40.0, 30.0, 46.0)), Verdict::Unsure);
        let slow = parse("p50(total) >= 140ns").unwrap();
        assert_eq!((verdict(&slow, None, b), verdict(&slow, None, a)), (Verdict::Met, Verdict::NotMet));
    }

    /// As the tables print them, driver names may equal commands of the file driver, and folded tags contain a `*`.
    #[test]
    fn a_name_as_printed_means_its_row_alone() {
        let pair = Pair { name: None, a: None, b: None, changes: Vec::new() };
        let groups = |names: &[&'static str]| names.iter().map(|name| (Some(name.as_bytes()), &pair)).collect();
        let selected = |condition: &str, names: &[&'static str]| {
            let group = parse(condition).unwrap().group.unwrap();
            let selected = group.name.unwrap().select(groups(names)).into_iter();
            selected.map(|(name, _)| String::from_utf8_lossy(name.unwrap()).into_owned()).collect::<Vec<_>>()
        };
        let commands = ["READ", "read", "read 1", "read 2"];
        assert_eq!(selected("count > 1 of command read", &commands), ["read"]);
        assert_eq!(selected("count > 1 of command read 1", &commands), ["read 1"]);
        assert_eq!(selected("count > 1 of command read", &["READ", "read 1"]), ["READ"]);
        assert_eq!(selected("count > 1 of command read *", &commands), ["read 1", "read 2"]);
        assert_eq!(selected("count > 1 of tag req-*", &["req-*", "req-*-*"]), ["req-*"]);
        assert_eq!(selected("count > 1 of tag req-*", &["req-a", "req-*-*"]), ["req-a", "req-*-*"]);
    }

    #[test]
    fn numbers_are_exact() {
        let count = |count| estimate(count, count, count);
        for (text, a, b, expected) in [
            ("errors > 1x", 0.0, 1.0, Verdict::Met),
            ("errors > 1x", 1.0, 1.0, Verdict::NotMet),
            ("count != 1x", 5.0, 5.0, Verdict::NotMet),
            ("count != 1x", 5.0, 4.0, Verdict::Met),
            ("count == 0", 5.0, 0.0, Verdict::Met),
            ("rate < 0.9x", 100.0, 89.0, Verdict::Met),
        ] {
            assert_eq!(verdict(&parse(text).unwrap(), count(a), count(b)), expected, "{text} {a} {b}");
        }
    }
}
