//! Serves `dyntrace code -p PID` and other clients over the recorder's [control socket](mod@crate::recorder::control).
//!
//! The request `code RECORD` has an [`Order`] as its record. A process serves it after the first call of [`allow`](crate::code::allow);
//! orders that change something only if its policy is [`remote`](crate::code::Policy::remote). The answer has these records:
//!
//! | order | records |
//! |---|---|
//! | [`List`](Order::List) | of each version: `module`, `version`, `state` (`current`, `old`), `file`, `start`, `size`, `exports`; and one with `kept`, the number of versions that stay mapped though they cannot be called |
//! | [`Load`](Order::Load) | of each module: `module`, `version`, `file` |
//! | [`Upgrade`](Order::Upgrade) | of each module: `module`, `version`, `file`, and `old`, the previous version |
//! | [`Delete`](Order::Delete) | one: `module`, `version` |
//! | [`Purge`](Order::Purge), [`SoftPurge`](Order::SoftPurge) | one: `module`, `version`, `fate` (`kept`, `unloaded`); none, if there was no old version |
//! | [`Check`](Order::Check) | of each thread inside: `module`, `version`, `thread`, `name`; and, if there are any, one with `holds`: the number of futures and borrowed handles that live |
//! | [`History`](Order::History) | of each event: `time` (nanoseconds since 1970), `what` (`load`, `upgrade`, `delete`, `purge`), `module`, `version` |
//!
//! A long answer takes several messages; the last record of each but the last message is `more=1`. If a client disconnects while it
//! waits, its order is dropped: undone or completed, as if the program had dropped it.

mod order;
mod perform;
mod serve;

use crate::recorder::control::serve_code;

pub use order::Order;

/// Makes this process serve orders from now on.
pub(super) fn enrol() {
    serve_code(serve::serve);
}
