//! `--report`: answers to the questions of a fleet as one HTML page.

mod access;
mod chart;
mod format;
mod losses;
mod page;
mod pictures;
mod place;
mod questions;
mod rows;
mod table;
mod totals;

use std::path::Path;

use anyhow::{Context as _, anyhow};

use crate::answer::{Session, Usage};
use crate::columns;
use crate::exit::{self, Failure};

use losses::Losses;
use page::{Answer, Section};
use place::PagePlace;
use questions::Question;
use rows::Rows;
use totals::Totals;

/// The subject of the page, and its place.
pub struct Options<'a> {
    pub folder: &'a Path,
    pub page: &'a Path,
    /// The tag of which the hops are shown, instead of that of the slowest request.
    pub tag: Option<&'a str>,
    /// The SQL condition for operations of a new version.
    pub new: Option<&'a str>,
}

/// The result of a report, for people that do not look at the page, and scripts.
pub struct ReportResult {
    pub usage: Usage,
    /// Losses, and questions without an answer.
    pub lines: Vec<String>,
    pub status: u8,
}

/// Writes the page.
pub async fn report(session: Session, options: &Options<'_>) -> Result<ReportResult, Failure> {
    let place = PagePlace::new(options.page)?;
    let asked = Asked { session, options };
    let kinds = asked.rows(Losses::SQL).await?;
    let totals = asked.totals().await?;
    let losses = Losses::new(kinds, asked.hosts_without_losses());
    let sections = asked.sections(&totals).await?;
    let reasons = asked.rows(page::REASONS).await?;
    let name = options.folder.canonicalize().unwrap_or_else(|_| options.folder.to_owned());
    let page = page::page(&name, &totals, &losses, &reasons, &sections);
    place.write(&page, access::mode(options.folder))?;
    let failed = sections.iter().filter_map(|section| match &section.answer {
        Answer::Failed(failure) => Some((section.question, failure)),
        _ => None,
    });
    let unanswered =
        failed.clone().map(|(question, failure)| format!("{} has no answer: {:#}", question.id, failure.error));
    let status = failed.clone().map(|(_, failure)| failure.status).next();
    Ok(ReportResult {
        usage: asked.session.usage(),
        lines: losses.lines().into_iter().chain(unanswered).collect(),
        status: status.unwrap_or_else(|| losses.status()),
    })
}

/// The data set, and what is asked about it.
struct Asked<'a> {
    session: Session,
    options: &'a Options<'a>,
}

impl Asked<'_> {
    async fn rows(&self, sql: &str) -> Result<Rows, Failure> {
        Rows::read(self.session.ask(sql).await?).await
    }

    /// Returns the hosts of which the table of losses has no file, not even one without rows.
    fn hosts_without_losses(&self) -> Vec<String> {
        let [operations, events, losses] = ["operations", "events", "losses"].map(|table| self.session.hosts(table));
        operations.union(&events).filter(|host| !losses.contains(*host)).cloned().collect()
    }

    async fn totals(&self) -> Result<Totals, Failure> {
        let mut tables = Vec::new();
        for table in columns::tables() {
            // The sections of the questions that read it have the failure.
            tables.push((table, self.rows(&totals::of_table(table)).await.ok()));
        }
        Ok(Totals::new(&tables, &self.rows(totals::SQL).await?))
    }

    async fn sections(&self, totals: &Totals) -> Result<Vec<Section>, Failure> {
        let mut sections: Vec<Section> = Vec::new();
        for question in &questions::ALL {
            let slowest = sections.iter().find_map(Section::slowest_tag);
            let tag = self.options.tag.or(slowest);
            let sql = question.sql(tag, self.options.new);
            let is_without_tag = question.id == "hops" && tag.is_none();
            let answer = if totals.rows_of(question.table) == Some(0) && question.id != "losses" {
                Answer::Nothing(format!("The table {} of this data set has no rows.", question.table))
            } else if is_without_tag {
                Answer::Nothing("No operation has a user tag.".to_owned())
            } else {
                self.answer(question, &sql).await?
            };
            let note = note(question, tag, self.options, totals);
            sections.push(Section { question, sql, note, answer });
        }
        Ok(sections)
    }

    /// Asks a question. A failure has its place in the page, unless it is that of a condition of the user.
    async fn answer(&self, question: &Question, sql: &str) -> Result<Answer, Failure> {
        let asked = async {
            let rows = self.rows(sql).await?;
            let all = match questions::limit(sql) {
                Some((limit, unlimited)) if rows.count == limit => self.count(unlimited).await?,
                _ => rows.count,
            };
            Ok(Answer::of(question, rows, all))
        };
        match asked.await {
            Ok(answer) => Ok(answer),
            Err(Failure { status: exit::USAGE, error }) if question.id == "changed" && self.options.new.is_some() => {
                Err(Failure::new(exit::USAGE, error.context("cannot use the condition of --new")))
            }
            Err(failure) => Ok(Answer::Failed(failure)),
        }
    }

    async fn count(&self, sql: &str) -> Result<u64, Failure> {
        let rows = self.rows(&format!("SELECT count(*) AS rows FROM (\n{sql}\n) AS answer")).await?;
        let row = rows.rows.first().with_context(|| anyhow!("the engine does not count"))?;
        Ok(u64::try_from(rows.integer(row, "rows")).context("the engine does not count")?)
    }
}

/// Returns what a reader must know of this answer beside how it is read.
fn note(question: &Question, tag: Option<&str>, options: &Options<'_>, totals: &Totals) -> Option<String> {
    let tag = tag.filter(|_| question.id == "hops").map(|tag| match options.tag {
        Some(_) => format!("The user tag is {}.", format::text(tag)),
        None => format!("The user tag is {}, that of the slowest request: --tag chooses another.", format::text(tag)),
    });
    let clocks = (question.is_across_clocks && totals.rows_of("clocks") == Some(0) && totals.hosts > 1)
        .then(|| "The clocks of the hosts are not aligned: run dyntrace clocks on the data set first.".to_owned());
    let condition = (question.id == "changed").then(|| match options.new {
        Some(new) => format!("Operations of the new version are those for which {}.", format::text(new)),
        None => format!(
            "Operations of the new version are those for which {}: --new says another condition.",
            questions::NEW
        ),
    });
    let notes: Vec<_> = [tag, clocks, condition].into_iter().flatten().collect();
    (!notes.is_empty()).then(|| notes.join(" "))
}
