//! The actions of patterns as bits.

use std::ops::BitOr;

use crate::breakpoint::pattern::actions::Actions;

/// Actions at a hit, one bit each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Flags(u16);

impl Flags {
    pub(crate) const NONE: Flags = Flags(0);
    pub(crate) const CALL: Flags = Flags(1);
    pub(crate) const RETURN: Flags = Flags(1 << 1);
    pub(crate) const PANIC: Flags = Flags(1 << 2);
    pub(crate) const CALLER: Flags = Flags(1 << 3);
    pub(crate) const COUNT: Flags = Flags(1 << 4);
    pub(crate) const TIME: Flags = Flags(1 << 5);
    /// A returned `Err` makes an event of its own kind.
    pub(crate) const ERROR: Flags = Flags(1 << 6);
    /// The call changes flags or the sequential trace token of its process.
    pub(crate) const FLAG: Flags = Flags(1 << 7);
    /// The return makes an event with the caller.
    pub(crate) const RETURN_TO: Flags = Flags(1 << 8);
    /// The call's event has the token of its process.
    pub(crate) const TOKEN: Flags = Flags(1 << 9);
    pub(crate) const STACKTRACE: Flags = Flags(1 << 10);
    pub(crate) const MEMORY: Flags = Flags(1 << 11);

    /// Those with an event at the end.
    pub(crate) const ENDS: Flags = Flags(Flags::RETURN.0 | Flags::PANIC.0 | Flags::ERROR.0 | Flags::RETURN_TO.0);

    /// Those with something to do after the call's event.
    pub(crate) const LATER: Flags = Flags(Flags::ENDS.0 | Flags::TIME.0 | Flags::MEMORY.0 | Flags::FLAG.0);

    /// Those with a counter.
    pub(crate) const COUNTS: Flags = Flags(Flags::COUNT.0 | Flags::TIME.0 | Flags::MEMORY.0);

    pub(crate) const fn contains(self, others: Flags) -> bool {
        self.0 & others.0 == others.0
    }

    pub(crate) const fn intersects(self, others: Flags) -> bool {
        self.0 & others.0 != 0
    }

    /// Returns whether `those` contain all of these.
    pub(crate) fn are_among(self, those: Flags) -> bool {
        self.0 & !those.0 == 0
    }

    /// Returns these if `wanted`, else none.
    fn when(self, wanted: bool) -> Flags {
        if wanted { self } else { Flags::NONE }
    }
}

impl BitOr for Flags {
    type Output = Flags;

    fn bitor(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

impl From<Actions> for Flags {
    fn from(actions: Actions) -> Flags {
        Flags::CALL.when(!actions.silent)
            | Flags::CALLER.when(actions.caller)
            | Flags::RETURN.when(actions.return_)
            | Flags::PANIC.when(actions.exception)
            | Flags::ERROR.when(actions.error)
            | Flags::RETURN_TO.when(actions.return_to)
            | Flags::COUNT.when(actions.count)
            | Flags::TIME.when(actions.time)
            | Flags::MEMORY.when(actions.memory)
            | Flags::FLAG.when(actions.changes_flags() || actions.set_token.is_any())
            | Flags::TOKEN.when(actions.get_token)
            | Flags::STACKTRACE.when(actions.stacktrace.is_some())
    }
}
