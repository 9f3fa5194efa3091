//! Reading of conditions.

use dyntrace_metadata::Glob;

use super::{Comparison, Condition, Figure, Group, Name, Value};
use crate::diff::figure::{Percentile, Time};
use crate::diff::groups::By;
use crate::operation::command_name;
use crate::view::names;

const COMPARISONS: [(&str, Comparison); 6] = [
    // The longer ones first.
    (">=", Comparison::AtLeast),
    ("<=", Comparison::AtMost),
    ("==", Comparison::Equal),
    ("!=", Comparison::Different),
    (">", Comparison::More),
    ("<", Comparison::Less),
];

/// The units of times, in nanoseconds.
const UNITS: [(&str, f64); 5] = [("ns", 1.0), ("us", 1e3), ("\u{b5}s", 1e3), ("ms", 1e6), ("s", 1e9)];

/// Reads a condition. The error says what is expected.
pub fn parse(text: &str) -> Result<Condition, String> {
    let at = text.find(['>', '<', '=', '!']).ok_or("expected a comparison, as in p99(total) > 1.2x")?;
    let (left, right) = text.split_at(at);
    let found = COMPARISONS.iter().find_map(|(sign, comparison)| Some((*comparison, right.strip_prefix(sign)?)));
    let (comparison, right) = found.ok_or("the comparisons are >, >=, <, <=, == and !=")?;
    let figure = figure(left.trim())?;
    if matches!(comparison, Comparison::Equal | Comparison::Different)
        && !matches!(figure, Figure::Count | Figure::Errors)
    {
        return Err("== and != are for count and errors; two measured times are never the same".to_owned());
    }
    // The group may have an "of" in its name.
    let (right, group) = match right.split_once(" of ") {
        Some((right, group)) => (right, Some(self::group(group.trim())?)),
        None => (right, None),
    };
    let value = value(right.trim(), figure)?;
    Ok(Condition { text: text.to_owned(), figure, comparison, value, group })
}

fn figure(text: &str) -> Result<Figure, String> {
    match text {
        "count" => return Ok(Figure::Count),
        "errors" => return Ok(Figure::Errors),
        "rate" => return Ok(Figure::Rate),
        _ => {}
    }
    let expected = "expected count, errors, rate, or p50, p90, p99, p99.9, max or mean of a time: total, queue_wait, service or delivery, as in p99(total)";
    let (name, time) = text.strip_suffix(')').and_then(|text| text.split_once('(')).ok_or(expected)?;
    let time = Time::ALL.into_iter().find(|known| known.name() == time.trim()).ok_or(expected)?;
    match name.trim() {
        "max" => Ok(Figure::Max(time)),
        "mean" => Ok(Figure::Mean(time)),
        name => {
            let percentile = Percentile::ALL.into_iter().find(|known| known.name() == name).ok_or(expected)?;
            Ok(Figure::Percentile(percentile, time))
        }
    }
}

fn value(text: &str, figure: Figure) -> Result<Value, String> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    // Only digits and points: no infinities.
    let number: f64 = digits.parse().map_err(|_| "expected a number, as in 1.2x, 5ms or 100".to_owned())?;
    match (unit.trim(), figure.is_time()) {
        ("x", _) => Ok(Value::Times(number)),
        ("", false) => Ok(Value::Absolute(number)),
        ("", true) => Err("expected a factor or a time, as in 1.2x or 5ms".to_owned()),
        (unit, true) => {
            let (_, size) = UNITS.iter().find(|(name, _)| *name == unit).ok_or("the units are x, ns, us, ms and s")?;
            Ok(Value::Absolute(number * size))
        }
        (_, false) => Err("this figure is a number: only the unit x is possible".to_owned()),
    }
}

