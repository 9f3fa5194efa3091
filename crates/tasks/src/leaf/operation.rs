//! Operations of `dyntrace::fs`, and other jobs on dyntrace's pool.
//!
//! Most operations are a job in a cell that the task, the queue and an I/O thread share. Syncs, writes and closes answer by a channel:
//! of these only the function that awaits tells the command.

use super::{Site, callers, descriptor, waits};
use crate::future::{Value, Values, Walk, list, tag, text};
use crate::listing::{Await, FileOperation, OperationId, Stage, WaitsFor};

/// The job of the file driver, by path without parameters.
const FILE_JOB: &str = "dyntrace_files::efile::operation::FileJob";

/// Numbers of commands.
mod command {
    pub const WRITE: i32 = 4;
    pub const PWD: i32 = 6;
    pub const WRITE_INFO: i32 = 16;
    pub const CLOSE: i32 = 23;
    pub const SETOPT: i32 = 26;
}

/// Reads a future that awaits a job.
pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    // the I/O thread changes the cell
    let live = &site.walk.live;
    let cell = live.follow(site.value, &["cell", "arc"])?;
    let stage = match live.variant(&live.follow(&cell, &["stage", "data", "value"])?)?.0.as_str() {
        "Submitted" => Stage::Queued,
        "Running" => Stage::Running,
        _ => Stage::Ended,
    };
    let job = live.follow(&cell, &["contents", "data", "value", "job", "?"]);
    let waits_for = match job {
        Some(job) if job.kind.bare() == FILE_JOB => WaitsFor::File(file(site.walk, &job, stage)?.into()),
        Some(job) => WaitsFor::Job { job: site.walk.name(&job), stage },
        None => WaitsFor::Job { job: "".into(), stage },
    };
    Some(Await { future: "Operation".into(), ..waits(waits_for) })
}

/// Reads the wait of a function of dyntrace that awaits the receiver of an answer.
pub(super) fn answered(site: &Site<'_, '_>) -> Option<Await> {
    let frame = site.frame?;
    let mut operation = FileOperation::default();
    operation.command = match frame.path {
        path if path.starts_with("dyntrace_files::efile::sync::") => {
            let live = &site.walk.live;
            let syncs = live.follow(frame.variables, &["self", "*", "arc"])?;
            operation.descriptor = descriptor::within(site.walk, &live.field(&syncs, "file")?);
            number(live, frame.variables, &["command"])?
        }
        path if path.starts_with("dyntrace_files::efile::descriptor::") => command::CLOSE,
        path if path.starts_with("dyntrace_files::fs::file::cursor::") => command::WRITE,
        _ => return None,
    };
    find_threads(site.walk, &mut operation);
    Some(Await { future: "Operation".into(), ..waits(WaitsFor::File(operation.into())) })
}

/// Reads the task that wakes a runtime's tasks when their operations have completed.
pub(super) fn read_wake_task(site: &Site<'_, '_>) -> Option<Await> {
    let address = site.address(&["delivery", "arc"])?;
    Some(waits(WaitsFor::Object { object: "completed operations of dyntrace", address }))
}

fn file(walk: &Walk<'_, '_>, job: &Value, stage: Stage) -> Option<FileOperation> {
    let live = &walk.live;
    let entered = live.field(job, "entered")?;
    let request = live.field(job, "request")?;
    let integer = |name: &str| number(live, &request, &[name]);
    let command = integer("command")?;
    let paths: Vec<String> = ["s1", "s2"].iter().filter_map(|name| path(live, &request, name)).collect();
    let descriptor = match command {
        _ if !paths.is_empty() => None,
        command::PWD => None,
        command::WRITE_INFO => integer("i4"),
        command::SETOPT => integer("i3"),
        _ => integer("i1"),
    };
    let id = |name: &str| number(live, &entered, &["id", name]);
    let mut operation = FileOperation {
        command,
        id: id("thread").zip(id("tag")).map(|(thread, tag)| OperationId { thread, tag }),
        paths,
        descriptor,
        user_tag: live.field(&entered, "user_tag").and_then(|option| tag(live, &option)),
        stage: Some(stage),
        ..FileOperation::default()
    };
    if stage == Stage::Running {
        find_threads(walk, &mut operation);
    }
    Some(operation)
}

/// Adds the threads that are in a system call on the operation's file, and the path of its descriptor.
fn find_threads(walk: &Walk<'_, '_>, operation: &mut FileOperation) {
    let Some(descriptors) = walk.reader.descriptors else { return };
    operation.callers = match (operation.descriptor, &operation.paths[..]) {
        (Some(number), _) => callers::on_descriptor(descriptors, number),
        (None, [first, ..]) => callers::on_path(descriptors, walk.live.memory, first),
        (None, []) => Vec::new(),
    };
    if let Some(number) = operation.descriptor {
        operation.paths.extend(descriptors.describe(number));
    }
}

fn number(values: &Values<'_, '_>, value: &Value, steps: &[&str]) -> Option<i32> {
    let value = values.follow(value, steps)?;
    values.low(&value, 4).map(|number| number as u32 as i32)
}

/// Reads one of a request's names, a `CString`.
fn path(values: &Values<'_, '_>, request: &Value, name: &str) -> Option<String> {
    let shown = values.follow(request, &[name, "?", "shown", "inner"])?;
    let (_, begin, length) = list(values, &shown)?;
    text(values, begin, length.checked_sub(1)?)
}
