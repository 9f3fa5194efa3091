//! The page's tables: all locks, jobs and blocking calls that were seen, also those with too little time for a cause.

use std::time::Duration;

use dyntrace_terminal::escape;
use maud::{Markup, html};

use super::causes::{Cause, CauseKind, Causes, Evidence, by_time};
use super::text::{first, functions, own, seconds};

/// Rows of a table.
const ROWS: usize = 20;

/// A column: its name, its class in the style of the page, and the text of each row.
type Column = (&'static str, &'static str, fn(&Cause, &Evidence) -> String);

const RESOURCE: Column = ("of", "text", |cause, _| escape::name(&cause.resource));
const HOLDER: Column = ("held in", "text", |cause, evidence| own(evidence.own(cause)));
const HOLDER_WAITS: Column =
    ("the holder waits for", "text", |_, evidence| first(&evidence.holder_waits, escape::name));
const FUNCTIONS: Column = ("in", "text", |_, evidence| functions(&evidence.victims));
const WAITED: Column = ("waited", "number", |_, evidence| seconds(evidence.time));
const MOST: Column = ("tasks at once", "number", |_, evidence| evidence.most.to_string());
const LONGEST: Column = ("longest", "number", |_, evidence| milliseconds(evidence.longest));
const TIMES: Column = ("seen", "number", |_, evidence| evidence.seen.to_string());

/// Each table: its title, the kinds of causes in it, and its columns.
const TABLES: [(&str, &[CauseKind], &[Column]); 3] = [
    (
        "Locks, by the time for which tasks waited",
        &[CauseKind::Lock, CauseKind::Permits],
        &[WAITED, RESOURCE, HOLDER, HOLDER_WAITS, FUNCTIONS, MOST],
    ),
    (
        "File operations and jobs of the blocking pool",
        &[CauseKind::FileOperation, CauseKind::BlockingJob],
        &[WAITED, RESOURCE, FUNCTIONS, MOST],
    ),
    (
        "Calls and polls that keep threads",
        &[CauseKind::BlockingCall, CauseKind::LongPoll],
        &[WAITED, RESOURCE, FUNCTIONS, LONGEST, TIMES],
    ),
];

/// The tables that have rows.
pub fn tables(causes: &Causes) -> Markup {
    let calls = by_time(&causes.pool);
    html! {
        @for (title, kinds, columns) in TABLES {
            @let rows = causes.of(kinds);
            @if !rows.is_empty() {
                h2 { (title) }
                @let named: Vec<_> = columns.iter().map(|(name, class, _)| (*name, *class)).collect();
                (table(&named, rows.iter().take(ROWS).map(|(cause, evidence)| {
                    columns.iter().map(|(.., text)| text(cause, evidence)).collect()
                })))
                @if rows.len() > ROWS { p { "and " (rows.len() - ROWS) " more" } }
            }
        }
        @if !calls.is_empty() {
            h2 { "Where threads of the blocking pool were" }
            (table(&[("time", "number"), ("call", "text")], calls.iter().take(ROWS).map(|(call, time)| {
                vec![seconds(*time), escape::name(call)]
            })))
        }
    }
}

/// A table. `columns`: the name and the class of each.
fn table(columns: &[(&str, &str)], rows: impl Iterator<Item = Vec<String>>) -> Markup {
    html! {
        .wide {
            table {
                thead { tr { @for (name, class) in columns { th .(class) { (name) } } } }
                tbody { @for row in rows { tr { @for ((_, class), cell) in columns.iter().zip(row) { td .(class) { (cell) } } } } }
            }
        }
    }
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample;
    use super::*;

    #[test]
    fn each_table_has_its_causes() {
        let text = tables(&sample().causes).into_string();
        let rows = [
            "<td class=\"number\">10.0 s</td><td class=\"text\">Mutex</td><td class=\"text\">shop::priced at src/main.rs:28</td>",
            "<td class=\"number\">2.5 s</td><td class=\"text\">Semaphore</td>",
            "<td class=\"number\">5.0 s</td><td class=\"text\">a job of the blocking pool</td>",
            "<td class=\"number\">30.0 ms</td><td class=\"number\">5</td>",
            "<td class=\"number\">4.0 s</td><td class=\"text\">fsync</td>",
        ];
        for row in rows {
            assert!(text.contains(row), "{row}: {text}");
        }
        assert_eq!(text.matches("<table>").count(), 4);
        assert_eq!(tables(&Causes::default()).into_string(), "");
    }
}
