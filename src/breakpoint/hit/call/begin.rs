//! The beginning of a traced call.

use std::cell::OnceCell;
use std::ptr::NonNull;
use std::sync::Arc;

use dyntrace_probes::clock;
use dyntrace_probes::thread_progress::pin;

use super::{HOST, Hit, Timing};
use crate::breakpoint::event::Kind;
use crate::breakpoint::event::caller::Origin;
use crate::breakpoint::event::occurrence::{self, Occurrence};
use crate::breakpoint::event::unwind::Mark;
use crate::breakpoint::hit::busy::{Busy, is_busy};
use crate::breakpoint::hit::call_view::{CallView, render, rendered};
use crate::breakpoint::hit::data_ref::{DataRef, Pinned};
use crate::breakpoint::hit::nested;
use crate::breakpoint::measure::counters::CounterSlot;
use crate::breakpoint::measure::own_memory::{self, Allocating};
use crate::breakpoint::measure::own_time::Stretch;
use crate::breakpoint::site::Site;
use crate::breakpoint::state::data::{BpData, Quick};
use crate::breakpoint::state::entry::BpEntry;
use crate::breakpoint::state::flags::Flags;
use crate::breakpoint::state::generic_bp::with_active;
use crate::breakpoint::value::Value;
use crate::recorder::open_if_asked;
use dyntrace_processes::process;

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
