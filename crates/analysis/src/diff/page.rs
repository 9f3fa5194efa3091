//! The comparison as an HTML page, in the style of the report's.

use dyntrace_terminal::escape;
use dyntrace_terminal::page::fact;
use indicatif::{HumanBytes, HumanCount};
use maud::{Markup, html};

use super::compare::{Change, Diff, Pair, State, Table};
use super::condition::{Checked, Verdict};
use super::confidence;
use super::figure::{Percentile, Time};
use super::side::Side;
use super::text::{figure, interval, name, of_groups, ratio, time};
use crate::figures::Row;
use crate::report::format::duration;
use crate::report::page::{lost, shell};

/// The percentiles in the tables.
const SHOWN: [Percentile; 2] = [Percentile::P50, Percentile::P99];
/// The times in the tables.
const TIMES: [Time; 3] = [Time::Total, Time::QueueWait, Time::Service];

pub fn page(diff: &Diff, checked: &[Checked<'_>]) -> String {
    let title = format!("{} and {}", diff.a.name, diff.b.name);
    let body = html! {
        h1 { "Differences of " (title) }
        (side("A", &diff.a, &diff.all.a))
        (side("B", &diff.b, &diff.all.b))
        @if !checked.is_empty() {
            h2 { "Conditions" }
            ul { @for checked in checked { (condition(checked)) } }
        }
        p { "Values of A are before those of B. A figure differs if its 95 % confidence intervals in A and B do not overlap. The rows "
            "that differ most come first." }
        @for each in &diff.tables { (table(each)) }
    };
    shell(&title, body)
}

fn side(letter: &str, side: &Side, all: &Option<Row>) -> Markup {
    let count = all.as_ref().map_or(0, |row| row.count);
    let length = duration(side.length.try_into().unwrap_or(i64::MAX));
    html! {
        h2 { (letter) ": " (side.name) }
        ul .facts {
            (fact("length", length))
            (fact("events", HumanCount(side.events)))
            (fact("operations", HumanCount(count)))
            @if let Some(rate) = side.rate(count) { (fact("in a second", HumanCount(rate as u64))) }
            (fact("failed", HumanCount(all.as_ref().map_or(0, |row| row.errors))))
        }
        (lost(&side.losses))
        @if side.unmatched + side.given_up + side.unanswered > 0 {
            p { @for gap in side.gaps() { (gap) ". " } }
        }
    }
}

fn condition(checked: &Checked<'_>) -> Markup {
    html! {
        li { b .bad[checked.verdict == Verdict::Met] { (checked.verdict.name()) } ": " (escape::name(checked.text)) (of_groups(checked)) }
    }
}

fn table(Table { by, pairs }: &Table) -> Markup {
    html! {
        h2 { "By " (by.name()) }
        div .wide { table {
            thead {
                tr {
                    th rowspan="2" { (by.name()) } th colspan="2" { "count" } th colspan="2" { "errors" } th colspan="2" { "bytes" }
                    @for each in TIMES { @for percentile in SHOWN { th colspan="2" { (percentile.name()) " " (each.name()) } } }
                    th rowspan="2" .name { "differs" }
                }
                tr { @for _ in 0..3 + TIMES.len() * SHOWN.len() { th { "A" } th { "B" } } }
            }
            tbody {
                @for pair in pairs {
                    tr {
                        th scope="row" { (name(pair.name.as_deref(), *by)) }
                        (figures(pair))
                        td .text { (differences(pair)) }
                    }
                }
            }
        } }
    }
}

fn figures(pair: &Pair) -> Markup {
    let of = |value: &dyn Fn(&Row) -> Option<String>| {
        html! { @for row in [&pair.a, &pair.b] { td { @if let Some(value) = row.as_ref().and_then(value) { (value) } } } }
    };
    html! {
        (of(&|row| Some(HumanCount(row.count).to_string())))
        (of(&|row| Some(HumanCount(row.errors).to_string())))
        (of(&|row| (row.bytes > 0).then(|| HumanBytes(row.bytes).to_string())))
        @for each in TIMES {
            @for percentile in SHOWN {
                (of(&|row| confidence::percentile(each.of(row), percentile.part()).map(|estimate| time(estimate.value))))
            }
        }
    }
}

fn differences(pair: &Pair) -> Markup {
    let line = |change: &Change| {
        let class = if change.apart > 0.0 { "bad" } else { "good" };
        let (a, b) = (interval(change.of, &change.a), interval(change.of, &change.b));
        html! { div class=(class) { (figure(change.of)) ": " (a) " → " (b) (ratio(change)) } }
    };
    html! {
        @match pair.state() {
            State::New => b { "new" },
            State::Gone => b { "gone" },
            State::Both => @for change in &pair.changes { (line(change)) },
        }
    }
}
