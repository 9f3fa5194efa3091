//! The picture of each answer that tells more by one.

use maud::{Markup, html};

use super::chart::{self, Bar, Dots, Span, name};
use super::format::{count, duration};
use super::rows::{Cell, Rows};

/// The most rows of a picture: more do not fit a screen, and the table has them.
const DRAWN: usize = 20;

pub fn errors(rows: &Rows) -> Markup {
    let bar = |row: &[Cell]| {
        let (failed, hosts) = (rows.integer(row, "failed"), rows.integer(row, "hosts"));
        let hosts = format!("{} {}", count(hosts), if hosts == 1 { "host" } else { "hosts" });
        let parts =
            [rows.text(row, "command_name"), rows.text(row, "failure"), rows.text(row, "prefix").or(Some("no path"))];
        Bar { name: name(&parts), value: failed as f64, shown: format!("{} on {hosts}", count(failed)) }
    };
    bars("Failed operations", rows, bar, None)
}

pub fn hosts(rows: &Rows) -> Markup {
    dots(
        "Durations of the hosts' operations",
        rows,
        ["hostname", ""],
        [("median", "p50_ms"), ("99th percentile", "p99_ms")],
    )
}

pub fn slowest(rows: &Rows) -> Markup {
    let bar = |row: &[Cell]| {
        let took = rows.number(row, "took_ms").map(|took| took * 1e6);
        let shown = took.map_or("not answered".to_owned(), duration);
        Bar { name: name(&[rows.text(row, "user_tag"), rows.text(row, "hostname")]), value: took.unwrap_or(0.0), shown }
    };
    bars("Durations of the slowest requests", rows, bar, None)
}

pub fn hops(rows: &Rows) -> Markup {
    let span = |row: &Vec<Cell>| {
        let length = rows.number(row, "took_ms")? * 1e6;
        let Cell::Integer(begin) = *rows.cell(row, "begin_ns") else { return None };
        Some((name(&[rows.text(row, "hostname"), rows.text(row, "process")]), begin, length))
    };
    let found: Vec<_> = rows.rows.iter().take(DRAWN).filter_map(span).collect();
    // The nanoseconds since 1970 are more than a double holds.
    let first = found.iter().map(|(_, begin, _)| *begin).min().unwrap_or(0);
    let spans = found.into_iter().map(|(name, begin, length)| Span {
        name,
        begin: (begin - first) as f64,
        length,
        shown: duration(length),
    });
    let spans: Vec<_> = spans.collect();
    html! { @if !spans.is_empty() { (chart::spans("When each process worked", &spans)) (more(rows)) } }
}

pub fn unlike(rows: &Rows) -> Markup {
    let bar = |row: &[Cell]| {
        let distance = rows.number(row, "distance").unwrap_or(0.0);
        let parts = [rows.text(row, "command_name"), rows.text(row, "hostname")];
        Bar { name: name(&parts), value: distance, shown: format!("{distance:.2}") }
    };
    bars("Distances from the other hosts, of 1", rows, bar, Some(1.0))
}

pub fn messages(rows: &Rows) -> Markup {
    dots("Times of messages", rows, ["from_host", "to_host"], [("median", "median_ms"), ("longest", "most_ms")])
}

pub fn changed(rows: &Rows) -> Markup {
    dots(
        "99th percentiles of both versions",
        rows,
        ["command_name", ""],
        [("99th percentile of the old version", "old_p99_ms"), ("of the new one", "new_p99_ms")],
    )
}

fn bars(label: &str, rows: &Rows, bar: impl Fn(&[Cell]) -> Bar, most: Option<f64>) -> Markup {
    let bars: Vec<_> = rows.rows.iter().take(DRAWN).map(|row| bar(row)).collect();
    let longest = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    html! { (chart::bars(label, &bars, most.unwrap_or(longest))) (more(rows)) }
}

fn dots(label: &str, rows: &Rows, names: [&str; 2], [first, second]: [(&str, &str); 2]) -> Markup {
    let dots = rows.rows.iter().take(DRAWN).map(|row| Dots {
        name: name(&names.map(|column| rows.text(row, column))),
        times: [first.1, second.1].map(|column| rows.number(row, column).map(|time| time * 1e6)),
    });
    html! { (chart::dots(label, [first.0, second.0], &dots.collect::<Vec<_>>())) (more(rows)) }
}

fn more(rows: &Rows) -> Markup {
    html! { @if rows.rows.len() > DRAWN { p { "The picture has the first " (DRAWN) " rows of the answer." } } }
}
