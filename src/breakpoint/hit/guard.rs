//! Functions with `#[track_caller]`.

use std::panic::Location;
use std::thread;

use super::call::Hit;
use crate::breakpoint::event::caller::Origin;
use crate::breakpoint::event::unwind::Mark;
use crate::breakpoint::site::Site;
use crate::breakpoint::value::Value;

/// The call of a function with `#[track_caller]`: sees its end, but not its value.
#[doc(hidden)]
#[derive(Default)]
pub struct Guard {
    hit: Option<Hit>,
    was_panicking: bool,
}

impl Guard {
    /// Makes a guard without a hit.
    #[inline(always)]
    pub fn new() -> Guard {
        Guard { hit: None, was_panicking: false }
    }

    /// Begins the hit of a call, if an entry may match it.
    #[cold]
    #[inline(never)]
    pub fn hit(
        &mut self,
        site: &'static Site,
        caller: Option<&'static Location<'static>>,
        mark: Mark,
    ) -> Option<&mut Hit> {
        self.was_panicking = thread::panicking();
        self.hit = Hit::begin(site, caller.map_or(Origin::Stack, Origin::Location), mark);
        self.hit.as_mut()
    }
}

impl Drop for Guard {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(hit) = self.hit.take() {
            hit.unguarded(self.was_panicking);
        }
    }
}

impl Hit {
    #[cold]
    #[inline(never)]
    fn unguarded(self, was_panicking: bool) {
        if thread::panicking() && !was_panicking {
            self.panicked_with(None, "(the message is its caller's)");
        } else {
            self.returned(None, &|| Value::HIDDEN);
        }
    }
}
