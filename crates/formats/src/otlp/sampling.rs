//! Which operations become spans.

use std::convert::Infallible;

use dyntrace_analysis::view::time;
use dyntrace_reader::{FileOperation, Selection};

use super::ids::TraceId;

/// The user's rules.
#[derive(Clone, clap::Args)]
#[command(
    next_help_heading = "Which operations become spans of OTLP: those for which one of these holds; without any, all"
)]
pub struct Sampling {
    /// It took at least this time: 10ms
    #[arg(long, value_name = "TIME", value_parser = time::duration)]
    slow: Option<i64>,
    /// It failed
    #[arg(long)]
    failed: bool,
    /// Its user tag matches
    #[arg(long, value_name = "GLOB", value_parser = tag)]
    tag: Option<Selection>,
    /// It belongs to one trace in N: whole traces are kept, and the same ones each time
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    one_in: Option<u64>,
}

impl Sampling {
    /// Whether there is a rule.
    pub fn is_given(&self) -> bool {
        self.slow.is_some() || self.failed || self.tag.is_some() || self.one_in.is_some()
    }

    /// Whether the operation becomes a span. One in flight has taken the time until `end`.
    pub(super) fn keep(&self, operation: &FileOperation<'_>, end: i64, trace: TraceId) -> bool {
        let took = operation.duration().unwrap_or_else(|| end.saturating_sub(operation.entered));
        !self.is_given()
            || self.slow.is_some_and(|slow| took >= slow)
            || self.failed && operation.completion.is_some_and(|answer| !answer.success)
            || self.tag.as_ref().is_some_and(|tag| tag.matches_tag(operation.request.user_tag))
            // The low half: ids of others may have a time in the high one.
            || self.one_in.is_some_and(|n| (trace.0 as u64).is_multiple_of(n))
    }
}

fn tag(glob: &str) -> Result<Selection, Infallible> {
    Ok(Selection::new().tag(glob))
}
