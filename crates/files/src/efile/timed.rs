//! The duration of an operation, for recorder sessions that ask for slow ones.

use super::command::Command;
pub(super) use dyntrace_probes::rings::slow::Began;
use dyntrace_processes::probes::efile_drv;
use dyntrace_processes::process::OperationId;
use dyntrace_processes::tag::Tag;

/// Call it after `efile_drv-return` has fired, with the same values.
#[cold]
pub(super) fn ended(
    began: Began,
    id: OperationId,
    user_tag: Option<&Tag>,
    command: Command,
    error: Option<i32>,
    moved: u64,
) {
    efile_drv::r#return::__DESCRIPTOR.ended(began, || {
        let user_tag = user_tag.map_or("", |tag| tag);
        (
            id.thread,
            id.tag,
            user_tag.as_bytes(),
            command.number(),
            i32::from(error.is_none()),
            error.unwrap_or(0),
            moved as i64,
        )
    });
}