fn group(text: &str) -> Result<Group, String> {
    let (kind, name) = text.split_once(' ').map_or((text, None), |(kind, name)| (kind, Some(name.trim())));
    let by = By::ALL.into_iter().find(|by| by.name() == kind);
    let by = by.ok_or("the groups are command, tag, function and resource, as in: of command READ")?;
    // The file driver's commands also in small letters and by number.
    let command = name.filter(|_| by == By::Command).and_then(|name| names::command(name).ok());
    let pattern = |name: &str| match command {
        Some(number) => Glob::from(&*command_name(number)),
        None => Glob::from(name),
    };
    Ok(Group { by, name: name.map(|name| Name { text: name.to_owned(), pattern: pattern(name) }) })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_part_of_the_grammar() {
        let named = |text: &str, pattern: &str| Some(Name { text: text.to_owned(), pattern: Glob::from(pattern) });
        let parsed = parse("p99(queue_wait) > 1.2x").unwrap();
        assert_eq!(parsed.figure, Figure::Percentile(Percentile::P99, Time::QueueWait));
        assert_eq!((parsed.comparison, parsed.value, parsed.group), (Comparison::More, Value::Times(1.2), None));
        let parsed = parse(" p99.9 ( total )>=5 ms of command read ").unwrap();
        assert_eq!(parsed.figure, Figure::Percentile(Percentile::P999, Time::Total));
        assert_eq!((parsed.comparison, parsed.value), (Comparison::AtLeast, Value::Absolute(5e6)));
        assert_eq!(parsed.group, Some(Group { by: By::Command, name: named("read", "READ") }));
        let parsed = parse("errors != 0 of tag letter of *").unwrap();
        assert_eq!((parsed.figure, parsed.comparison), (Figure::Errors, Comparison::Different));
        assert_eq!(parsed.group, Some(Group { by: By::Tag, name: named("letter of *", "letter of *") }));
        let group = |text: &str| parse(text).unwrap().group.unwrap().name.unwrap().pattern;
        assert_eq!(group("count > 1 of command 12"), Glob::from("RENAME"));
        assert_eq!(group("count > 1 of command dns_drv 2"), Glob::from("dns_drv 2"));
        assert_eq!(parse("count == 1x of function").unwrap().group, Some(Group { by: By::Function, name: None }));
        for (text, value) in [
            ("max(service)<3ns", 3.0),
            ("mean(delivery) <= .5us", 500.0),
            ("max(total) > 1\u{b5}s", 1e3),
            ("p50(total) < 2s", 2e9),
        ] {
            assert_eq!(parse(text).unwrap().value, Value::Absolute(value), "{text}");
        }
        assert_eq!(parse("rate < 0.9x").unwrap().value, Value::Times(0.9));
    }

    #[test]
    fn wrong_conditions_say_what_is_expected() {
        for (text, expected) in [
            ("", "expected a comparison"),
            ("p99(total)", "expected a comparison"),
            ("p99(total) = 1x", "the comparisons are"),
            ("p98(total) > 1x", "p50, p90"),
            ("p99 > 1x", "p50, p90"),
            ("p99(waiting) > 1x", "queue_wait"),
            ("p99(total) > 5", "1.2x or 5ms"),
            ("p99(total) > 5 minutes", "the units are"),
            ("p99(total) == 1x", "count and errors"),
            ("count > 5ms", "only the unit x"),
            ("count > inf", "expected a number"),
            ("count > 1.2.3", "expected a number"),
            ("count > -1", "expected a number"),
            ("count > 1 of process 3", "the groups are"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = parse(&text);
        }

        #[test]
        fn parts_in_any_order_are_read_or_refused(parts in prop::collection::vec(prop::sample::select(vec![
            "p50", "p99.9", "max", "mean", "count", "errors", "rate", "(", ")", "total", "queue_wait", ">", ">=", "==", "!", "<", "1.2", "x",
            "ms", "\u{b5}s", "of", " of ", "command", "tag", "READ", "*", " ", "9999999999999999999999999", ".", "\u{e4}",
        ]), 0..12)) {
            if let Ok(condition) = parse(&parts.concat()) {
                prop_assert_eq!(condition.text, parts.concat());
                let (Value::Times(number) | Value::Absolute(number)) = condition.value;
                prop_assert!(number >= 0.0 && number.is_finite());
            }
        }
    }
}
