//! One row for each wait of a process, when it ends.

use std::collections::{BTreeMap, HashMap};

use dyntrace_analysis::render::operation::{number, plain_text, text};
use dyntrace_fleet::{Cell, ColumnKind, Error, Tables};
use dyntrace_reader::{Event, Process, Text};

use super::columns::{self, Column, WAITS};

pub const COLUMNS: [Column; 9] = [
    ("proc", ColumnKind::Text),
    ("user_tag", ColumnKind::Text),
    ("kind", ColumnKind::Text),
    ("resource", ColumnKind::Text),
    ("place", ColumnKind::Text),
    ("wait_ns", ColumnKind::Signed),
    ("resume_ns", ColumnKind::Signed),
    ("waited_ns", ColumnKind::Signed),
    ("outcome", ColumnKind::Text),
];

/// The most waits that are followed at once. A wait beyond has a row only if it ends.
const WAITING: usize = 1 << 18;

/// A wait that has begun.
#[derive(Clone, Copy)]
struct Wait<'t> {
    proc: Text<'t>,
    user_tag: &'t [u8],
    resource: Text<'t>,
    kind: &'t [u8],
    place: &'t [u8],
    begun: i64,
}

#[derive(Default)]
pub struct Waits<'t> {
    /// In the order in which they began.
    waiting: BTreeMap<u64, Wait<'t>>,
    /// By process and resource. A process may wait for one several times at once.
    orders: HashMap<(Text<'t>, Text<'t>), Vec<u64>>,
    begun: u64,
    /// Waits that were not followed.
    pub left_out: u64,
}

impl<'t> Waits<'t> {
    /// Takes the next event, in the order of time. Writes the row of the wait that it ends, if rows are wanted. `user_tag` is the tag that
    /// the process began with.
    pub fn push(&mut self, event: &Event<'t>, user_tag: &'t [u8], to: Option<&mut Tables<'_>>) -> Result<(), Error> {
        let (proc, resource) = (text(event, "proc"), text(event, "resource"));
        let (kind, place) = (plain_text(event, "kind"), plain_text(event, "place"));
        match event.class.name.as_str() {
            "dyntrace:process-wait" if self.waiting.len() < WAITING => {
                self.begun += 1;
                self.waiting.insert(self.begun, Wait { proc, user_tag, resource, kind, place, begun: event.time });
                self.orders.entry((proc, resource)).or_default().push(self.begun);
            }
            "dyntrace:process-wait" => self.left_out += 1,
            "dyntrace:process-resume" => {
                self.forget((proc, resource));
                let waited = number(event, "waited");
                let begun = event.time.saturating_sub(waited);
                let wait = Wait { proc, user_tag, resource, kind, place, begun };
                if let Some(to) = to {
                    let end = [Some(Cell::Signed(event.time)), Some(Cell::Signed(waited))];
                    let outcome = columns::text(text(event, "outcome"));
                    wait.write(event.time, event.process, [end[0], end[1], outcome], to)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Writes the waits that have not ended at the end of the source.
    pub fn finish(&self, time: i64, process: &Process, to: &mut Tables<'_>) -> Result<(), Error> {
        self.waiting.values().try_for_each(|wait| wait.write(time, process, [None; 3], to))
    }

    /// How many have not ended.
    pub fn count(&self) -> usize {
        self.waiting.len()
    }

    /// Forgets the last wait of this process for this resource.
    fn forget(&mut self, id: (Text<'t>, Text<'t>)) {
        let Some(orders) = self.orders.get_mut(&id) else { return };
        if let Some(order) = orders.pop() {
            self.waiting.remove(&order);
        }
        if orders.is_empty() {
            self.orders.remove(&id);
        }
    }
}

impl Wait<'_> {
    fn write(
        &self,
        time: i64,
        process: &Process,
        [resumed, waited, outcome]: [Option<Cell<'_>>; 3],
        to: &mut Tables<'_>,
    ) -> Result<(), Error> {
        let own = [
            columns::text(self.proc),
            columns::text(self.user_tag),
            columns::text(self.kind),
            columns::text(self.resource),
            columns::text(self.place),
            Some(Cell::Signed(self.begun)),
            resumed,
            waited,
            outcome,
        ];
        to.row(WAITS, time, columns::row(time, process, own))
    }
}
