//! The events of operations and processes with a matching user tag, and other events that have one. Of an operation's events, only its
//! entry and return have the tag, of a process's, and of its job in the blocking pool, only its spawn.

use std::collections::HashSet;

use dyntrace_reader::{Event, OperationStep, Selection};

use crate::render::operation::{self, Id, Process, process, text};

/// Selects events by user tag.
#[derive(Default)]
pub struct OfTag {
    tag: Selection,
    /// Operations in flight, each with the position of its driver.
    operations: HashSet<(usize, Id)>,
    drivers: Vec<String>,
    /// Processes that began with a matching tag.
    processes: HashSet<Process>,
    /// Those of them that are jobs of the blocking pool. A job may end after its process, if that panics.
    jobs: HashSet<Process>,
}

impl OfTag {
    /// `pattern` as for [`Selection::tag`].
    pub fn new(pattern: &str) -> OfTag {
        OfTag { tag: Selection::new().tag(pattern), ..OfTag::default() }
    }

    /// Whether the event is one of them. It must see every event, in the order of time.
    pub fn takes(&mut self, event: &Event<'_>) -> bool {
        let Some((driver, step)) = event.class.operation_step() else { return self.takes_other(event) };
        let operation = (self.position(driver), operation::id(event));
        match step {
            OperationStep::Entry => {
                let takes = self.tag.matches_tag(&text(event, "user_tag"));
                if takes {
                    self.operations.insert(operation);
                } else {
                    // An earlier operation of this name never returned.
                    self.operations.remove(&operation);
                }
                takes
            }
            OperationStep::IntEntry | OperationStep::IntReturn => self.operations.contains(&operation),
            // The trace may begin after the entry.
            OperationStep::Return => self.operations.remove(&operation) || self.tag.matches(event),
        }
    }

    fn takes_other(&mut self, event: &Event<'_>) -> bool {
        let Some(probe) = event.class.name.strip_prefix("dyntrace:") else { return self.tag.matches(event) };
        if !probe.starts_with("process-") && !probe.starts_with("blocking-") {
            return self.tag.matches(event);
        }
        let process = process(event, "proc");
        match probe {
            "process-spawn" => {
                let takes = self.tag.matches(event);
                if takes {
                    self.processes.insert(process);
                }
                takes
            }
            "process-exit" => self.processes.remove(&process),
            "blocking-add" => {
                let takes = self.processes.contains(&process);
                if takes {
                    self.jobs.insert(process);
                }
                takes
            }
            "blocking-get" => self.jobs.contains(&process),
            "blocking-done" => self.jobs.remove(&process),
            _ => self.processes.contains(&process),
        }
    }

    fn position(&mut self, driver: &str) -> usize {
        self.drivers.iter().position(|known| known == driver).unwrap_or_else(|| {
            self.drivers.push(driver.to_owned());
            self.drivers.len() - 1
        })
    }
}
