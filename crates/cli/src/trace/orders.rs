//! Orders to a running trace: patterns are added, replaced and removed.

use std::process::ExitCode;

use dyntrace::recorder::control::protocol::{Record, Request};
use dyntrace::trace::PatternId;
use dyntrace::trace::remote::{self, Which};
use dyntrace_terminal::exit::{Failure, Outcome};
use dyntrace_terminal::{escape, stdout};
use serde_json::json;

use crate::records;

use super::arguments::{Actions, Arguments};
use super::reply::{functions, refusal};
use crate::record::process::{PATIENCE, ask, connect};

/// An order to a running trace.
#[derive(clap::Subcommand)]
pub enum Order {
    /// Show the patterns that trace the process, with their numbers
    List,
    /// Add patterns, all or none
    Add {
        /// Functions, arguments and conditions
        #[arg(required = true, value_name = "PATTERN")]
        patterns: Vec<String>,
        /// Also trace functions that are loaded later
        #[arg(long)]
        later: bool,
        #[command(flatten)]
        actions: Actions,
    },
    /// Replace a pattern atomically; counters that both have go on
    Update {
        /// The number of the pattern
        id: PatternId,
        /// The new pattern
        pattern: String,
        #[command(flatten)]
        actions: Actions,
    },
    /// Remove patterns, all or none; their counts stay in the trace's table
    Remove {
        /// The numbers of the patterns
        #[arg(required = true, value_name = "ID")]
        ids: Vec<PatternId>,
    },
    /// Trace these processes, too; or only these, if all processes were traced
    Include {
        /// One process, all existing ones, or all new ones
        #[arg(required = true, value_name = "<0.N.0>|existing|new")]
        processes: Vec<Which>,
    },
    /// Stop tracing these processes
    Exclude {
        /// One process, all existing ones, or all new ones
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

/// Sends the order to the process, and prints the answer.
pub fn carry_out(arguments: &Arguments, order: &Order) -> Outcome {
    let request = remote::Order { session: arguments.session.clone(), action: order.action()? }.record();
    let records = ask(&mut connect(arguments.pid)?, &Request::Trace(request), PATIENCE).map_err(refusal)?;
    let text = match (arguments.json, order) {
        (true, Order::Include { .. } | Order::Exclude { .. }) => {
            let object =
                |record: &Record| json!({"session": record.get("session"), "processes": record.get("processes")});
            records.iter().map(|record| escape::json(object(record)) + "\n").collect()
        }
        (false, Order::Include { .. } | Order::Exclude { .. }) => {
            let line = |record| format!("session {} looks at {}\n", text(record, "session"), text(record, "processes"));
            records.iter().map(line).collect()
        }
        (true, _) => records.iter().map(|pattern| escape::json(object(pattern)) + "\n").collect(),
        (false, Order::List) => table(&records),
        (false, Order::Remove { .. }) => lines(&records, "removed"),
        (false, _) => lines(&records, "set"),
    };
    stdout::write(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn object(pattern: &Record) -> serde_json::Value {
    json!({
        "session": pattern.get("session"),
        "id": pattern.number("id"),
        "functions": pattern.number("functions"),
        "old_functions": pattern.number("old_functions").unwrap_or_default(),
        "later": pattern.number("later") == Some(1),
        "pattern": pattern.get("pattern"),
    })
}

fn text(pattern: &Record, name: &str) -> String {
    pattern.get(name).map(escape::name).unwrap_or_default()
}

fn lines(patterns: &[Record], done: &str) -> String {
    let line = |pattern: &Record| {
        let functions = functions(std::slice::from_ref(pattern));
        let [session, id, pattern] = ["session", "id", "pattern"].map(|name| text(pattern, name));
        format!("{done} {id} in session {session}: {pattern} ({functions})\n")
    };
    patterns.iter().map(line).collect()
}

/// Functions of old versions of modules have a column if there are any.
fn table(patterns: &[Record]) -> String {
    let numbers = |column: usize| column > 0;
    if patterns.iter().all(|pattern| pattern.get("old_functions").is_none()) {
        return records::table(["session", "id", "functions", "pattern"], patterns.iter(), numbers);
    }
    let names = ["session", "id", "functions", "old_functions", "pattern"];
    records::table(names, patterns.iter(), numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_shown() {
        let pattern = |id: u32, functions: u32, text: &str| {
            let pattern = Record::default().with("session", "night").with("id", id).with("functions", functions);
            let pattern = if id == 9 { pattern } else { pattern.with("old_functions", functions - 1) };
            pattern.with("later", u8::from(id == 9)).with("pattern", text)
        };
        let patterns = [pattern(9, 1, "shop::*"), pattern(10, 250, "a::b(x) if x == \"\u{7}\"")];
        assert_eq!(
            table(&patterns),
            "SESSION  ID  FUNCTIONS  OLD_FUNCTIONS  PATTERN\n\
             night     9          1                 shop::*\n\
             night    10        250            249  a::b(x) if x == \"\\x07\"\n"
        );
        assert_eq!(lines(&patterns[..1], "set"), "set 9 in session night: shop::* (1 function)\n");
        let old = "(250 functions, and 249 in old versions)\n";
        assert!(lines(&patterns[1..], "set").ends_with(old), "{}", lines(&patterns[1..], "set"));
        let (functions, old_functions) = (1, 0);
        let expected = json!({
            "session": "night", "id": 9, "functions": functions, "old_functions": old_functions, "later": true,
            "pattern": "shop::*",
        });
        assert_eq!(object(&patterns[0]), expected);
    }
}
