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

/// The pids of a group; the first ones of a large group.
pub fn pids(group: &[&TaskEntry]) -> String {
    let shown: Vec<String> = group.iter().take(PIDS).map(|seen| pid(seen.task.pid)).collect();
    shown.join(", ") + if group.len() > PIDS { ", ..." } else { "" }
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

pub fn tags(group: &[&TaskEntry]) -> String {
    same(group.iter().map(|seen| seen.tag.as_deref()), |tag| tag.map_or_else(missing, escape::name))
}

/// How often the tasks of a group were polled, together.
pub fn polls(group: &[&TaskEntry]) -> u64 {
    group.iter().map(|seen| seen.task.polls).fold(0, u64::saturating_add)
}

/// The time of the ended polls of a group, together.
pub fn busy(group: &[&TaskEntry], clock: Option<Clock>) -> String {
    took(group.iter().map(|seen| seen.task.busy).fold(0, u64::saturating_add), clock)
}

/// The longest of the ended polls of a group.
pub fn longest(group: &[&TaskEntry], clock: Option<Clock>) -> String {
    took(group.iter().map(|seen| seen.task.longest as u64).max().unwrap_or(0), clock)
}

/// The source of the last wake before a task's last poll. `None` if that is not known.
pub fn woken_by(seen: &TaskEntry) -> Option<String> {
    Some(match seen.task.woken_by? {
        Waker::Process(number) => pid(number),
        Waker::Task(id) => format!("task {id}"),
        Waker::Thread(thread) => format!("thread {thread}"),
    })
}

/// The same of all tasks of a group, or how many different things woke them.
pub fn wakers(group: &[&TaskEntry]) -> String {
    same(group.iter().map(|seen| woken_by(seen)), |waker| waker.unwrap_or_else(missing))
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

/// The resource that all tasks of a group wait for, or how many different ones there are.
pub fn resources(group: &[&TaskEntry]) -> String {
    same(group.iter().filter_map(|seen| Some(resource(seen.wait.as_ref()?))), |resource| match resource {
        Resource::Numbered(number) => reference(number),
        Resource::Named(name) => name.map_or_else(missing, escape::name),
        Resource::Process(number) => pid(number),
        Resource::Operation(thread, tag) => operation(thread, tag),
    })
}

/// The thing of all as `shown` has it, or how many different ones there are.
fn same<T: Ord>(things: impl Iterator<Item = T> + Clone, shown: impl Fn(T) -> String) -> String {
    // A million tasks mostly have the same one, or none.
    if let Some(first) = things.clone().next()
        && things.clone().all(|thing| thing == first)
    {
        return shown(first);
    }
    let mut different: Vec<T> = things.collect();
    different.sort_unstable();
    different.dedup();
    format!("({} different)", different.len())
}

/// A resource, by its number, its name, its pid, or as probes name it.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Resource<'t> {
    Numbered(u64),
    Named(Option<&'t str>),
    Process(u64),
    /// By its thread and that thread's number for it.
    Operation(i32, i32),
}

/// The resource that a task waits for.
pub fn awaited(seen: &TaskEntry) -> Option<Resource<'_>> {
    seen.wait.as_ref().map(resource)
}

pub fn resource(wait: &Waits) -> Resource<'_> {
    match &wait.resource {
        Thing::Numbered(number) => Resource::Numbered(*number),
        Thing::Named(name) => Resource::Named(name.as_ref().and_then(|name| known(&name.first))),
        Thing::Process(number) => Resource::Process(*number),
        Thing::Operation { thread, tag } => Resource::Operation(*thread, *tag),
    }
}

/// The same for a resource that several tasks may wait for. An operation has one task.
pub fn shared(wait: &Waits) -> Option<Resource<'_>> {
    Some(resource(wait)).filter(|resource| !matches!(resource, Resource::Operation(..)))
}
