//! Modules for other processes, over the recorder's [control socket](mod@crate::recorder::control): what `dyntrace code -p PID` does.
//!
//! The request `code RECORD` has an [`Order`] as its record. A process serves it from the first call of [`allow`](super::allow) on;
//! what changes something only if its policy is [`remote`](crate::code::Policy::remote). The answer has these records:
//!
//! | order | records |
//! |---|---|
//! | [`List`](Order::List) | of each version: `module`, `version`, `state` (`current`, `old`), `file`, `start`, `size`, `exports`; and one with `kept`, how many versions nobody can call that are in memory yet |
//! | [`Load`](Order::Load) | of each module: `module`, `version`, `file` |
//! | [`Upgrade`](Order::Upgrade) | the same, and `old`, the version before |
//! | [`Delete`](Order::Delete) | one: `module`, `version` |
//! | [`Purge`](Order::Purge), [`SoftPurge`](Order::SoftPurge) | one: `module`, `version`, `fate` (`kept`, `unloaded`); none, if there was no old version |
//! | [`Check`](Order::Check) | of each thread inside: `module`, `version`, `thread`, `name`; and, if there are such, one with `holds`: how many futures and borrowed handles live |
//! | [`History`](Order::History) | of each event: `time` (nanoseconds since 1970), `what` (`load`, `upgrade`, `delete`, `purge`), `module`, `version` |
//!
//! A long answer comes in several messages: the last record of each but the last is `more=1`. A client that goes while it waits
//! has what it asked for dropped: it is undone, or completed, as if the program had dropped it.

mod order;
mod perform;
mod serve;

use crate::recorder::control::serve_code;

pub use order::Order;

/// Has this process serve orders from now on.
pub(super) fn enrol() {
    serve_code(serve::serve);
}
