//! The operations and calls of one trace, in groups. Memory does not grow with the trace.

use std::collections::HashMap;

use dyntrace_reader::{Event, FileOperation};

use crate::figures::{Row, pattern};
use crate::operation;
use crate::render::operation::{number, text};

/// The property by which operations or calls are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Command,
    Tag,
    Function,
    Resource,
}

impl By {
    pub const ALL: [By; 4] = [By::Command, By::Tag, By::Function, By::Resource];

    pub fn name(self) -> &'static str {
        match self {
            By::Command => "command",
            By::Tag => "tag",
            By::Function => "function",
            By::Resource => "resource",
        }
    }
}

/// The most groups of a kind. Later ones are counted as one.
pub const MOST: usize = 1000;

/// The groups of a kind.
#[derive(Default)]
pub struct Kind {
    pub rows: HashMap<Vec<u8>, Row>,
    /// The figures of groups beyond the limit.
    pub others: Row,
}

impl Kind {
    fn row(&mut self, name: &[u8]) -> &mut Row {
        if !self.rows.contains_key(name) {
            if self.rows.len() == MOST {
                return &mut self.others;
            }
            self.rows.insert(name.to_owned(), Row::default());
        }
        self.rows.get_mut(name).expect("it is there, or was inserted")
    }

    /// Merges rows into the others that the other trace may have among its others: that trace's figures for them are not known.
    pub fn match_with(&mut self, other: &Kind) {
        if other.others.count == 0 {
            return;
        }
        let others = &mut self.others;
        self.rows.retain(|name, row| {
            let is_known = other.rows.contains_key(name);
            if !is_known {
                others.merge(row);
            }
            is_known
        });
    }
}

#[derive(Default)]
pub struct Groups {
    /// All file operations.
    pub all: Row,
    /// In the order of `By::ALL`.
    pub kinds: [Kind; 4],
    /// Whether tags and paths are grouped as they are, not by their patterns.
    is_exact: bool,
    /// A buffer for patterns.
    pattern: Vec<u8>,
}

impl Groups {
    pub fn new(is_exact: bool) -> Groups {
        Groups { is_exact, ..Groups::default() }
    }

    /// Counts an operation that was answered.
    pub fn operation(&mut self, operation: &FileOperation<'_>) {
        self.all.add(operation);
        let command = operation::name_of(operation);
        self.kinds[By::Command as usize].row(command.as_bytes()).add(operation);
        for (by, name) in [(By::Tag, operation.request.user_tag), (By::Resource, operation.path)] {
            let name = if self.is_exact {
                name
            } else {
                pattern(name, &mut self.pattern);
                &self.pattern
            };
            self.kinds[by as usize].row(name).add(operation);
        }
    }

    /// Counts the call of a traced function, or its end. Other events are left alone.
    pub fn call(&mut self, event: &Event<'_>) {
        let is_entry = match event.class.name.as_str() {
            "dyntrace:function-entry" => true,
            "dyntrace:function-return" => false,
            _ => return,
        };
        let row = self.kinds[By::Function as usize].row(text(event, "function"));
        if is_entry {
            row.count += 1;
            return;
        }
        let kind = text(event, "kind");
        if matches!(kind, b"return" | b"error" | b"panic") {
            row.errors += u64::from(kind != b"return");
            row.total.count(number(event, "took"));
            row.service.count(number(event, "polled"));
            // The trace may have the ends of calls only.
            row.count = row.count.max(row.total.len());
        }
    }
}
