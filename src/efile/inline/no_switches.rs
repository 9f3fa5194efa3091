//! Systems without attempts: nothing is slow.

#[derive(Clone, Copy)]
pub(super) struct Switches;

impl Switches {
    pub(super) fn of_this_thread() -> Switches {
        Switches
    }

    pub(super) fn has_slept_since(self, _: Switches) -> bool {
        true
    }

    pub(super) fn was_preempted_since(self, _: Switches) -> bool {
        false
    }
}
