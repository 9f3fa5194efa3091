//! The waits of tasks for operations, in the table of tasks.
//!
//! A task waits from the entry of an operation that it awaits until it takes the result, or drops the future. All of this is behind the
//! probes of the operation, whose words the table sets: an operation that nobody watches pays nothing. `process-wait` and
//! `process-resume` do not fire: `efile_drv-entry` and `efile_drv-return` tell the same.
//!
//! Three waits are not noted, because no watched code runs where they begin or end: for a WRITE that was accepted before, for a CLOSE, and
//! for an operation that another task has begun.

use dyntrace_probes::clock;

use super::command::Command;
use dyntrace_processes::process::{self, OperationId};
use dyntrace_processes::task_table::{self, Begun, Operation, Resource};

/// Notes that the current task waits for an operation.
pub(super) fn begin(id: OperationId, command: Command) {
    if task_table::is_started() {
        task_table::wait_begins(&Begun {
            pid: process::current().number(),
            kind: command.name(),
            // An `async fn` does not know which line awaits it.
            place: None,
            resource: Resource::Operation(name(id)),
            since: clock::unique(),
        });
    }
}

/// Notes that the current task no longer waits for an operation. Does nothing on I/O threads.
#[cold]
#[inline(never)]
pub(super) fn end(id: OperationId) {
    task_table::wait_of_operation_ends(Some(name(id)));
}

/// Notes that the current task has given up an operation that an I/O thread runs, and will settle: that thread cannot change the task's row.
#[cold]
pub(super) fn give_up() {
    task_table::wait_of_operation_ends(None);
}

fn name(id: OperationId) -> Operation {
    Operation { thread: id.thread, tag: id.tag }
}
