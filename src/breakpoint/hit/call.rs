//! A traced call, from its beginning to its end.

use std::any::Any;
use std::cell::OnceCell;
use std::fmt::{self, Write};
use std::iter;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use dyntrace_probes::clock;
use dyntrace_probes::host::OfHost;
use dyntrace_probes::thread_progress::pin;

use super::busy::{Busy, is_busy};
use super::call_view::{CallView, render, rendered};
use super::data_ref::{DataRef, Pinned};
use super::nested;
use crate::breakpoint::event::Kind;
use crate::breakpoint::event::caller::Origin;
use crate::breakpoint::event::occurrence::{self, Occurrence};
use crate::breakpoint::event::unwind::Mark;
use crate::breakpoint::measure::counters::CounterSlot;
use crate::breakpoint::measure::own_memory::{self, Allocating, Bytes};
use crate::breakpoint::measure::own_time::Stretch;
use crate::breakpoint::site::{Function, Site};
use crate::breakpoint::state::data::{BpData, Quick};
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::flags::Flags;
use crate::breakpoint::state::generic_bp::with_active;
use crate::breakpoint::value::Value;
use crate::breakpoint::value::text::Text;
use crate::recorder::open_if_asked;
use dyntrace_processes::panic_text::panic_text;
use dyntrace_processes::process;

