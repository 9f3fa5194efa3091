//! The losses of the data set. No part of the page may pass for the whole.

use super::format::{self, count};
use super::rows::{Cell, Rows};
use crate::exit;

/// The most hosts that are named.
const NAMED: usize = 10;

/// The losses of a data set, by kind.
pub struct Losses {
    kinds: Rows,
    untold: Vec<String>,
}

impl Losses {
    pub const SQL: &str = include_str!("kinds.sql");

    /// Takes the answer to `SQL`, and the hosts of which the data set does not tell losses. A conversion writes a file of losses for each
    /// host, so one without was not copied, or was removed.
    pub fn new(kinds: Rows, untold: Vec<String>) -> Losses {
        Losses { kinds, untold }
    }

    /// Returns what a reader must know before each answer, if that may be about a part.
    pub fn heading(&self) -> Option<&'static str> {
        match (self.kinds.count, self.untold.len()) {
            (0, 0) => None,
            (0, _) => Some("This may be a part: it is not known whether events are missing"),
            _ => Some("This is a part: events are missing"),
        }
    }

    /// Returns a sentence for each kind of loss.
    pub fn lines(&self) -> Vec<String> {
        self.kinds.rows.iter().map(|row| self.line(row)).chain(self.untold_line()).collect()
    }

    fn untold_line(&self) -> Option<String> {
        let hosts = self.untold.iter().take(NAMED).map(|host| format::text(host)).collect::<Vec<_>>().join(", ");
        let more = match self.untold.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        (!self.untold.is_empty()).then(|| {
            format!("losses of these hosts are not known, as the table losses has no file of them: {hosts}{more}")
        })
    }

    fn line(&self, row: &[Cell]) -> String {
        let of = |column| self.kinds.integer(row, column);
        let (missing, unknown) = (of("missing"), of("of_unknown_number"));
        let more = match unknown {
            0 => String::new(),
            _ => format!(", and an unknown number more in {}", number(unknown, "place", "places")),
        };
        match self.kinds.text(row, "kind").unwrap_or("unknown") {
            "damaged" => {
                let places = number(of("losses"), "place of a recording is", "places of recordings are");
                format!("{places} damaged: an unknown number of events is missing there")
            }
            kind @ ("discarded" | "lost") => {
                format!("{} lost ({kind}){more}", number(missing, "event was", "events were"))
            }
            kind => {
                let rows = number(missing, "event or row is", "events or rows are");
                format!("{rows} missing ({}){more}", format::text(kind))
            }
        }
    }

    /// Returns the exit status for the worst of the losses, as `dyntrace report` has it.
    pub fn status(&self) -> u8 {
        let has = |kinds: &[&str]| {
            self.kinds.rows.iter().any(|row| self.kinds.text(row, "kind").is_some_and(|kind| kinds.contains(&kind)))
        };
        if has(&["damaged"]) {
            exit::DAMAGED
        } else if has(&["discarded", "lost"]) || !self.untold.is_empty() {
            exit::LOSSY
        } else {
            0
        }
    }
}

fn number(value: i128, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}
