//! Notes the probes of operations as they fire, for tests without a tracer.

use std::cell::Cell;
use std::sync::Mutex;

use crate::aio_pool::Port;
use crate::efile::Command;
use dyntrace_processes::process::OperationId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    Entry(Port, Command),
    InternalEntry,
    InternalReturn,
    /// With the errno, 0 for success.
    Return(i32),
}

/// An operation id is never used twice in one test run.
static NOTED: Mutex<Vec<(OperationId, Stage)>> = Mutex::new(Vec::new());

std::thread_local! {
    static ENTERED: Cell<usize> = const { Cell::new(0) };
}

/// Returns how many operations this thread has entered.
pub(crate) fn entered() -> usize {
    ENTERED.get()
}

/// Whether the functions of probes run although no tracer listens, and note them here.
pub(super) const IS_ON: bool = true;

pub(super) fn entry(id: OperationId, port: Port, command: Command) {
    ENTERED.set(ENTERED.get() + 1);
    note(id, Stage::Entry(port, command));
}

pub(super) fn int_entry(id: OperationId) {
    note(id, Stage::InternalEntry);
}

pub(super) fn int_return(id: OperationId) {
    note(id, Stage::InternalReturn);
}

pub(super) fn r#return(id: OperationId, error: Option<i32>) {
    note(id, Stage::Return(error.unwrap_or(0)));
}

fn note(id: OperationId, stage: Stage) {
    NOTED.lock().unwrap().push((id, stage));
}

/// Returns the operations of a port, in the order of their entries: their commands, and the probes that each has fired after its
/// entry.
pub(crate) fn operations(of: Port) -> Vec<(Command, Vec<Stage>)> {
    let noted = NOTED.lock().unwrap();
    let entries = noted.iter().filter_map(|&(id, stage)| match stage {
        Stage::Entry(port, command) if port == of => Some((id, command)),
        _ => None,
    });
    let rest = |of| noted.iter().filter(move |(id, stage)| *id == of && !matches!(stage, Stage::Entry(..)));
    entries.map(|(id, command)| (command, rest(id).map(|&(_, stage)| stage).collect())).collect()
}
