//! Without the recorder, operations are not timed.

use super::command::Command;
use dyntrace_processes::process::OperationId;
use dyntrace_processes::tag::Tag;

#[derive(Clone, Copy)]
pub(super) struct Began;

impl Began {
    pub(super) const UNKNOWN: Began = Began;

    pub(super) fn now() -> Began {
        Began
    }
}

pub(super) fn ended(_: Began, _: OperationId, _: Option<&Tag>, _: Command, _: Option<i32>, _: u64) {}