/// The host's functions for the calls of a module's functions.
pub(crate) struct HostHits {
    pub(crate) begin: fn(&'static Site, Mark) -> Begun,
    pub(crate) wanted: fn(&'static Site) -> Option<Arc<BpData>>,
    pub(crate) call: fn(&mut Hit, &[Value<'_>]),
    pub(crate) give_up: fn(&Hit),
    pub(crate) returned: for<'a> fn(&Hit, Option<Duration>, &dyn Fn() -> Value<'a>),
    pub(crate) cancelled: fn(&Hit, Duration),
    pub(crate) panicked: fn(&Hit, Option<Duration>, &str),
}

pub(crate) static HOST: OfHost<HostHits> = OfHost::new();

/// A call with events or measurements for sessions. It keeps the entries that were in force when it began, so that exactly the sessions
/// that saw the call see its end.
#[doc(hidden)]
pub struct Hit {
    data: DataRef,
    function: &'static Function,
    /// Whether its generation [does](BpData::fires_alone).
    fires_alone: bool,
    /// A bit for each entry that wants its end.
    wanted: u64,
    /// The actions of those entries together.
    wants: Flags,
    /// When it began, by the clock's cycles, if an entry wants its end.
    began: u64,
    timing: Timing,
    /// Measures the memory of the call, if an entry wants it.
    allocating: Allocating,
    origin: Origin,
    /// Where the call is on the stack; for an asynchronous one, during its first poll.
    mark: Mark,
}

/// The state of a call's measurement of own time.
enum Timing {
    /// A synchronous call, if no entry wants its time.
    Unasked,
    /// A synchronous call is running.
    Since(Stretch),
    /// The own cycles of an asynchronous call's polls so far.
    InPolls(u64),
}

/// The needs of a call beyond a count.
pub(crate) enum Begun {
    Nothing,
    /// Only its time. It has begun in the slot.
    Timed(CounterSlot),
    /// Events or measurements.
    Hit(Hit),
}

/// Counts the call and decides what else it needs, by the active generation. Runs no code of users, since the thread is pinned.
#[inline(never)]
pub(crate) fn begin(site: &'static Site, mark: Mark) -> Begun {
    if let Some(host) = HOST.get() {
        return (host.begin)(site, mark);
    }
    let Some(pin) = pin() else { return Begun::Nothing };
    let data = match with_active(&pin, site, |data| NonNull::from(data)) {
        Ok(Some(data)) => data,
        Ok(None) => return Begun::Nothing,
        Err(_) => {
            drop(pin);
            return begin_asked(site, mark);
        }
    };
    // SAFETY: `with_active` found it active with this pin.
    let found = unsafe { Pinned::new(data, pin) };
    if !found.data().fires_alone {
        return begin_any(found, site, &mark);
    }
    // Without the function calls of others, which would have registers saved.
    if is_busy() || !occurrence::is_any_heard() {
        return Begun::Nothing;
    }
    begin_hit(found, site, mark)
}

/// [`begin`] for a marked site.
#[cold]
#[inline(never)]
fn begin_asked(site: &'static Site, mark: Mark) -> Begun {
    asked(site);
    begin(site, mark)
}

/// [`begin`] for calls of which the entries decide.
#[inline(never)]
fn begin_any(found: Pinned, site: &'static Site, mark: &Mark) -> Begun {
    match found.data().quick {
        Quick::Timed(slot) if slot.begin(nested::MOST) => Begun::Timed(slot),
        Quick::Timed(_) => {
            found.data().note_unended();
            Begun::Nothing
        }
        _ if !is_worth_a_look(found.data()) => Begun::Nothing,
        _ => begin_hit(found, site, *mark),
    }
}

/// Keeps the active generation: by the pin if the hit is brief.
#[inline(always)]
fn begin_hit(found: Pinned, site: &'static Site, mark: Mark) -> Begun {
    let data = match found.data().is_brief {
        true => DataRef::Pinned(found),
        false => DataRef::new(Arc::clone(found.data())),
    };
    Begun::Hit(Hit::new(data, site, (Origin::Stack, mark)))
}

/// Counts the call, and returns whether an entry may match it.
#[inline(always)]
fn is_worth_a_look(data: &BpData) -> bool {
    if data.is_for_probes {
        return !is_busy() && occurrence::is_any_heard();
    }
    if let Quick::Of(pid_filter) = data.quick
        && !pid_filter.may_have_current()
    {
        return false;
    }
    data.counts.iter().for_each(|slot| slot.count());
    !is_busy() && data.entries.iter().any(BpEntry::may_take)
}

/// Returns the active generation, if an entry may match the call.
pub(crate) fn wanted(site: &'static Site) -> Option<Arc<BpData>> {
    let found = with_active(&pin()?, site, |data| is_worth_a_look(data).then(|| Arc::clone(data)));
    let Ok(found) = found else {
        asked(site);
        return wanted(site);
    };
    found.flatten()
}

/// Opens the control socket for the process that has marked the site.
#[cold]
fn asked(site: &Site) {
    if site.take_mark() {
        open_if_asked();
    }
}

impl Hit {
    #[inline(always)]
    fn new(data: DataRef, site: &'static Site, (origin, mark): (Origin, Mark)) -> Hit {
        let function = site.function();
        let fires_alone = data.fires_alone;
        let (wanted, wants, allocating) = (0, Flags::NONE, Allocating::Unasked);
        Hit { data, function, fires_alone, wanted, wants, began: 0, timing: Timing::Unasked, allocating, origin, mark }
    }

    /// Returns `None` if no entry may match the call.
    pub(crate) fn begin(site: &'static Site, origin: Origin, mark: Mark) -> Option<Hit> {
        match HOST.get() {
            None => Some(Hit::new(DataRef::new(wanted(site)?), site, (origin, mark))),
            Some(host) => Some(Hit::new(DataRef::new((host.wanted)(site)?), site, (origin.of_module(), mark))),
        }
    }

    /// Makes the events of the call, and finds the entries that want its end.
    ///
    /// Inlined where the arguments are made: there the compiler knows which of them are printed.
    #[inline(always)]
    pub fn call(&mut self, arguments: &[Value<'_>]) {
        if arguments.iter().any(Value::is_printed) {
            self.unpin();
        }
        self.called(arguments);
    }

    /// Called before code of users runs, which may take long.
    #[cold]
    pub fn unpin(&mut self) {
        self.data.unpin();
    }

    /// [`call`](Hit::call) with the thread unpinned if an argument is printed.
    pub fn called(&mut self, arguments: &[Value<'_>]) {
        if let Some(host) = HOST.get() {
            return (host.call)(self, arguments);
        }
        if self.fires_alone { self.fire_alone(arguments) } else { self.look(arguments) }
    }

    /// [`call`](Hit::call) with one entry that only fires probes. Without the loop over entries: before it the compiler finds the address
    /// of each thread-local value, to keep them all on the stack.
    #[inline(never)]
    fn fire_alone(&mut self, arguments: &[Value<'_>]) {
        let _busy = Busy::begin();
        let Some(entry) = self.data.entries.first() else { return };
        let flags = entry.flags;
        if flags.contains(Flags::CALL) && entry.session.admits(Kind::Call) {
            let mut text = None;
            let text = rendered(&mut text, |text| render(arguments, text));
            entry.session.send(self.occurrence(Kind::Call, text));
        }
        if flags.intersects(Flags::ENDS) {
            (self.wanted, self.wants) = (1, flags);
            self.began = clock::now();
        }
        self.data.end_moment();
    }

    /// [`call`](Hit::call) with any entries.
    #[inline(never)]
    fn look(&mut self, arguments: &[Value<'_>]) {
        let busy = Busy::begin();
        let seen = CallView::new(arguments);
        let (mut text, mut wanted, mut wants, mut flagging) = (None, 0_u64, Flags::NONE, 0_u64);
        let caller = OnceCell::new();
        for (number, entry) in self.data.entries.iter().enumerate() {
            if !entry.takes_all && !entry.takes(&seen) {
                continue;
            }
            if entry.flags.contains(Flags::CALL) && !entry.is_silent() && entry.session.admits(Kind::Call) {
                let text = rendered(&mut text, |text| render(arguments, text));
                let is_wanted = entry.flags.contains(Flags::CALLER);
                let caller = is_wanted.then(|| *caller.get_or_init(|| self.origin.caller(self.mark)));
                let has_token = entry.flags.contains(Flags::TOKEN);
                let stack = entry.stacktrace().map(|depth| (self.mark, depth));
                let occurrence = self.occurrence(Kind::Call, text);
                entry.session.send(Occurrence { caller: caller.flatten(), has_token, stack, ..occurrence });
            }
            if !entry.flags.intersects(Flags::LATER) {
                continue;
            }
            if entry.flags.intersects(Flags::ENDS | Flags::TIME | Flags::MEMORY) {
                wanted |= 1 << number;
                wants = wants | entry.flags;
            }
            if entry.flags.contains(Flags::FLAG) {
                flagging |= 1 << number;
            }
        }
        // Last: flags apply to later calls, whatever the order of the entries.
        self.entries(flagging).for_each(BpEntry::flag);
        if wanted != 0 {
            (self.wanted, self.wants) = (wanted, wants);
            if wants.contains(Flags::TIME) && matches!(self.timing, Timing::Unasked) {
                self.timing = Timing::Since(Stretch::begin());
            }
            self.began = clock::now();
        }
        self.data.end_moment();
        if wants.contains(Flags::MEMORY) && matches!(self.allocating, Allocating::Unasked) {
            drop(busy);
            self.allocating = Allocating::Since(own_memory::Stretch::begin());
        }
    }

    /// Converts it to an asynchronous call, measured by its polls.
    pub(crate) fn by_polls(self) -> Hit {
        Hit { timing: Timing::InPolls(0), allocating: Allocating::InPolls(Bytes::default()), ..self }
    }

    /// Runs a poll of the call and adds up its own time and its memory.
    pub(crate) fn poll<R>(&mut self, poll: impl FnOnce() -> R) -> R {
        if !self.wants.intersects(Flags::TIME | Flags::MEMORY) {
            return poll();
        }
        let allocating = self.wants.contains(Flags::MEMORY).then(own_memory::Stretch::begin);
        let timing = self.wants.contains(Flags::TIME).then(|| (Stretch::begin(), clock::now()));
        let result = poll();
        if let (Some((stretch, began)), Timing::InPolls(polls)) = (timing, &mut self.timing) {
            let own = stretch.end(clock::now().saturating_sub(began));
            *polls = polls.saturating_add(own);
        }
        if let (Some(stretch), Allocating::InPolls(bytes)) = (allocating, &mut self.allocating) {
            *bytes = bytes.and(stretch.end());
        }
        result
    }

    /// Returns whether an entry wants its end.
    #[inline(always)]
    pub(crate) fn waits(&self) -> bool {
        self.wanted != 0
    }

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

    /// Returns the entries whose bits are set.
    fn entries(&self, bits: u64) -> impl Iterator<Item = &BpEntry> {
        let mut left = bits;
        iter::from_fn(move || {
            let number = (left != 0).then_some(left.trailing_zeros() as usize)?;
            left &= left - 1;
            self.data.entries.get(number)
        })
    }

    fn occurrence<'t>(&self, kind: Kind, text: &'t Text) -> Occurrence<'t> {
        let function = self.function;
        Occurrence {
            kind,
            function,
            text,
            at: None,
            took: None,
            polled: None,
            caller: None,
            has_token: false,
            stack: None,
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

impl BpEntry {
    /// Returns whether it may match a call of this process for more than a plain count: its events have a receiver, or it counts or flags.
    #[inline(always)]
    fn may_take(&self) -> bool {
        if self.counter.is_none() && !self.flags.contains(Flags::FLAG) && !self.session.is_heard() {
            return false;
        }
        if self.takes_all { self.flags != Flags::COUNT } else { self.is_for(process::current) }
    }

    /// Returns the number of callers in the call's event, if that has the stack.
    fn stacktrace(&self) -> Option<u8> {
        if !self.flags.contains(Flags::STACKTRACE) {
            return None;
        }
        self.set.pattern.match_spec().actions().stacktrace
    }

    /// Returns whether it matches the call, and counts it. Not for one that takes all, whose calls `begin` has counted.
    fn takes(&self, call: &CallView<'_>) -> bool {
        let takes = self.is_for(|| call.process()) && self.set.pattern.match_spec().evaluate(call).is_some();
        if let Some(counter) = self.counter.as_ref().filter(|_| takes) {
            counter.slot().count();
        }
        takes
    }
}
