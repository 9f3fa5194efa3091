//! The table of an answer.

use maud::{Markup, html};

use super::format;
use super::rows::{Cell, Rows};

/// The most rows of a table.
const SHOWN: usize = 50;

/// Columns of which anything above 0 is bad.
const BAD: [&str; 7] = ["failed", "unanswered", "lost", "damaged", "not_joined", "skipped_bytes", "new_failed"];

/// The first rows of an answer that has this number of rows. A page on a phone scrolls the table, not itself.
pub fn table(label: &str, rows: &Rows, all: u64) -> Markup {
    let is_text = |column: usize| rows.rows.iter().any(|row| matches!(row[column], Cell::Text(_)));
    let is_text: Vec<bool> = (0..rows.columns.len()).map(is_text).collect();
    let is_bad = |column: usize, cell: &Cell| {
        BAD.contains(&&*rows.columns[column]) && matches!(*cell, Cell::Integer(value) if value > 0)
    };
    html! {
        div .wide role="region" tabindex="0" aria-label={ "Table: " (label) } { table {
            thead { tr { @for (index, column) in rows.columns.iter().enumerate() {
                th scope="col" .name[index == 0 || is_text[index]] { (format::heading(column)) }
            } } }
            tbody { @for row in rows.rows.iter().take(SHOWN) {
                tr { @for (index, cell) in row.iter().enumerate() {
                    @let shown = format::cell(&rows.columns[index], cell);
                    @if index == 0 { th .name scope="row" { span { (shown) } } }
                    @else if is_text[index] { td .name { span { (shown) } } }
                    @else { td .bad[is_bad(index, cell)] { (shown) } }
                } }
            } }
        } }
        p { (format::count(rows.rows.len().min(SHOWN) as i128)) " of " (format::count(all.into())) " rows." }
    }
}
