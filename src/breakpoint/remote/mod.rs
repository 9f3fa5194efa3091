//! Traces for other processes, over the recorder's [control socket](mod@crate::recorder::control): what `dyntrace trace -p PID` does.
//!
//! The request `trace RECORD` has a [`Wish`] as its record, which begins a trace, or an [`Order`] to one that goes on. A wish is
//! answered by one record for each pattern: `session`, `id`, `functions`, `later`, `pattern`. From then on the process tells, each
//! message one or more records of which the first says in `told` what it is:
//!
//! | `told` | what the record has |
//! |---|---|
//! | `call`, `return`, `error`, `return_to`, `panic`, `cancelled` | `time` (nanoseconds since 1970), `process`, `thread`, `thread_name`, `tag`, `function`, `file`, `line`, `text`, `cut`, `caller` or else `inside` and `returns_to` (see [`Address`](crate::trace::Address)), `frame` for each address of the [`Stack`](crate::trace::Stack), `took` and `polled` (nanoseconds); what does not apply is left out |
//! | `counts` | `more`: whether a further message belongs to these counts; `at` (nanoseconds since 1970). The other records: `function`, `calls`, `time` and `own` (nanoseconds), `bytes` and `own_bytes` where memory is asked for |
//! | `lost` | `dropped`, `limited`: events so far that nobody was told, since the client reads slowly or there were too many in a second |
//! | `end` | `patterns`, `functions`, `events`, `dropped`, `limited`; where threads have held up a setting, `held_up` (nanoseconds), `held_up_since` (nanoseconds since 1970) and `held_up_by`: nothing follows |
//!
//! The trace ends when its limits say so, and when the client closes its side of the connection or goes. A client that reads slowly
//! loses events; it holds up nobody.
//!
//! An order comes over a connection of its own. Its answer has such a record for each pattern that there is or that was set, or, where it
//! is about processes, one record with `session` and `processes`. The counts of removed patterns are among the next `counts` that the trace
//! tells. A long answer comes in several messages: the last record of each but the last is `more=1`.

mod messages;
mod order;
mod outlet;
mod running;
mod serve;
mod which;
mod wish;

use crate::recorder::control::serve_traces;

pub use order::{Action, Order};
pub use which::Which;
pub use wish::Wish;

/// Has this process serve traces when somebody asks for one.
pub(crate) fn enrol() {
    serve_traces(serve::serve);
}
