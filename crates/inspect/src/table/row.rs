//! Tasks of a table in words. Names come from the program: each is escaped here.

use std::sync::Arc;
use std::time::Duration;

use dyntrace_task_table::{Clock, Pair, State, TaskEntry, Thing, Waits, Waker};
use dyntrace_terminal::escape;

/// Pids shown of many.
pub const PIDS: usize = 3;

pub fn state(seen: &TaskEntry) -> &'static str {
    match seen.task.state {
        State::Scheduled => "scheduled",
        State::Running => "running",
        State::Idle => "idle",
    }
}

/// Since when it has its state, in cycles.
pub fn since(seen: &TaskEntry) -> u64 {
    let task = &seen.task;
    match task.state {
        State::Scheduled => task.spawned,
        State::Running => task.scheduled,
        // Its last poll ended then.
        State::Idle => task.scheduled.saturating_add(task.last as u64),
    }
}

pub fn pid(number: u64) -> String {
    format!("<0.{number}.0>")
}

/// A file operation, as probes name it.
pub fn operation(thread: i32, tag: i32) -> String {
    format!("{{{thread},{tag}}}")
}

pub fn reference(number: u64) -> String {
    format!("#Ref<0.{number}>")
}

/// `None` without a clock, or for a time that no clock shows.
pub fn realtime(clock: Option<Clock>, cycle: u64) -> Option<i64> {
    clock.and_then(|clock| i64::try_from(clock.realtime(cycle)).ok())
}

/// A text; `None` if it is missing.
pub fn known(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

pub fn texts(pair: Option<&Pair>) -> (String, String) {
    let shown = |text: &str| known(text).map_or_else(missing, escape::name);
    pair.map_or_else(|| (missing(), missing()), |pair| (shown(&pair.first), shown(&pair.second)))
}

pub fn missing() -> String {
    "-".to_owned()
}

pub fn tag(seen: &TaskEntry) -> String {
    seen.tag.as_deref().map_or_else(missing, escape::name)
}

/// The function of a task that is in the table only.
pub fn function(seen: &TaskEntry) -> String {
    seen.site.as_ref().map_or_else(missing, |site| escape::name(&*site.first))
}

/// Where a task waits. `None` if it does not wait.
pub fn place(seen: &TaskEntry) -> Option<String> {
    Some(texts(seen.wait.as_ref()?.site.as_ref()).1)
}

/// The same as a part of a sentence: nothing if no place is known, as of file operations.
pub fn at(seen: &TaskEntry) -> String {
    let site = seen.wait.as_ref().and_then(|wait| wait.site.as_deref());
    site.and_then(|site| known(&site.second)).map_or_else(String::new, |place| format!(" at {}", escape::name(place)))
}

/// The source of the last wake before a task's last poll. `None` if that is not known.
pub fn woken_by(seen: &TaskEntry) -> Option<String> {
    Some(match seen.task.woken_by? {
        Waker::Process(number) => pid(number),
        Waker::Task(id) => format!("task {id}"),
        Waker::Thread(thread) => format!("thread {thread}"),
    })
}

pub fn took(cycles: u64, clock: Option<Clock>) -> String {
    clock.map_or_else(missing, |clock| format!("{:.1?}", Duration::from_nanos(clock.nanoseconds(cycles))))
}

/// By their addresses: tasks share the texts of a place.
type Texts = Option<usize>;

/// Tasks of which this is the same were spawned at one place, and wait at one.
pub type Alike = (Texts, Option<Texts>);

pub fn alike(seen: &TaskEntry) -> Alike {
    let texts = |pair: &Option<Pair>| pair.as_ref().map(|pair| Arc::as_ptr(pair).addr());
    (texts(&seen.site), seen.wait.as_ref().map(|wait| texts(&wait.site)))
}

/// The name of the resource of a wait. `None` if it has none.
pub fn resource_name(wait: &Waits) -> Option<String> {
    Some(match &wait.resource {
        Thing::Numbered(number) => reference(*number),
        Thing::Named(name) => known(&name.as_ref()?.first)?.to_owned(),
        Thing::Process(number) => pid(*number),
        Thing::Operation { thread, tag } => operation(*thread, *tag),
    })
}

/// The resource that a task waits for, in words.
pub fn shown_resource(seen: &TaskEntry) -> String {
    seen.wait.as_ref().and_then(resource_name).map_or_else(missing, escape::name)
}

/// The resource that a task waits for.
pub fn awaited(seen: &TaskEntry) -> Option<&Thing> {
    seen.wait.as_ref().map(|wait| &wait.resource)
}

/// The same, if several tasks may wait for it. An operation has one task.
pub fn shared(seen: &TaskEntry) -> Option<&Thing> {
    awaited(seen).filter(|resource| !matches!(resource, Thing::Operation { .. }))
}
