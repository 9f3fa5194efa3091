//! The hot path: a traced function runs this code when it finds its site set.

pub(crate) mod busy;
pub(crate) mod call;
mod call_view;
pub(crate) mod data_ref;
pub(crate) mod future;
pub(crate) mod guard;
mod nested;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use call::{Begun, HOST, Hit, begin};
use dyntrace_probes::clock;
use dyntrace_probes::thread_progress::pin_again;

use crate::breakpoint::event::unwind::Mark;
use crate::breakpoint::measure::counters::CounterSlot;
use crate::breakpoint::measure::own_time::Stretch;
use crate::breakpoint::site::Site;
use crate::breakpoint::state::data::Quick;
use crate::breakpoint::state::generic_bp::with_active;
use crate::breakpoint::value::Value;

/// Runs the body, and makes the events that sessions want.
///
/// The site is the last argument, so that the body's captures stay in the registers of the function's own arguments: an unset site costs no
/// moves.
#[cold]
#[inline(never)]
#[doc(hidden)]
pub fn hit<R, B: FnOnce() -> R>(
    call: impl FnOnce(Option<&mut Hit>) -> B,
    value: impl Fn(&R) -> Value<'_>,
    site: &'static Site,
    mark: Mark,
) -> R {
    match glance(site) {
        Some(Glance::Nothing) => call(None)(),
        Some(Glance::Timed(slot)) => timed(call(None), slot),
        None => begun_or_over(call, value, site, mark),
    }
}

/// The result for a call that needs no more than a count or a time.
enum Glance {
    Nothing,
    Timed(CounterSlot),
}

/// Counts the call and decides what else it needs, if that takes no function call: saving registers would be half of the cost. Returns
/// `None` if it does.
#[inline(always)]
fn glance(site: &'static Site) -> Option<Glance> {
    // Only the host knows which generation is active.
    if HOST.get().is_some() {
        return None;
    }
    let pin = pin_again()?;
    // A marked word: its call may open the control socket, which takes function calls.
    let glance = with_active(&pin, site, |data| match data.quick {
        Quick::Counted(slot) => slot.count_again().then_some(Glance::Nothing),
        Quick::Timed(slot) => slot.begin_again(nested::MOST).then_some(Glance::Timed(slot)),
        Quick::Of(pid_filter) => (!pid_filter.may_have_current()).then_some(Glance::Nothing),
    });
    glance.ok()?.unwrap_or(Some(Glance::Nothing))
}

/// Out of line, as the next: so the hits above need no frame.
#[inline(never)]
fn begun_or_over<R, B: FnOnce() -> R>(
    call: impl FnOnce(Option<&mut Hit>) -> B,
    value: impl Fn(&R) -> Value<'_>,
    site: &'static Site,
    mark: Mark,
) -> R {
    match begun(call, value, site, mark) {
        Ok(result) => result,
        Err(body) => over(body),
    }
}

/// Runs the body, when the hit is over. A last call, so that the compiler can take the frame of the hit from the stack.
#[inline(never)]
fn over<R>(body: impl FnOnce() -> R) -> R {
    body()
}

/// Makes the event of the call. Runs the body only if something waits for its end, else returns it: it needs no frame of this crate.
#[inline(never)]
fn begun<R, B: FnOnce() -> R>(
    call: impl FnOnce(Option<&mut Hit>) -> B,
    value: impl Fn(&R) -> Value<'_>,
    site: &'static Site,
    mark: Mark,
) -> Result<R, B> {
    // By reference: moving a hit takes longer than much of its work.
    match &mut begin(site, mark) {
        Begun::Nothing => Err(call(None)),
        Begun::Timed(slot) => Ok(timed(call(None), *slot)),
        Begun::Hit(hit) => {
            let body = call(Some(hit));
            if hit.waits() { waited_for(body, value, hit) } else { Err(body) }
        }
    }
}

#[inline(never)]
fn timed<R>(body: impl FnOnce() -> R, slot: CounterSlot) -> R {
    let _timer = Timer { stretch: Stretch::begin(), began: clock::now(), slot };
    body()
}

/// A call that has begun in the slot.
struct Timer {
    stretch: Stretch,
    began: u64,
    slot: CounterSlot,
}

impl Drop for Timer {
    fn drop(&mut self) {
        let cycles = clock::now().saturating_sub(self.began);
        self.slot.end(cycles, self.stretch.end(cycles));
    }
}

/// Runs the body, and tells its end to those that want it. Returns the body if too many calls wait for theirs.
///
/// Out of line, so that a call that is only told saves no registers for it. Rendering is elsewhere, since calls nest deeply.
#[inline(never)]
fn waited_for<R, B: FnOnce() -> R>(body: B, value: impl Fn(&R) -> Value<'_>, hit: &Hit) -> Result<R, B> {
    if !nested::begin_or(|| hit.give_up()) {
        return Err(body);
    }
    // Unwind safe: the panic goes on, so no code sees values that the body left half changed.
    let ended = catch_unwind(AssertUnwindSafe(body));
    nested::end();
    match ended {
        Ok(result) => {
            hit.returned(None, &|| value(&result));
            Ok(result)
        }
        Err(payload) => {
            hit.panicked(None, &*payload);
            resume_unwind(payload)
        }
    }
}

/// Has the compiler infer the closure of a call as one that is called once. It returns the body: a closure, or a future.
#[doc(hidden)]
#[inline(always)]
pub fn call<B, F: FnOnce(Option<&mut Hit>) -> B>(call: F) -> F {
    call
}

/// Never called.
#[doc(hidden)]
pub fn promised<R>() -> R {
    unreachable!("only its type is of use")
}
