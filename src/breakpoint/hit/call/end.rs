//! The end of a traced call.

use std::any::Any;
use std::fmt::{self, Write};
use std::time::Duration;

use dyntrace_probes::clock;

use super::{HOST, Hit, Timing};
use crate::breakpoint::event::Kind;
use crate::breakpoint::event::occurrence::Occurrence;
use crate::breakpoint::hit::busy::Busy;
use crate::breakpoint::hit::call_view::rendered;
use crate::breakpoint::state::flags::Flags;
use crate::breakpoint::value::Value;
use crate::breakpoint::value::text::Text;
use dyntrace_processes::panic_text::panic_text;

impl Hit {
    /// Ends its measurements without a result: its end will not be seen. Calls inside it count for the one around it.
    #[cold]
    #[inline(never)]
    pub(crate) fn give_up(&self) {
        if let Some(host) = HOST.get() {
            return (host.give_up)(self);
        }
        if let Timing::Since(stretch) = self.timing {
            stretch.end(0);
        }
        self.allocating.end();
        self.entries(self.wanted).for_each(|entry| entry.session.state.note_unended());
    }

    pub(crate) fn returned<'a>(&self, polled: Option<Duration>, value: &dyn Fn() -> Value<'a>) {
        if let Some(host) = HOST.get() {
            return (host.returned)(self, polled, value);
        }
        let Some(ended) = self.ended() else { return };
        let is_err = self.wants.contains(Flags::ERROR) && value().is_err();
        self.tell(End::Returned { is_err, value }, ended, polled);
        if self.wants.contains(Flags::RETURN_TO) {
            self.tell_rare(End::ReturnedTo, ended, polled);
        }
    }

    pub(crate) fn cancelled(&self, polled: Duration) {
        if let Some(host) = HOST.get() {
            return (host.cancelled)(self, polled);
        }
        let Some(ended) = self.ended() else { return };
        self.tell_rare(End::Cancelled, ended, Some(polled));
    }

    pub(crate) fn panicked(&self, polled: Option<Duration>, payload: &(dyn Any + Send)) {
        self.panicked_with(polled, panic_text(payload));
    }

    pub(crate) fn panicked_with(&self, polled: Option<Duration>, message: &str) {
        if let Some(host) = HOST.get() {
            return (host.panicked)(self, polled, message);
        }
        let Some(ended) = self.ended() else { return };
        self.tell_rare(End::Panicked { message }, ended, polled);
    }

    /// Ends the measurements and adds them up. Returns `None` if no entry wants the end.
    #[inline(always)]
    fn ended(&self) -> Option<Ended> {
        if !self.waits() {
            return None;
        }
        let at = clock::now();
        let cycles = at.saturating_sub(self.began);
        if self.wants.intersects(Flags::TIME | Flags::MEMORY) {
            self.add_up(cycles);
        }
        Some(Ended { at, cycles })
    }

    #[inline(never)]
    fn add_up(&self, cycles: u64) {
        if self.wants.contains(Flags::TIME) {
            let timing = self.entries(self.wanted).filter(|entry| entry.flags.contains(Flags::TIME));
            let own = match self.timing {
                Timing::Unasked => 0,
                Timing::Since(stretch) => stretch.end(cycles),
                Timing::InPolls(polls) => polls,
            };
            let counters = timing.filter_map(|entry| entry.counter.as_ref());
            counters.for_each(|counter| counter.slot().add_time(cycles, own));
        }
        if self.wants.contains(Flags::MEMORY) {
            let bytes = self.allocating.end();
            let measuring = self.entries(self.wanted).filter(|entry| entry.flags.contains(Flags::MEMORY));
            measuring.filter_map(|entry| entry.counter.as_ref()).for_each(|counter| counter.add_memory(bytes));
        }
    }

    /// Makes the events of an end that is not a plain return.
    #[cold]
    #[inline(never)]
    fn tell_rare(&self, end: End<'_, '_>, ended: Ended, polled: Option<Duration>) {
        self.tell(end, ended, polled);
    }

    /// Makes the events of the end.
    #[inline(always)]
    fn tell(&self, end: End<'_, '_>, ended: Ended, polled: Option<Duration>) {
        if !self.wants.intersects(Flags::ENDS) {
            return;
        }
        let _busy = Busy::begin();
        let (at, took) = (Some(ended.at), Some(clock::took_nanoseconds(ended.cycles)));
        let mut text_slot = None;
        for entry in self.entries(self.wanted) {
            if let Some(kind) = end.kind(entry.flags)
                && !entry.is_silent()
                && entry.session.admits(kind)
            {
                let text = rendered(&mut text_slot, |text| end.render(text));
                let caller = (kind == Kind::ReturnTo).then(|| self.origin.caller(self.mark)).flatten();
                entry.session.send(Occurrence { at, took, polled, caller, ..self.occurrence(kind, text) });
            }
        }
    }
}

/// How a call ends.
#[derive(Clone, Copy)]
enum End<'e, 'v> {
    Returned { is_err: bool, value: &'e dyn Fn() -> Value<'v> },
    ReturnedTo,
    Cancelled,
    Panicked { message: &'e str },
}

impl End<'_, '_> {
    /// Returns the kind of the event of an entry with these flags.
    fn kind(self, flags: Flags) -> Option<Kind> {
        let (wanted, kind) = match self {
            End::Returned { is_err: true, .. } if flags.contains(Flags::ERROR) => return Some(Kind::Error),
            End::Returned { .. } => (Flags::RETURN, Kind::Return),
            End::ReturnedTo => (Flags::RETURN_TO, Kind::ReturnTo),
            End::Cancelled => (Flags::RETURN, Kind::Cancelled),
            End::Panicked { .. } => (Flags::PANIC, Kind::Panic),
        };
        flags.contains(wanted).then_some(kind)
    }

    /// Writes the text of its events.
    #[inline]
    fn render(self, text: &mut Text) -> fmt::Result {
        match self {
            End::Returned { value, .. } => value().render(text),
            End::Panicked { message } => text.write_str(message),
            End::ReturnedTo | End::Cancelled => Ok(()),
        }
    }
}

/// The end of a call, by the clock's cycles.
#[derive(Clone, Copy)]
struct Ended {
    at: u64,
    /// The duration.
    cycles: u64,
}
