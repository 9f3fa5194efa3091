//! The operations and calls of one trace, in groups. Memory does not grow with the trace.

use std::collections::HashMap;

use dyntrace_reader::{Event, FileOperation};

use super::naming::Naming;
use crate::figures::Row;
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
const MOST: usize = 500;

/// The groups of a kind.
#[derive(Default)]
pub struct GroupsOfKind {
    pub rows: HashMap<Vec<u8>, Row>,
    /// The figures of groups beyond the limit.
    pub others: Row,
}

impl GroupsOfKind {
    fn row(&mut self, name: &[u8]) -> &mut Row {
        if !self.rows.contains_key(name) {
            if self.rows.len() == MOST {
                return &mut self.others;
            }
            self.rows.insert(name.to_owned(), Row::default());
        }
        self.rows.get_mut(name).expect("it is there, or was inserted")
    }

    /// Whether there were more groups than rows.
    pub fn is_cut(&self) -> bool {
        self.others.count > 0
    }

    /// Merges rows that `other` lacks into the others: if `other` is cut, its figures for them are not known.
    pub fn match_with(&mut self, other: &GroupsOfKind) {
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
    /// All operations.
    pub all: Row,
    /// In the order of `By::ALL`.
    pub kinds: [GroupsOfKind; 4],
    naming: Naming,
}

impl Groups {
    pub fn new(naming: Naming) -> Groups {
        Groups { naming, ..Groups::default() }
    }

    /// Counts an operation that was answered.
    pub fn operation(&mut self, operation: &FileOperation<'_>) {
        self.all.add(operation);
        let command = operation::name_of(operation);
        self.kinds[By::Command as usize].row(command.as_bytes()).add(operation);
        for (by, name) in [(By::Tag, operation.request.user_tag), (By::Resource, &*operation.path)] {
            let name = self.naming.name(name);
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
        let row = self.kinds[By::Function as usize].row(&text(event, "function"));
        if is_entry {
            row.count += 1;
            return;
        }
        let kind = text(event, "kind");
        if matches!(&*kind, b"return" | b"error" | b"panic") {
            row.errors += u64::from(kind != b"return");
            row.total.count(number(event, "took"));
            row.service.count(number(event, "polled"));
            // The trace may have the ends of calls only.
            row.count = row.count.max(row.total.len());
        }
    }
}
