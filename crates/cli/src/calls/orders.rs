//! Orders to a trace that goes on: further patterns, other ones, and their removal.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use dyntrace::recorder::control::ControlError;
use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace::trace::PatternId;
use dyntrace::trace::remote::{self, Which};
use serde_json::json;

use crate::escape;
use crate::exit::{self, Failure, Outcome};
use crate::record::process::{ask, refusal};

use super::arguments::{Actions, Arguments};
use super::count;

/// An order to a trace that goes on.
#[derive(clap::Subcommand)]
pub enum Order {
    /// Show the patterns of the sessions that trace the process, with their numbers
    List,
    /// Set further patterns, all or none
    Add {
        /// Which calls, and of which functions
        #[arg(required = true, value_name = "PATTERN")]
        patterns: Vec<String>,
        /// Trace functions that are loaded later, too
        #[arg(long)]
        later: bool,
        #[command(flatten)]
        actions: Actions,
    },
    /// Put another pattern in the place of one, at one instant; what both count goes on
    Update {
        /// The number of the pattern
        id: PatternId,
        /// The other one
        pattern: String,
        #[command(flatten)]
        actions: Actions,
    },
    /// Remove patterns, all or none; what they have counted stays in the trace's table
    Remove {
        /// The numbers of the patterns
        #[arg(required = true, value_name = "ID")]
        ids: Vec<PatternId>,
    },
    /// Look at the calls of these processes, too; of these only, if all were looked at
    Include {
        /// The processes: one, all that are there now, or all that come from now on
        #[arg(required = true, value_name = "<0.N.0>|existing|new")]
        processes: Vec<Which>,
    },
    /// Look at the calls of these processes no more
    Exclude {
        /// The processes: one, all that are there now, or all that come from now on
        #[arg(required = true, value_name = "<0.N.0>|existing|new")]
        processes: Vec<Which>,
    },
}

impl Order {
    fn action(&self) -> Result<remote::Action, Failure> {
        Ok(match self {
            Order::List => remote::Action::List,
            Order::Add { patterns, later, actions } => {
                remote::Action::Add { patterns: actions.patterns(patterns)?, later: *later }
            }
            Order::Update { id, pattern, actions } => {
                let pattern = actions.patterns(std::slice::from_ref(pattern))?.remove(0);
                remote::Action::Update { id: *id, pattern }
            }
            Order::Remove { ids } => remote::Action::Remove(ids.clone()),
            Order::Include { processes } => remote::Action::Include(processes.clone()),
            Order::Exclude { processes } => remote::Action::Exclude(processes.clone()),
        })
    }
}

/// Has the process carry out the order, and prints what came of it.
pub fn carry_out(arguments: &Arguments, order: &Order) -> Outcome {
    let request = remote::Order { session: arguments.session.clone(), action: order.action()? }.record();
    let patterns = ask(arguments.pid, &Request::Trace(request)).map_err(|error| match error {
        ControlError::Refused { .. } => Failure::new(exit::NO_PROBES, error),
        other => refusal(other),
    })?;
    let text = match (arguments.json, order) {
        (true, Order::Include { .. } | Order::Exclude { .. }) => {
            let object =
                |record: &Record| json!({"session": record.get("session"), "processes": record.get("processes")});
            patterns.iter().map(|record| format!("{}\n", object(record))).collect()
        }
        (false, Order::Include { .. } | Order::Exclude { .. }) => {
            let line = |record: &Record| {
                format!("session {} looks at {}\n", text(record, "session"), text(record, "processes"))
            };
            patterns.iter().map(line).collect()
        }
        (true, _) => patterns.iter().map(|pattern| format!("{}\n", object(pattern))).collect(),
        (false, Order::List) => table(&patterns),
        (false, Order::Remove { .. }) => lines(&patterns, "removed"),
        (false, _) => lines(&patterns, "set"),
    };
    io::stdout().write_all(text.as_bytes()).context("cannot write")?;
    Ok(ExitCode::SUCCESS)
}

fn object(pattern: &Record) -> serde_json::Value {
    json!({
        "session": pattern.get("session"),
        "id": pattern.number("id"),
        "functions": pattern.number("functions"),
        "later": pattern.number("later") == Some(1),
        "pattern": pattern.get("pattern"),
    })
}

fn text(pattern: &Record, name: &str) -> String {
    pattern.get(name).map(escape::name).unwrap_or_default()
}

fn lines(patterns: &[Record], done: &str) -> String {
    let line = |pattern: &Record| {
        let functions = count(pattern.number("functions").unwrap_or_default(), "function");
        let [session, id, pattern] = ["session", "id", "pattern"].map(|name| text(pattern, name));
        format!("{done} {id} in session {session}: {pattern} ({functions})\n")
    };
    patterns.iter().map(line).collect()
}

fn table(patterns: &[Record]) -> String {
    const COLUMNS: [&str; 4] = ["session", "id", "functions", "pattern"];
    let row = |pattern: &Record| COLUMNS.map(|name| text(pattern, name));
    let rows: Vec<_> = std::iter::once(COLUMNS.map(str::to_uppercase)).chain(patterns.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let [session, id, functions] = [0, 1, 2].map(width);
    let line = |[s, i, f, pattern]: &[String; 4]| format!("{s:<session$}  {i:>id$}  {f:>functions$}  {pattern}\n");
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_shown() {
        let pattern = |id: u32, functions: u32, text: &str| {
            let pattern = Record::default().with("session", "night").with("id", id).with("functions", functions);
            pattern.with("later", u8::from(id == 9)).with("pattern", text)
        };
        let patterns = [pattern(9, 1, "shop::*"), pattern(10, 250, "a::b(x) if x == \"\u{7}\"")];
        assert_eq!(
            table(&patterns),
            "SESSION  ID  FUNCTIONS  PATTERN\nnight     9          1  shop::*\nnight    10        250  a::b(x) if x == \"\\x07\"\n"
        );
        assert_eq!(lines(&patterns[..1], "set"), "set 9 in session night: shop::* (1 function)\n");
        let expected = json!({"session": "night", "id": 9, "functions": 1, "later": true, "pattern": "shop::*"});
        assert_eq!(object(&patterns[0]), expected);
    }
}
