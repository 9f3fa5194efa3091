//! What the data set misses. No part of the page may pass for the whole.

use super::format::{self, count};
use super::rows::{Cell, Rows};
use crate::exit;

/// The losses of a data set, by kind.
pub struct Losses {
    kinds: Rows,
}

impl Losses {
    pub const SQL: &str = include_str!("kinds.sql");

    /// Takes the answer to `SQL`.
    pub fn new(kinds: Rows) -> Losses {
        Losses { kinds }
    }

    pub fn are_none(&self) -> bool {
        self.kinds.count == 0
    }

    /// Returns a sentence for each kind of loss.
    pub fn lines(&self) -> Vec<String> {
        self.kinds.rows.iter().map(|row| self.line(row)).collect()
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
        } else if has(&["discarded", "lost"]) {
            exit::LOSSY
        } else {
            0
        }
    }
}

fn number(value: i128, one: &str, many: &str) -> String {
    format!("{} {}", count(value), if value == 1 { one } else { many })
}
