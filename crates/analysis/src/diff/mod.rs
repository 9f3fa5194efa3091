//! `dyntrace diff`: two traces, compared group by group.

mod compare;
mod condition;
mod confidence;
mod figure;
mod groups;
mod json;
mod naming;
mod page;
mod side;
mod text;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use dyntrace_terminal::exit::{self, Failure, Outcome};
use dyntrace_terminal::{escape, private, say, stdout};

use crate::losses;
use compare::compare;
use condition::{Checked, Condition, Verdict, check};
use naming::Naming;
use side::Side;

const HELP: &str = "\
Examples:
  dyntrace diff yesterday today
  dyntrace diff main branch --fail-if 'p99(queue_wait) > 1.2x'
  dyntrace diff main branch --fail-if 'errors > 1x of tag' --fail-if 'p50(service) > 2ms of command READ'
  dyntrace diff main branch --json | jq '.groups[] | select(.state == \"new\")'
  dyntrace diff main branch --html diff.html

A row for each command, user tag, traced function and path, the rows that differ most first; those
whose figures do not differ come last. P50 and P99 are of the whole time, from request to answer.
Below a row are the figures that differ, with their intervals in A and in B.

A percentile's interval contains the true one with a probability of 95 % at least, however the
times are distributed: two of the sorted times, by the binomial distribution. A figure differs if
its intervals in A and B do not overlap. The upper end needs 6 times for p50, 35 for p90, 368 for
p99 and 3688 for p99.9; with fewer it is not known. Percentiles are exact within 1 %.

A condition of --fail-if:
  FIGURE COMPARISON VALUE [of GROUP]

  FIGURE      p50, p90, p99, p99.9, max or mean of a time, as in p99(total): total, queue_wait,
              service (the job itself), delivery (until the task took the answer); or count,
              errors, rate (in a second)
  COMPARISON  > >= < <=, and for count and errors == !=
  VALUE       1.2x: that times the figure in A; or a time with its unit, ns, us, ms or s; or a
              number
  GROUP       command, tag, function or resource, and the name of a row as the table prints it,
              or else a pattern with * and ?. Without a name each group of the kind is checked,
              without a group all operations together

A condition on a percentile is met if it holds for all values of the intervals; if it holds for
the estimates only, it is unsure, which is told and does not fail. A group that A lacks counts as 0
for count, errors and rate; its times cannot be compared.

Exit status:
   0  no condition is met
   1  a condition is met, or the output cannot be written
   2  wrong use, or a condition names a group that neither trace has
   3  events of a trace were lost
   4  a trace is damaged
   5  a trace has no event and no end: it is not known whether events are missing
  66  there is no such trace, or it cannot be read";

/// Compare two traces: counts, errors and times by command, user tag, function and resource
///
/// A is the trace from before, B the one from after. A percentile differs if the confidence intervals in A and in B do not overlap.
/// The rows that differ most come first. User tags and paths that differ in numbers and ids only are one row: req-*.
#[derive(clap::Args)]
#[command(after_long_help = HELP)]
pub struct Arguments {
    /// The trace from before: the folder of a recording, or of one process in it
    #[arg(value_name = "A")]
    before: PathBuf,
    /// The trace from after
    #[arg(value_name = "B")]
    after: PathBuf,
    /// Exit with status 1 if this holds: 'p99(queue_wait) > 1.2x'; can be repeated
    #[arg(long, value_name = "CONDITION", value_parser = condition::parse)]
    fail_if: Vec<Condition>,
    /// Print JSON, an object; docs/formats.md has its fields
    #[arg(long)]
    json: bool,
    /// Write one self-contained HTML page, too; - is standard output, which then has nothing else
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Print all rows: without it, 20 of each table
    #[arg(long)]
    all: bool,
    /// Group user tags and paths that match as one: '/tmp/storm-*/log'; can be repeated, the first match counts
    #[arg(long, value_name = "GLOB")]
    fold: Vec<String>,
    /// Group user tags and paths as they are: without it, numbers and ids in them are *, as in req-*
    #[arg(long)]
    exact_names: bool,
}

pub fn diff(arguments: &Arguments) -> Outcome {
    let naming = Naming::new(&arguments.fold, arguments.exact_names);
    let diff = compare(Side::read(&arguments.before, naming.clone())?, Side::read(&arguments.after, naming)?);
    let checked: Vec<Option<Checked<'_>>> = arguments.fail_if.iter().map(|condition| check(condition, &diff)).collect();
    let unknown = checked.iter().zip(&arguments.fail_if).find(|(checked, _)| checked.is_none());
    let unknown = unknown.map(|(_, condition)| escape::name(&condition.text));
    let checked: Vec<Checked<'_>> = checked.into_iter().flatten().collect();
    if let Some(file) = &arguments.html {
        let page = page::page(&diff, &checked);
        private::replace(file, diff.a.mode & diff.b.mode)
            .and_then(|mut file| file.write_all(page.as_bytes()).and_then(|()| file.finish()))
            .with_context(|| format!("cannot write the page {}", escape::path(file)))?;
    }
    let has_page_alone = arguments.html.as_deref().is_some_and(private::is_stdout);
    if arguments.json && !has_page_alone {
        stdout::write_json(&json::json(&diff, &checked), false)?;
    } else if !has_page_alone {
        stdout::write_coloured(&text::text(&diff, arguments.all))?;
    }
    [&diff.a, &diff.b].into_iter().for_each(|side| losses::say(&side.losses));
    checked.iter().for_each(say);
    if let Some(condition) = unknown {
        let error = anyhow!("--fail-if '{condition}': neither trace has such a group; the names are those of the rows");
        return Err(Failure::new(exit::USAGE, error));
    }
    Ok(status(&diff, &checked))
}

fn status(diff: &compare::Diff, checked: &[Checked<'_>]) -> ExitCode {
    if checked.iter().any(|checked| checked.verdict == Verdict::Met) {
        return ExitCode::FAILURE;
    }
    losses::worst([&diff.a.losses, &diff.b.losses])
}

/// Reports the verdict on standard error.
fn say(checked: &Checked<'_>) {
    let shown = escape::name(checked.text);
    let verdict = checked.verdict.name();
    let groups = text::of_groups(checked);
    let line = format!("{verdict}: {shown}{groups}");
    if checked.verdict == Verdict::Met || checked.verdict == Verdict::Unsure {
        losses::warn(&line);
    } else {
        say!("dyntrace: {line}");
    }
}
