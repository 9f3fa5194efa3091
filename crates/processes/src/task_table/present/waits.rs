//! The waits of polled tasks, in their rows.

use std::cell::Cell;

use dyntrace_task_table::layout::{self, Text, slot};

use super::polled::{Polled, polled};
use super::program::table;
use super::{Begun, Operation, Resource};

/// A wait that has left its row to another one.
#[derive(Clone, Copy)]
struct GaveWay {
    row: u32,
    /// When the poll of the row's task began.
    poll_began: u64,
    wait: Begun,
}

thread_local! {
    /// A wait around others (a timeout) that has left the row to another wait; of several in a poll the first one. If that other wait was
    /// beside the timeout, not inside of it, and ends in the same poll, nothing polls the timeout again: so the timeout takes the place.
    static GAVE_WAY: Cell<Option<GaveWay>> = const { Cell::new(None) };
}

impl Polled {
    fn note_wait(&self, begun: &Begun) {
        let resource = match begun.resource {
            Resource::Numbered(number) => layout::Resource::Numbered(number),
            Resource::Named(name) => layout::Resource::Named(self.table.name(name)),
            Resource::Process(pid) => layout::Resource::Process(pid),
            Resource::Operation(Operation { thread, tag }) => layout::Resource::Operation { thread, tag },
        };
        let site = match begun.place {
            Some(place) => self.table.site(begun.kind, place),
            None => self.table.name(begun.kind),
        };
        self.slot.change(|words| {
            words.set(slot::TEXTS, Text::Wait.put(words.get(slot::TEXTS), site));
            words.set(slot::RESOURCE, resource.word());
            words.set(slot::SINCE, begun.since);
        });
    }

    /// When the wait in the row began; 0 without one.
    fn wait(&self) -> u64 {
        if Text::Wait.of(self.slot.word(slot::TEXTS)) == 0 { 0 } else { self.slot.word(slot::SINCE) }
    }

    /// When this poll began.
    fn began(&self) -> u64 {
        self.slot.word(slot::SCHEDULED)
    }

    /// Notes that a wait around others has left the row to another one.
    fn gives_way(&self, wait: &Begun) {
        // In a destructor of the thread's end, nothing is noted.
        let _ = GAVE_WAY.try_with(|first| {
            if self.has_given_way(first).is_none() {
                first.set(Some(GaveWay { row: self.current.slot, poll_began: self.began(), wait: *wait }));
            }
        });
    }

    /// The wait that has left the row in this poll of the task.
    fn has_given_way(&self, first: &Cell<Option<GaveWay>>) -> Option<Begun> {
        let is_of_this = |gave: &GaveWay| (gave.row, gave.poll_began) == (self.current.slot, self.began());
        first.get().filter(is_of_this).map(|gave| gave.wait)
    }

    /// Takes the wait out of the row. A wait that has left the row in this poll takes the place.
    fn end_wait(&self) {
        let first = GAVE_WAY.try_with(|first| self.has_given_way(first).inspect(|_| first.set(None)));
        match first.ok().flatten() {
            Some(wait) => self.note_wait(&wait),
            None => {
                self.slot.change(|words| {
                    words.set(slot::TEXTS, Text::Wait.put(words.get(slot::TEXTS), 0));
                    words.set(slot::SINCE, 0);
                });
            }
        }
    }
}

/// Notes what the polled task waits for. A later wait of the task replaces it. Returns the number of the task's row; 0 without one.
pub fn wait_begins(begun: &Begun) -> u32 {
    let Some(polled) = polled().filter(|polled| polled.is_of(begun.pid)) else { return 0 };
    polled.note_wait(begun);
    polled.current.slot
}

/// [`wait_begins`] for a wait around others, at the end of its first poll that returns pending. Does nothing if the row has a wait that
/// began in this poll, or was polled in it.
pub fn enclosing_wait_begins(begun: &Begun) -> u32 {
    let Some(polled) = polled().filter(|polled| polled.is_of(begun.pid)) else { return 0 };
    let (wait, began) = (polled.wait(), polled.began());
    if wait == 0 || wait < began && !polled.poll.has_lasting_wait(began) {
        polled.note_wait(begun);
    } else {
        polled.gives_way(begun);
    }
    polled.current.slot
}

/// Writes a wait that is still pending into the row of the polled task, if the row no longer has it. Returns the number of that row; 0
/// without one. `row` is the row that had the wait before: another wait may have replaced it there, and its future may have moved to
/// another task.
///
/// A wait that `encloses` others leaves the row to any other wait, which may be inside of it.
pub fn wait_lasts(row: u32, since: u64, encloses: bool, begun: impl FnOnce() -> Begun) -> u32 {
    let polled = polled();
    let now = polled.as_ref().map_or(0, |polled| polled.current.slot);
    if now != row {
        leave_row(row, since);
    }
    if let Some(polled) = polled {
        let wait = polled.wait();
        if wait != since {
            if encloses && wait != 0 {
                polled.gives_way(&begun());
                return now;
            }
            polled.note_wait(&begun());
        }
        polled.poll.wait_lasts(polled.began());
    }
    now
}

/// Takes an ended wait, which began at `since`, out of the row that had it last.
pub fn wait_ends(row: u32, since: u64) {
    if row == 0 {
        return;
    }
    // Before the row: an ended wait must not return into it.
    let _ = GAVE_WAY.try_with(|first| match first.get() {
        Some(gave) if gave.wait.since == since => first.set(None),
        _ => {}
    });
    match polled() {
        Some(polled) if polled.current.slot == row => {
            if polled.slot.word(slot::SINCE) == since {
                polled.end_wait();
            }
        }
        _ => leave_row(row, since),
    }
}

/// Takes a wait out of a row that another thread may be changing. Another task may have the slot by now: its waits began later.
#[cold]
fn leave_row(row: u32, since: u64) {
    if let Some(table) = table()
        && let Some(slot) = table.slots().get((row as usize).wrapping_sub(1))
    {
        slot.clear(slot::SINCE, since);
    }
}

/// Notes that the polled task no longer waits for a file operation: this one, or with `None` whichever it is.
pub fn wait_of_operation_ends(operation: Option<Operation>) {
    let Some(polled) = polled() else { return };
    let slot = polled.slot;
    let word = slot.word(slot::RESOURCE);
    let is_meant = match operation {
        Some(Operation { thread, tag }) => word == layout::Resource::Operation { thread, tag }.word(),
        None => layout::Resource::is_operation(word),
    };
    if is_meant && Text::Wait.of(slot.word(slot::TEXTS)) != 0 {
        polled.end_wait();
    }
}
