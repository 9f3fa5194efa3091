//! Threads in words. Names come from the program and the kernel: each is escaped here.

use dyntrace_tasks::threads::{Activity, Role, SystemCall, Thread, Threads};
use dyntrace_terminal::escape;

use super::stack;
use crate::fold::fold;
use crate::words;

/// Ids shown of many.
const IDS: usize = 3;

/// A block for each thread; one for threads that differ in ids and times only.
pub fn text(threads: &Threads, all: bool) -> String {
    let groups = fold(&threads.threads, |thread| {
        let does = does(&[*thread]).replace(|digit: char| digit.is_ascii_digit(), "");
        (thread.name.clone(), does, kernel(thread), stack::lines(thread, all))
    });
    let mut blocks: Vec<String> = groups.iter().map(|group| of_group(group, all)).collect();
    let notes = threads.notes.iter().map(|note| format!("note: {}\n", escape::name(note)));
    let unknown = threads.unknown().map(|unknown| format!("unknown: {}\n", escape::name(unknown)));
    blocks.extend(Some(unknown.into_iter().chain(notes).collect::<String>()).filter(|notes| !notes.is_empty()));
    blocks.join("\n")
}

fn of_group(group: &[&Thread], all: bool) -> String {
    let bold = anstyle::Style::new().bold();
    let thread = group[0];
    let threads = match group.len() {
        1 => format!("thread {}", thread.tid),
        count => format!("{count} threads ({})", listed(group.iter().map(|thread| thread.tid.into()))),
    };
    let name = escape::name(&thread.name);
    let mut text = format!("{bold}{threads}{bold:#}, {name}: {}\n", does(group));
    text += &format!("{}{}\n", kernel(thread), cpu_time(group));
    for line in stack::lines(thread, all) {
        text += &format!("  {line}\n");
    }
    text
}

fn listed(ids: impl ExactSizeIterator<Item = u64>) -> String {
    let more = if ids.len() > IDS { ", ..." } else { "" };
    ids.take(IDS).map(|id| id.to_string()).collect::<Vec<_>>().join(", ") + more
}

/// The work of threads with equal stacks for the runtime.
fn does(group: &[&Thread]) -> String {
    let thread = group[0];
    let role = match thread.role {
        Role::Worker => "worker",
        Role::Blocking => "thread of the blocking pool",
        Role::BlockOn => "in block_on",
        Role::Runtime => "of a runtime (worker or blocking pool, not known which)",
        Role::Other => "of no runtime, as far as names tell",
    };
    let ids = |of: fn(&Thread) -> Option<u64>, noun: &str| {
        let ids: Vec<u64> = group.iter().filter_map(|thread| of(thread)).collect();
        let several = if ids.len() == 1 { "" } else { "s" };
        (!ids.is_empty()).then(|| format!("{noun}{several} {}", listed(ids.into_iter())))
    };
    let activity = match thread.activity {
        Some(Activity::Idle) => Some("idle".to_owned()),
        Some(Activity::Polls) => Some(ids(|thread| thread.task, "polls task").unwrap_or("polls a task".to_owned())),
        Some(Activity::Runs) => Some(ids(|thread| thread.job, "runs job").unwrap_or("runs a job".to_owned())),
        None => None,
    };
    activity.map_or(role.to_owned(), |activity| format!("{role}, {activity}"))
}

/// The kernel's answer about a thread, in words.
fn kernel(thread: &Thread) -> String {
    let state = words::kernel_state(thread.state);
    let function = || thread.kernel_function.as_ref().map(|name| format!(" in the kernel's {}", escape::name(name)));
    let place = thread.system_call.as_ref().map(system_call).or_else(function);
    format!("{state}{}", place.unwrap_or_default())
}

fn system_call(call: &SystemCall) -> String {
    let name = call.name.map_or_else(|| format!("system call {}", call.number), str::to_owned);
    match (call.name, call.descriptor) {
        // The kernel's name for the rest of a call that something interrupted, such as a tracer.
        (Some("restart_syscall"), _) => " in a system call that was interrupted and goes on".to_owned(),
        (_, Some(descriptor)) => format!(" in {name} of descriptor {descriptor}"),
        (_, None) => format!(" in {name}"),
    }
}

fn cpu_time(group: &[&Thread]) -> String {
    let times: Option<Vec<u64>> = group.iter().map(|thread| thread.cpu_time).collect();
    let Some(time) = times.map(|times| times.into_iter().fold(0, u64::saturating_add)) else { return String::new() };
    let all = if group.len() > 1 { " in all" } else { "" };
    format!(", CPU time {}{all}", words::duration(time))
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    fn plain(threads: &Threads, all: bool) -> String {
        anstream::adapter::strip_str(&text(threads, all)).to_string()
    }

    #[test]
    fn a_block_for_each_thread() {
        assert_eq!(plain(&sample::threads(), false), include_str!("../golden/threads.txt"));
    }

    #[test]
    fn all_functions() {
        assert_eq!(plain(&sample::threads(), true), include_str!("../golden/threads-all.txt"));
    }

    #[test]
    fn no_threads() {
        assert_eq!(plain(&Threads::default(), false), "");
    }
}
