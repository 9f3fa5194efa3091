//! A function that finds its site set.

pub(crate) mod busy;
pub(crate) mod call;
pub(crate) mod future;
pub(crate) mod guard;
pub(crate) mod held;
mod seen;

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

/// Runs the body, and tells whoever wants to know.
///
/// The site comes last, so that what the body holds stays in the registers in which it came to the function: where nothing
/// is set, nothing has to be moved either.
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
        Some(Glance::Timed(place)) => timed(body, place),
        None => begun(body, value, site, mark),
    }
}

/// What is to be done about a call of which no more has to be known.
enum Glance {
    Nothing,
    Timed(CounterSlot),
}

/// Counts the call, and finds out what else is to be done about it, where that can be known without calling anything: so no
/// registers are saved, which would be half of what this costs.
#[inline(always)]
fn glance(site: &'static Site) -> Option<Glance> {
    // A guest does not know which generation is in force.
    if HOST.get().is_some() {
        return None;
    }
    let pin = pin_again()?;
    let glance = with_active(&pin, site, |data| match data.quick {
        Quick::Counted(place) => place.count_again().then_some(Glance::Nothing),
        Quick::Timed(place) => place.count_again().then_some(Glance::Timed(place)),
        Quick::Of(sieve) => (!sieve.may_have_current()).then_some(Glance::Nothing),
    });
    glance.unwrap_or(Some(Glance::Nothing))
}

#[inline(never)]
fn begun<R>(
    body: impl FnOnce(Option<&mut Hit>) -> R,
    value: impl Fn(&R) -> Value<'_>,
    site: &'static Site,
    mark: Mark,
) -> R {
    // It stays where it was made: to move it takes longer than much of what is done with it.
    match &mut begin(site, mark) {
        Begun::Nothing => body(None),
        Begun::Timed(place) => timed(body, *place),
        Begun::Traced(hit) => looked_at(body, value, hit),
        Begun::Told(hit) => body(Some(hit)),
    }
}

#[inline(never)]
fn timed<R>(body: impl FnOnce(Option<&mut Hit>) -> R, place: CounterSlot) -> R {
    let _timer = Timer { stretch: Stretch::begin(), began: clock::now(), place };
    body(None)
}

/// Measures until it is dropped.
struct Timer {
    stretch: Stretch,
    began: u64,
    place: CounterSlot,
}

impl Drop for Timer {
    fn drop(&mut self) {
        let cycles = clock::now().saturating_sub(self.began);
        self.place.add_time(cycles, self.stretch.end(cycles));
    }
}

/// Out of line, so that counting a call takes no room on the stack. Nothing is rendered here: calls may be deep.
#[inline(never)]
fn looked_at<R>(body: impl FnOnce(Option<&mut Hit>) -> R, value: impl Fn(&R) -> Value<'_>, hit: &mut Hit) -> R {
    // What the body left half changed nobody sees: the panic goes on.
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

/// Lets the compiler know what the closure of a body is, before it looks at it: one that is called once.
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
