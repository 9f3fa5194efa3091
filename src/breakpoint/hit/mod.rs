//! The hot path: a traced function runs this code when it finds its site set.

pub(crate) mod busy;
pub(crate) mod call;
mod call_view;
pub(crate) mod data_ref;
pub(crate) mod future;
pub(crate) mod guard;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use call::{Begun, HOST, Hit, begin};

use crate::breakpoint::event::unwind::Mark;
use crate::breakpoint::measure::counters::CounterSlot;
use crate::breakpoint::measure::own_time::Stretch;
use crate::breakpoint::site::Site;
use crate::breakpoint::state::data::Quick;
use crate::breakpoint::state::generic_bp::with_active;
use crate::breakpoint::value::Value;
use crate::clock;
use crate::thread_progress::pin_again;

/// Runs the body, and makes the events that sessions want.
///
/// The site is the last argument, so that the body's captures stay in the registers of the function's own arguments: an unset site costs no
/// moves.
#[cold]
#[inline(never)]
#[doc(hidden)]
pub fn hit<R>(
    body: impl FnOnce(Option<&mut Hit>) -> R,
    value: impl Fn(&R) -> Value<'_>,
    site: &'static Site,
    mark: Mark,
) -> R {
    match glance(site) {
        Some(Glance::Nothing) => body(None),
        Some(Glance::Timed(slot)) => timed(body, slot),
        None => begun(body, value, site, mark),
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
        Quick::Timed(slot) => slot.begin_again().then_some(Glance::Timed(slot)),
        Quick::Of(sieve) => (!sieve.may_have_current()).then_some(Glance::Nothing),
    });
    glance.ok()?.unwrap_or(Some(Glance::Nothing))
}

#[inline(never)]
fn begun<R>(
    body: impl FnOnce(Option<&mut Hit>) -> R,
    value: impl Fn(&R) -> Value<'_>,
    site: &'static Site,
    mark: Mark,
) -> R {
    // By reference: moving a hit takes longer than much of its work.
    match &mut begin(site, mark) {
        Begun::Nothing => body(None),
        Begun::Timed(slot) => timed(body, *slot),
        Begun::WholeCall(hit) => looked_at(body, value, hit),
        Begun::CallOnly(hit) => body(Some(hit)),
    }
}

#[inline(never)]
fn timed<R>(body: impl FnOnce(Option<&mut Hit>) -> R, slot: CounterSlot) -> R {
    let _timer = Timer { stretch: Stretch::begin(), began: clock::now(), slot };
    body(None)
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

/// Out of line, so that counted calls need no stack space for it. Rendering is elsewhere, since calls nest deeply.
#[inline(never)]
fn looked_at<R>(body: impl FnOnce(Option<&mut Hit>) -> R, value: impl Fn(&R) -> Value<'_>, hit: &mut Hit) -> R {
    // Unwind safe: the panic goes on, so no code sees values that the body left half changed.
    match catch_unwind(AssertUnwindSafe(|| body(Some(&mut *hit)))) {
        Ok(result) => {
            hit.returned(None, &|| value(&result));
            result
        }
        Err(payload) => {
            hit.panicked(None, &*payload);
            resume_unwind(payload)
        }
    }
}

/// Has the compiler infer the closure of a body as one that is called once.
#[doc(hidden)]
#[inline(always)]
pub fn body<R, F: FnOnce(Option<&mut Hit>) -> R>(body: F) -> F {
    body
}

/// Never called.
#[doc(hidden)]
pub fn promised<R>() -> R {
    unreachable!("only its type is of use")
}
