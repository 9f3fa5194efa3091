//! Arrows from wakes to polls: a flow for each poll whose wake is in the trace.

use std::collections::HashMap;
use std::ptr;

use dyntrace_analysis::recorded_tasks::{ALIVE, Poll};
use dyntrace_analysis::render::operation::text;
use dyntrace_reader::{Event, Process, Text};

/// The flows of wakes begin here, above those of sequential traces.
const FIRST: u64 = 1 << 33;

/// A task by its process and pid.
type Id<'t> = (usize, Text<'t>);

/// The flows of tasks that were woken. Of several wakes before a poll, the first one brings it about.
#[derive(Default)]
pub struct Wakes<'t> {
    made: u64,
    /// Of tasks that have not been polled since.
    woken: HashMap<Id<'t>, u64>,
    /// Of tasks that are in the poll.
    polled: HashMap<Id<'t>, u64>,
}

impl<'t> Wakes<'t> {
    /// Takes the next event, in the order of time. Returns the flow that begins at it.
    pub fn push(&mut self, event: &Event<'t>) -> Option<u64> {
        let probe = event.class.name.strip_prefix("dyntrace:process-")?;
        let id = id(event.process, text(event, "proc"));
        match probe {
            "wake" if self.woken.len() < ALIVE && !self.woken.contains_key(&id) => {
                let flow = FIRST + self.made;
                self.made += 1;
                self.woken.insert(id, flow);
                Some(flow)
            }
            "scheduled" => {
                self.polled.remove(&id);
                if let Some(flow) = self.woken.remove(&id) {
                    self.polled.insert(id, flow);
                }
                None
            }
            "exit" => {
                self.woken.remove(&id);
                None
            }
            _ => None,
        }
    }

    /// Returns the flow that ends at a poll.
    pub fn end(&mut self, poll: &Poll<'t>) -> Option<u64> {
        self.polled.remove(&id(poll.process, poll.proc))
    }
}

fn id<'t>(process: &Process, proc: Text<'t>) -> Id<'t> {
    (ptr::from_ref(process).addr(), proc)
}
