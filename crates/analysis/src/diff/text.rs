//! The comparison as tables for a terminal.

use anstyle::{AnsiColor, Style};
use dyntrace_terminal::columns::aligned;
use dyntrace_terminal::escape;

use super::compare::{Change, Compared, Diff, Pair, State, Table};
use super::condition::Checked;
use super::confidence::{self, Estimate};
use super::figure::Percentile;
use super::groups::By;
use super::side::Side;
use crate::figures::Row;
use crate::report::format::duration;

/// The most rows of a table, unless all are asked for.
const ROWS: usize = 20;

pub fn text(diff: &Diff, shows_all: bool) -> String {
    let mut blocks = vec![format!("{}{}", side("A", &diff.a, &diff.all.a), side("B", &diff.b, &diff.all.b))];
    blocks.extend(diff.tables.iter().map(|each| table(each, shows_all)));
    blocks.join("\n")
}

fn side(letter: &str, side: &Side, all: &Option<Row>) -> String {
    let count = all.as_ref().map_or(0, |row| row.count);
    let rate = side.rate(count).map(|rate| format!(", {rate:.0} in a second")).unwrap_or_default();
    let length = duration(side.length.try_into().unwrap_or(i64::MAX));
    let mut text = format!("{letter}  {}: {count} operations in {length}{rate}\n", side.name);
    let warning = colour(AnsiColor::Yellow);
    for gap in side.gaps() {
        text += &format!("   {warning}{gap}{warning:#}\n");
    }
    text
}

fn table(Table { by, pairs }: &Table, shows_all: bool) -> String {
    let shown = if shows_all || pairs.len() <= ROWS { pairs.len() } else { ROWS };
    let title = by.name().to_uppercase();
    let head = ["COUNT A", "B", "ERRORS A", "B", "P50 A", "B", "P99 A", "B", ""];
    let mut cells = vec![head.iter().map(|title| (*title).to_owned()).chain([title]).collect::<Vec<_>>()];
    cells.extend(pairs[..shown].iter().map(|pair| row(pair, *by)));
    let mut lines = aligned(&cells, |column| column < head.len() - 1).into_iter();
    let bold = Style::new().bold();
    let mut text = lines.next().map(|line| format!("{bold}{line}{bold:#}\n")).unwrap_or_default();
    for (line, pair) in lines.zip(pairs) {
        let style = match pair.state() {
            State::New => bold,
            State::Gone => Style::new().dimmed(),
            State::Both => Style::new(),
        };
        text += &format!("{style}{line}{style:#}\n");
        let shown: Vec<&Change> = if shows_all { pair.changes.iter().collect() } else { farthest(&pair.changes) };
        shown.iter().for_each(|change| text += &line_of(change));
        if pair.changes.len() > shown.len() {
            text += &format!("         and {} more\n", pair.changes.len() - shown.len());
        }
    }
    let hidden = &pairs[shown..];
    if !hidden.is_empty() {
        let differ = hidden.iter().filter(|pair| pair.differs()).count();
        text += &format!("and {} more, of which {differ} differ: --all shows all\n", hidden.len());
    }
    text
}

fn row(pair: &Pair, by: By) -> Vec<String> {
    let of = |value: &dyn Fn(&Row) -> Option<String>| {
        [&pair.a, &pair.b].map(|row| row.as_ref().and_then(value).unwrap_or_else(|| "-".to_owned()))
    };
    let at = |percentile: Percentile| {
        let part = percentile.part();
        of(&|row| confidence::percentile(&row.total, part).map(|estimate| time(estimate.value)))
    };
    let state = match pair.state() {
        State::New => "new",
        State::Gone => "gone",
        State::Both if pair.changes.is_empty() => "",
        State::Both => "differs",
    };
    let (count, errors) = (of(&|row| Some(row.count.to_string())), of(&|row| Some(row.errors.to_string())));
    let times = [at(Percentile::P50), at(Percentile::P99)].concat();
    [count.to_vec(), errors.to_vec(), times, vec![state.to_owned(), name(pair.name.as_deref(), by)]].concat()
}

/// The name of a group.
pub fn name(name: Option<&[u8]>, by: By) -> String {
    match name {
        None => "(others)".to_owned(),
        Some(b"") => format!("(no {})", by.name()),
        Some(name) => escape::name(name),
    }
}

/// The farthest change of each time, and that of errors.
fn farthest(changes: &[Change]) -> Vec<&Change> {
    let time = |change: &Change| match change.of {
        Compared::Percentile(_, time) => Some(time),
        Compared::Errors => None,
    };
    let is_first = |(at, change): &(usize, &Change)| !changes[..*at].iter().any(|other| time(other) == time(change));
    changes.iter().enumerate().filter(is_first).map(|(_, change)| change).collect()
}

fn line_of(change: &Change) -> String {
    let (a, b) = (interval(change.of, &change.a), interval(change.of, &change.b));
    let style = colour(if change.apart > 0.0 { AnsiColor::Red } else { AnsiColor::Green });
    format!("         {style}{}: {a} -> {b}{}{style:#}\n", figure(change.of), ratio(change))
}

/// The name of a figure that differs.
pub fn figure(compared: Compared) -> String {
    match compared {
        Compared::Percentile(percentile, time) => format!("{}({})", percentile.name(), time.name()),
        Compared::Errors => "errors".to_owned(),
    }
}

/// An estimate and its interval: `10.1 µs (10.0 µs to 10.4 µs)`.
pub fn interval(compared: Compared, estimate: &Estimate) -> String {
    match compared {
        Compared::Percentile(..) => interval_of(estimate, time),
        Compared::Errors => interval_of(estimate, |share| format!("{:.2} %", share * 100.0)),
    }
}

fn interval_of(estimate: &Estimate, show: fn(f64) -> String) -> String {
    let low = estimate.low.map_or_else(|| "?".to_owned(), show);
    let high = estimate.high.map_or_else(|| "?".to_owned(), show);
    format!("{} ({low} to {high})", show(estimate.value))
}

/// The ratio of the estimates, if there is one: `, 2.3x`.
pub fn ratio(change: &Change) -> String {
    if change.a.value > 0.0 { format!(", {:.2}x", change.b.value / change.a.value) } else { String::new() }
}

/// The figures that decided a condition: `: 10.1 µs (10.0 µs to 10.4 µs) -> 23.0 µs (22.1 µs to 24.0 µs) in READ, and 2 more groups`.
pub fn of_groups(checked: &Checked<'_>) -> String {
    let Some(first) = checked.groups.first() else { return String::new() };
    let value = |estimate: &Option<Estimate>| match estimate {
        None => "no value".to_owned(),
        Some(Estimate { value, .. }) if !checked.is_time => {
            format!("{:.3}", value).trim_end_matches(['0']).trim_end_matches('.').to_owned()
        }
        Some(estimate) => interval_of(estimate, time),
    };
    let name = first.name.map(|name| format!(" in {}", escape::name(name))).unwrap_or_default();
    let more = match checked.groups.len() - 1 {
        0 => String::new(),
        1 => ", and 1 more group".to_owned(),
        more => format!(", and {more} more groups"),
    };
    format!(": {} -> {}{name}{more}", value(&first.a), value(&first.b))
}

pub fn time(nanoseconds: f64) -> String {
    duration(nanoseconds as i64)
}

fn colour(colour: AnsiColor) -> Style {
    Style::new().fg_color(Some(colour.into()))
}
