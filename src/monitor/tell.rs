//! Tells an event to its probe and to flight recorders, whether the monitor is the program's own or a command's.

use dyntrace_probes::text::SourcePlace;

use super::event::{Event, Thread};
use super::kind::Kind;
use crate::recorder::trigger;
use dyntrace_processes::probes::system_monitor as probes;

/// Fires the probe of the kind, and has flight recorders take a snapshot if asked.
pub(super) fn tell(event: &Event, snapshot: bool) {
    let Event { kind, amount, limit, process, function, operation, port, .. } = event;
    let (amount, limit) = (*amount, *limit);
    match kind {
        Kind::LongSchedule => {
            let (thread, state) = event.thread.as_ref().map_or((0, None), |thread| (thread.id, Some(stands(thread))));
            probes::long_schedule(|| (*process, *function, amount, limit, thread as i32, state.as_deref()));
        }
        Kind::LongWait => {
            let place = event.place.map(SourcePlace::new);
            let text = place.as_ref().map(SourcePlace::text);
            probes::long_wait(|| (*process, event.resource.as_deref(), *operation, text, amount, limit));
        }
        Kind::LongMessageQueue => probes::long_message_queue(|| (*process, amount, limit)),
        Kind::BusyPort => probes::busy_port(|| (*port, amount, limit)),
        Kind::LongBlockingQueue => probes::long_blocking_queue(|| (amount, limit)),
        Kind::TooManyTasks => probes::too_many_tasks(|| (amount, limit)),
    }
    if snapshot {
        trigger();
    }
}

/// The state of a thread: `S, in futex`.
fn stands(thread: &Thread) -> String {
    let state = thread.state.map(String::from);
    let call = thread.system_call.as_ref().map(|call| format!("in {call}"));
    let function = || thread.kernel_function.as_ref().map(|function| format!("in the kernel's {function}"));
    state.into_iter().chain(call.or_else(function)).collect::<Vec<_>>().join(", ")
}
