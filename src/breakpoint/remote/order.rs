//! Orders of clients to a running trace.

use super::which::Which;
use crate::breakpoint::pattern_id::PatternId;
use crate::recorder::control::protocol::Record;

/// An order of a client to a running trace.
///
/// As a record: `do`, `session` if one is named, and the fields of the action: `later` (1 if set), and `pattern`, `id` and `process`, once
/// for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The session's name. Needed only if several are running.
    pub session: Option<String>,
    /// The change or query.
    pub action: Action,
}

/// A change or query of the patterns or processes of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// List the patterns, of all traces if no session is named.
    List,
    /// Set further patterns, all or none.
    Add {
        /// The patterns.
        patterns: Vec<String>,
        /// Whether they apply to libraries that are loaded later, too.
        later: bool,
    },
    /// Replace a pattern.
    Update {
        /// The number of the old pattern.
        id: PatternId,
        /// The new pattern.
        pattern: String,
    },
    /// Remove these patterns.
    Remove(Vec<PatternId>),
    /// Match the calls of these processes, too.
    Include(Vec<Which>),
    /// Stop matching the calls of these processes.
    Exclude(Vec<Which>),
}

impl Order {
    /// Returns it as a record.
    pub fn record(&self) -> Record {
        let order = |name: &str| {
            let order = Record::default().with("do", name);
            self.session.iter().fold(order, |order, session| order.with("session", session))
        };
        match &self.action {
            Action::List => order("list"),
            Action::Add { patterns, later } => {
                let order = order("add").with("later", u8::from(*later));
                patterns.iter().fold(order, |order, pattern| order.with("pattern", pattern))
            }
            Action::Update { id, pattern } => order("update").with("id", id).with("pattern", pattern),
            Action::Remove(ids) => ids.iter().fold(order("remove"), |order, id| order.with("id", id)),
            Action::Include(which) => processes(order("include"), which),
            Action::Exclude(which) => processes(order("exclude"), which),
        }
    }

    /// Parses a record. Returns `None` if it is not an order. An error is a text for the client.
    pub(super) fn read(record: &Record) -> Option<Result<Order, String>> {
        let action = read_action(record.get("do")?, record);
        let session = record.get("session").map(str::to_owned);
        Some(action.map(|action| Order { session, action }))
    }
}

fn processes(order: Record, which: &[Which]) -> Record {
    which.iter().fold(order, |order, which| order.with("process", which))
}

fn read_action(what: &str, record: &Record) -> Result<Action, String> {
    let all = |name| record.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value);
    let patterns: Vec<String> = all("pattern").map(str::to_owned).collect();
    let ids: Result<Vec<PatternId>, _> = all("id").map(str::parse).collect();
    let ids = ids.map_err(|_| format!("{what}: patterns have numbers"))?;
    let which: Result<Vec<Which>, _> = all("process").map(str::parse).collect();
    let which = which.map_err(|error| error.to_string())?;
    Ok(match (what, &ids[..], &patterns[..], &which[..]) {
        ("list", [], [], []) => Action::List,
        ("add", [], [_, ..], []) => Action::Add { patterns, later: record.number("later") == Some(1) },
        ("update", [id], [pattern], []) => Action::Update { id: *id, pattern: pattern.clone() },
        ("remove", [_, ..], [], []) => Action::Remove(ids),
        ("include", [], [], [_, ..]) => Action::Include(which),
        ("exclude", [], [], [_, ..]) => Action::Exclude(which),
        ("list" | "add" | "update" | "remove", ..) => return Err(format!("{what}: of which pattern?")),
        ("include" | "exclude", ..) => return Err(format!("{what}: of which process?")),
        _ => return Err(format!("it cannot {what:?} a pattern: use the dyntrace command of its version")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_read_back() {
        let id = "7".parse().unwrap();
        let pattern = "c if x == \"\t\"".to_owned();
        for action in [
            Action::List,
            Action::Add { patterns: vec![pattern.clone(), "a".to_owned()], later: true },
            Action::Add { patterns: vec![pattern.clone()], later: false },
            Action::Update { id, pattern },
            Action::Remove(vec![id, "9".parse().unwrap()]),
            Action::Include(vec![Which::One("<0.57.0>".parse().unwrap()), Which::New]),
            Action::Exclude(vec![Which::Existing]),
        ] {
            for session in [None, Some("shop".to_owned())] {
                let order = Order { session, action: action.clone() };
                assert_eq!(Order::read(&order.record().to_string().parse().unwrap()), Some(Ok(order)));
            }
        }
    }

    #[test]
    fn malformed_orders_are_refused() {
        for (text, why) in [
            ("do=add", "add: of which pattern?"),
            ("do=update\tid=7", "update: of which pattern?"),
            ("do=remove\tid=x", "remove: patterns have numbers"),
            ("do=include", "include: of which process?"),
            ("do=exclude\tprocess=old", "\"old\" is no process: expected one like <0.57.0>"),
            ("do=melt", "it cannot \"melt\" a pattern: use the dyntrace command of its version"),
        ] {
            assert_eq!(Order::read(&text.parse().unwrap()), Some(Err(why.to_owned())));
        }
        assert_eq!(Order::read(&"pattern=a".parse().unwrap()), None);
    }
}
