//! Traces for other processes, over the recorder's [control socket](mod@crate::recorder::control). `dyntrace trace -p PID` uses them.
//!
//! The record of the request `trace RECORD` is a [`TraceRequest`], which begins a trace, or an [`Order`] to a running one. The answer to a
//! trace request has a record for each pattern: `session`, `id`, `functions`, `old_functions` if it is not 0, `later`, `pattern`. From then on the process sends messages
//! of one or more records. The field `told` of the first record is the kind of the message:
//!
//! | `told` | fields |
//! |---|---|
//! | `call`, `return`, `error`, `return_to`, `panic`, `cancelled` | `time` (nanoseconds since 1970), `process`, `thread`, `thread_name`, `tag`, `function`, `file`, `line`, `text`, `cut`, `caller` or else `inside` and `returns_to` (see [`Address`](crate::trace::Address)), `frame` for each address of the [`Stack`](crate::trace::Stack), `took` and `polled` (nanoseconds); fields that do not apply are left out |
//! | `counts` | `more`: whether a further message belongs to these counts; `at` (nanoseconds since 1970). The other records: `function`, `calls`, `time` and `own` (nanoseconds), `bytes` and `own_bytes` with the action `memory` |
//! | `lost` | `dropped`, `limited`: events so far that were dropped because the client reads slowly, or because there were too many in a second; `unended`: calls without an end, since too many around them waited for theirs |
//! | `end` | `patterns`, `functions`, `events`, `dropped`, `limited`, `unended`; if threads have delayed a setting, `held_up` (nanoseconds), `held_up_since` (nanoseconds since 1970) and `held_up_by`. The last message |
//!
//! The trace ends when it reaches a limit, and when the client closes its side of the connection. A client that reads slowly loses events,
//! and delays no thread of the program.
//!
//! An order comes over a connection of its own. The answer has a record for each current or new pattern, or, for an order about processes,
//! one record with `session` and `processes`. The counts of removed patterns are in the trace's next `counts`. A long answer comes in
//! several messages: the last record of each, except the last message, is `more=1`.

mod messages;
mod order;
mod outlet;
mod request;
mod running;
mod serve;
mod which;

use crate::recorder::control::serve_traces;

pub use order::{Action, Order};
pub use request::TraceRequest;
pub use which::Which;

/// Has this process serve traces on request.
pub(crate) fn enrol() {
    serve_traces(serve::serve);
}
