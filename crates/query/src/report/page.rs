//! The page: one HTML file that loads nothing and runs nothing.

use std::path::Path;

use dyntrace_terminal::escape;
use dyntrace_terminal::page::{self, fact};
use maud::{Markup, html};

use super::format::{self, count, duration, moment};
use super::losses::Losses;
use super::questions::Question;
use super::rows::Rows;
use super::table::table;
use super::totals::Totals;
use crate::exit::Failure;

/// Asks what is missing for which reason.
pub const REASONS: &str = include_str!("reasons.sql");

const STYLE: &str = include_str!("page.css");

/// The answer to a question.
pub enum Answer {
    /// Rows, and the number of all, also of those beyond the limit of the query.
    Rows(Rows, u64),
    /// Why there are none.
    Nothing(String),
    Failed(Failure),
}

impl Answer {
    pub fn of(question: &Question, rows: Rows, all: u64) -> Answer {
        let lacks = |column| question.id == "changed" && rows.sum(column) == 0;
        if rows.rows.is_empty() {
            Answer::Nothing(question.nothing.to_owned())
        } else if lacks("new_operations") || lacks("old_operations") {
            let version = if lacks("new_operations") { "new" } else { "old" };
            Answer::Nothing(format!(
                "There is nothing to compare: no operation is of the {version} version. --new says which operations are of the new one, \
                 by a condition such as \"program = 'server-2'\" or \"date >= '2026-11-26'\"."
            ))
        } else {
            Answer::Rows(rows, all)
        }
    }
}

/// A question, and what it got.
pub struct Section {
    pub question: &'static Question,
    /// The query that was asked.
    pub sql: String,
    pub note: Option<String>,
    pub answer: Answer,
}

impl Section {
    /// Returns the user tag of the slowest request, if this is the section that has it.
    pub fn slowest_tag(&self) -> Option<&str> {
        match &self.answer {
            Answer::Rows(rows, _) if self.question.id == "slowest" => rows.text(rows.rows.first()?, "user_tag"),
            _ => None,
        }
    }
}

/// Returns the whole page.
pub fn page(folder: &Path, totals: &Totals, losses: &Losses, reasons: &Rows, sections: &[Section]) -> String {
    let name = escape::name(folder.file_name().unwrap_or(folder.as_os_str()).as_encoded_bytes());
    let title = if losses.heading().is_some() { format!("{name}, incomplete") } else { name.clone() };
    let body = html! {
        header {
            h1 { (name) }
            (facts(totals))
            (lost(losses, reasons))
            (unanswered(sections))
            nav aria-label="Questions" {
                ul { @for section in sections { li { a href={ "#" (section.question.id) } { (section.question.title) } } } }
            }
        }
        main { @for section in sections { (whole(section, losses)) } }
        footer { p { "Made by dyntrace-query " (env!("CARGO_PKG_VERSION")) " of " (escape::path(folder)) ". Times are UTC." } }
    };
    page::page(&title, STYLE, &body)
}

fn facts(totals: &Totals) -> Markup {
    let rows_of = |table| totals.rows_of(table).unwrap_or(0);
    let (empty, unreadable) = (totals.with(Some(0)), totals.with(None));
    html! {
        ul .facts {
            (fact(if totals.hosts == 1 { "host" } else { "hosts" }, count(totals.hosts)))
            @if let Some((first, last)) = totals.span {
                (fact("begin, UTC", moment(first)))
                (fact("end, UTC", moment(last)))
                (fact("length", duration((last - first) as f64)))
            }
            (fact("operations", count(rows_of("operations"))))
            (fact("failed", count(totals.failed)))
            (fact("unanswered", count(totals.unanswered)))
            (fact("events", count(rows_of("events"))))
        }
        @if !empty.is_empty() { p { "Tables without rows: " (empty.join(", ")) "." } }
        @if !unreadable.is_empty() { p .bad { "Tables that cannot be read: " b { (unreadable.join(", ")) } "." } }
    }
}

/// The losses, before all answers.
fn lost(losses: &Losses, reasons: &Rows) -> Markup {
    html! {
        section #lost .bad[losses.heading().is_some()] aria-label="Losses" {
            @if let Some(heading) = losses.heading() {
                h2 { (heading) }
                ul { @for line in losses.lines() { li { (line) } } }
                @if reasons.count > 0 {
                    details {
                        summary { "Why" }
                        (table("Losses by reason", reasons, reasons.count))
                    }
                }
            } @else { p { "Nothing was lost, as far as the recordings tell." } }
        }
    }
}

/// Shown beside each answer, as a link may lead to it.
fn part(losses: &Losses) -> Markup {
    html! { @if let Some(heading) = losses.heading() { p .bad { a href="#lost" { (heading) } "." } } }
}

fn unanswered(sections: &[Section]) -> Markup {
    let failed = sections.iter().filter(|section| matches!(section.answer, Answer::Failed(_))).count();
    html! { @if failed > 0 { p .bad { b { (failed) " of " (sections.len()) " questions have no answer." } " Their sections say why." } } }
}

fn whole(section: &Section, losses: &Losses) -> Markup {
    let question = section.question;
    html! {
        section #(question.id) aria-labelledby={ "title-" (question.id) } {
            h2 #{ "title-" (question.id) } { (question.title) }
            p { (question.reading) }
            @if let Some(note) = &section.note { p { (note) } }
            @match &section.answer {
                Answer::Rows(rows, all) => {
                    (part(losses))
                    ((question.picture)(rows))
                    (table(question.title, rows, *all))
                }
                Answer::Nothing(why) => {
                    p .nothing { (why) }
                    (part(losses))
                }
                Answer::Failed(failure) => p .bad { b { "No answer: " } (format::text(&format!("{:#}", failure.error))) }
            }
            details {
                summary { "SQL" }
                // A keyboard scrolls what can have the focus.
                pre tabindex="0" { code { (escape::lines(&section.sql)) } }
            }
        }
    }
}
