//! The queues of a pool are full: operations wait in line, and two probes tell when that begins and ends.
//!
//! The pool is busy from the first operation that finds the queues full until they have room again, and not from one place in line to
//! the next: else each job that is taken while operations wait would fire both probes.

use std::sync::Arc;

use super::clock::Time;
use super::line::Ticket;
use super::shared::{Entry, Seat, Shared, State, Wake};
use crate::probes::port;
use crate::sync::lock;

impl Shared {
    /// Puts a job into the line. Both probes are fired under the lock, so that traces have them in order.
    #[cold]
    #[inline(never)]
    pub fn stand_in_line(&self, state: &mut State, entry: Entry) -> Ticket {
        if state.busy.is_none() {
            state.busy = Some(entry.port);
            port::busy(|| entry.port);
        }
        state.line.stand(entry)
    }

    /// Puts as many of the line into queues as there is room for.
    #[cold]
    #[inline(never)]
    pub fn let_in_line(self: &Arc<Self>, state: &mut State, seat: Seat, now: Time) -> Vec<Wake> {
        let mut wakes = Vec::new();
        while state.queued() < self.settings.bound {
            let Some(next) = state.line.next() else {
                self.has_room(state);
                break;
            };
            wakes.push(self.let_in(state, next, seat, now));
        }
        wakes
    }

    /// Puts the first of the line into a queue: in that of the one who made room, at worst.
    #[cold]
    fn let_in(self: &Arc<Self>, state: &mut State, next: Entry, seat: Seat, now: Time) -> Wake {
        let seat = self.choose(state, next.lane, now).unwrap_or(seat);
        self.push(state, seat, next)
    }

    /// The queues have room and nothing stands in line.
    pub fn has_room(&self, state: &mut State) {
        if let Some(busy) = state.busy.take() {
            port::not_busy(|| busy);
        }
    }

    /// The operation that has this ticket was dropped.
    pub fn leave_line(&self, ticket: Ticket) {
        // Bound to a name, the entry is dropped after the guard.
        let entry = lock(&self.state).line.leave(ticket);
        drop(entry);
    }
}
