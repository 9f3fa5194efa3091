//! Tasks and their waits in words. Names come from the program: each is escaped here.

use dyntrace::efile::Command;
use dyntrace_tasks::listing::{
    Await, Chain, FileOperation, Guard, Name, Progress, Ready, SemaphoreOf, SourceLine, Spawned, Stage, Task, Unpolled,
    WaitsFor,
};
use dyntrace_terminal::escape;

use crate::own;

/// The task's future. The chain has the short name. A future of the program's own stands before the framework's that awaits it.
pub fn future(task: &Task) -> String {
    match &task.chain {
        Chain::Read { root } if !root.future.is_empty() => {
            let (name, outer) = (of_job(&own::or_self(root).future), of_job(&root.future));
            if name == outer { name } else { format!("{name} in {outer}") }
        }
        _ => named(&task.future),
    }
}

/// Whether memory has a name of the task's future.
pub fn is_named(task: &Task) -> bool {
    let in_chain = matches!(&task.chain, Chain::Read { root } if !root.future.is_empty());
    in_chain || matches!(task.future, Name::Type { .. } | Name::Symbol { .. })
}

/// The user tag of the task, if it has one of dyntrace.
pub fn user_tag(task: &Task) -> Option<String> {
    let Chain::Read { root } = &task.chain else { return None };
    let path = std::iter::successors(Some(root), |future| match &future.awaits[..] {
        [only] => Some(only),
        _ => None,
    });
    path.filter_map(|future| future.user_tag.as_deref()).last().map(escape::name)
}

/// The task's id; with its runtime if another task has the same id.
pub fn id(task: &Task) -> String {
    match (task.shares_id, task.owner) {
        (false, _) => task.id.to_string(),
        (true, 0) => format!("{} (job at {:#x})", task.id, task.address),
        (true, owner) => format!("{} (of runtime {owner} at {:#x})", task.id, task.scheduler),
    }
}

/// A future by the best name that is known.
pub fn named(name: &Name) -> String {
    match name {
        Name::Type { name } => of_job(name),
        Name::Symbol { name } => of_job(name),
        Name::Candidates { names } => names.iter().map(|name| of_job(name)).collect::<Vec<_>>().join(" or "),
        Name::Address { poll } => format!("polled at {poll:#x}"),
    }
}

/// The function of a blocking job, the future of a process of dyntrace, and any other future as it is.
pub fn of_job(name: &str) -> String {
    // Names of functions have its whole path, which is all that debug information without types tells.
    let bare = name.strip_prefix("tokio::runtime::blocking::task::").unwrap_or(name);
    let within = |bare: &str, around: &str| bare.strip_prefix(around)?.strip_suffix('>').map(type_name);
    // The future of `dyntrace::spawn`, around the program's own.
    let own = bare.strip_prefix("dyntrace_processes::process::").unwrap_or(bare);
    let process = within(own, "OwnProcess<").map(|name| name.trim_end_matches("::{async fn}").to_owned());
    process.or_else(|| within(bare, "BlockingTask<")).unwrap_or_else(|| type_name(name))
}

/// The name of a type, as sources have it: `{closure_env#0}` is the compiler's name for `{closure}`.
pub fn type_name(name: &str) -> String {
    const OURS: [(&str, &str); 3] =
        [("{closure_env#", "{closure}"), ("{async_fn_env#", "{async fn}"), ("{async_block_env#", "{async block}")];
    let mut told = escape::name(name);
    for (theirs, ours) in OURS {
        while let Some(begin) = told.find(theirs) {
            let Some(length) = told[begin..].find('}') else { break };
            told.replace_range(begin..=begin + length, ours);
        }
    }
    told
}

/// `text`, cut to a width that leaves room in a line.
pub fn cut(text: String, width: usize) -> String {
    if text.chars().count() <= width { text } else { text.chars().take(width - 3).collect::<String>() + "..." }
}

/// The state, and facts of the task that are unusual.
pub fn state(task: &Task) -> String {
    let job = if task.owner == 0 { "job " } else { "" };
    let unlinked = if task.linked == Some(false) && !task.state.complete { ", in no list" } else { "" };
    format!("{job}{}{unlinked}", task.state)
}

/// Whether the runtime has recorded where the task was spawned.
pub fn is_spawn_recorded(task: &Task) -> bool {
    matches!(task.spawned, Spawned::Recorded(_))
}

/// Candidates shown of the places that may have spawned a task.
const PLACES: usize = 3;

/// Where the task was spawned. Candidates end with `?`.
pub fn spawned(task: &Task) -> String {
    match &task.spawned {
        Spawned::Unknown => "-".to_owned(),
        Spawned::Recorded(place) => self::place(place),
        Spawned::Candidates(places) => {
            let shown: Vec<_> = places.iter().take(PLACES).map(|place| format!("{}?", self::place(place))).collect();
            let more = places.len().saturating_sub(PLACES);
            shown.join(" ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
        }
    }
}

pub fn place(place: &SourceLine) -> String {
    escape::name(place.to_string())
}

/// The outermost line of the program's own that awaits, or of any, or why there is none. A running task has left that line: it is marked
/// with `after`.
pub fn at(task: &Task) -> String {
    line(task, own::or_self)
}

/// As [`at`], of those that await `leaf`.
pub fn at_leaf(task: &Task, leaf: &Await) -> String {
    line(task, |root| own::before(root, leaf))
}

fn line(task: &Task, own: impl Fn(&Await) -> &Await) -> String {
    let Chain::Read { root } = &task.chain else { return "-".to_owned() };
    match outermost(own(root)) {
        Some(place) if task.state.running => format!("after {}", self::place(place)),
        Some(place) => self::place(place),
        None => "-".to_owned(),
    }
}

pub fn outermost(future: &Await) -> Option<&SourceLine> {
    future.place.as_ref().or_else(|| match &future.awaits[..] {
        [only] => outermost(only),
        _ => None,
    })
}

/// Whether memory tells what the task waits for.
pub fn is_told(task: &Task) -> bool {
    task.leaves().iter().any(|leaf| !matches!(leaf.waits_for, Some(WaitsFor::UnknownLeaf | WaitsFor::Forever)))
}

/// Why a task without leaves has none.
pub fn without_leaves(task: &Task) -> &'static str {
    match &task.chain {
        _ if task.state.complete => "nothing (complete)",
        _ if task.owner == 0 && task.state.running => "nothing (it runs on a thread of its own)",
        _ if task.owner == 0 => "a thread of the blocking pool",
        Chain::Read { root } if root.progress == Progress::Unresumed && task.state.running => {
            "nothing (it is in its first poll)"
        }
        Chain::Read { root } if root.progress == Progress::Unresumed => "its first poll",
        Chain::Read { .. } => "an unknown event",
        Chain::Busy => "an unknown event (it changed during each reading)",
        Chain::Complete => "nothing (its future is gone)",
        Chain::NoTypes => "an unknown event (no debug information)",
    }
}

/// The wait of `future` in words; with its type if the reader does not know it.
pub fn leaf(future: &Await) -> String {
    match &future.waits_for {
        None | Some(WaitsFor::UnknownLeaf) => format!("unknown future {}", type_name(&future.future)),
        Some(waits_for) => self::waits_for(waits_for),
    }
}

fn waits_for(waits_for: &WaitsFor) -> String {
    match waits_for {
        WaitsFor::Semaphore { address, of, name, free, missing, closed, .. } => {
            let closed = if *closed { ", closed" } else { "" };
            let missing = match missing {
                0 => "granted".to_owned(),
                missing => format!("{missing} missing"),
            };
            format!("{}{} {address:#x} ({free} free, {missing}{closed})", self::of(*of), quoted(name.as_deref()))
        }
        WaitsFor::Notify { address } => format!("Notify {address:#x}"),
        WaitsFor::Channel { channel, address: Some(address) } => format!("{channel} channel {address:#x}"),
        WaitsFor::Channel { channel, address: None } => format!("{channel} channel, answered"),
        WaitsFor::Timer { due_in } if *due_in < 0 => format!("timer due {} ago", duration(due_in.unsigned_abs())),
        WaitsFor::Timer { due_in } => format!("timer in {}", duration(due_in.unsigned_abs())),
        WaitsFor::Join { task: Some(task), .. } => format!("join of task {task}"),
        WaitsFor::Join { address, task: None } => format!("join of the task at {address:#x}"),
        WaitsFor::Descriptor { descriptor, describes, ready, unread } => {
            let told = match describes {
                Some(describes) => format!("{} (descriptor {descriptor})", escape::name(describes)),
                None => format!("descriptor {descriptor}"),
            };
            let unread = if *unread > 0 { format!(", {unread} unread") } else { String::new() };
            told + ready.map_or("", self::ready) + &unread
        }
        WaitsFor::Object { object, address } => format!("{object} {address:#x}"),
        WaitsFor::File(operation) => file(operation),
        WaitsFor::Job { job, .. } if job.is_empty() => "job of dyntrace's pool".to_owned(),
        WaitsFor::Job { job, .. } => format!("job {} of dyntrace's pool", type_name(job)),
        WaitsFor::Forever => "nothing, forever".to_owned(),
        WaitsFor::UnknownLeaf => "unknown future".to_owned(),
    }
}

/// The command, its files, and the names that the operation has in traces.
fn file(operation: &FileOperation) -> String {
    let mut told = command(operation);
    let paths: Vec<String> = operation.paths.iter().map(escape::name).collect();
    let descriptor = operation.descriptor.map(|number| format!("descriptor {number}"));
    match (&paths[..], descriptor) {
        ([], None) => {}
        ([], Some(descriptor)) => told += &format!(" of {descriptor}"),
        (_, Some(descriptor)) => told += &format!(" of {} ({descriptor})", paths.join(" to ")),
        (_, None) => told += &format!(" of {}", paths.join(" to ")),
    }
    if let Some(id) = operation.id {
        told += &format!(", operation {{{},{}}}", id.thread, id.tag);
    }
    if let Some(tag) = &operation.user_tag {
        told += &format!(", user tag {}", escape::name(tag));
    }
    told
}

fn command(operation: &FileOperation) -> String {
    let known = Command::ALL.iter().find(|command| command.number() == operation.command);
    known.map_or_else(|| format!("command {}", operation.command), |command| command.name().to_owned())
}

/// The part of the pool that has the job of a wait. `None` if the wait is for no job, or nothing says it.
pub fn job(future: &Await) -> Option<String> {
    let (stage, callers) = match future.waits_for.as_ref()? {
        WaitsFor::File(operation) => (operation.stage, &operation.callers[..]),
        WaitsFor::Job { stage, .. } => (Some(*stage), &[][..]),
        _ => return None,
    };
    let told: Vec<String> = callers
        .iter()
        .map(|caller| {
            let (name, state) = (escape::name(&caller.name), kernel_state(caller.state));
            format!("thread {}, {name}: {state} in {}", caller.tid, caller.system_call)
        })
        .collect();
    match (stage, &told[..]) {
        (Some(Stage::Queued), _) => Some("in the queue: no thread of the pool has taken it".to_owned()),
        (Some(Stage::Ended), _) => Some("it has ended, and the task has not run since".to_owned()),
        (Some(Stage::Running), []) => Some("a thread of the pool runs it: which one is not seen".to_owned()),
        (None, []) => None,
        (_, [only]) => Some(format!("run by {only}")),
        (_, several) => Some(format!("run by one of these: {}", several.join("; "))),
    }
}

/// The kernel's letter for a thread's state, in words.
pub fn kernel_state(letter: char) -> String {
    match letter {
        'R' => "on a CPU or ready for one".to_owned(),
        'S' => "asleep".to_owned(),
        'D' => "in uninterruptible sleep".to_owned(),
        'T' => "stopped".to_owned(),
        't' => "stopped by a tracer".to_owned(),
        'Z' | 'X' => "ended".to_owned(),
        other => format!("in state {other}"),
    }
}

/// The name that the program gave a resource, behind the resource's kind.
fn quoted(name: Option<&str>) -> String {
    name.map_or(String::new(), |name| format!(" \"{}\"", escape::name(name)))
}

/// Where a guard's lock was taken, if that is known.
pub fn taken(guard: &Guard) -> String {
    guard.taken.as_ref().map_or(String::new(), |taken| format!(", taken at {}", place(taken)))
}

fn ready(ready: Ready) -> &'static str {
    match ready {
        Ready::Readable => ", readable",
        Ready::Writable => ", writable",
        Ready::Either => ", readable or writable",
    }
}

/// A future that is not polled, and the line of its last poll.
pub fn unpolled(unpolled: &Unpolled) -> String {
    let future = type_name(&unpolled.future);
    match &unpolled.place {
        Some(place) => format!("{future}, not polled since it stopped at {}", self::place(place)),
        None => format!("{future}, not polled"),
    }
}

/// As [`kind`], without what tells one lock or socket from another.
pub fn alike(future: &Await) -> String {
    match &future.waits_for {
        Some(WaitsFor::Semaphore { of, .. }) => self::of(*of).to_owned(),
        Some(WaitsFor::Descriptor { describes: Some(describes), .. }) if describes.starts_with("socket:") => {
            "a socket".to_owned()
        }
        _ => kind(future),
    }
}

/// The kind of event for which `future` waits: the same for futures that differ in times and numbers only.
pub fn kind(future: &Await) -> String {
    match &future.waits_for {
        Some(WaitsFor::Channel { channel, .. }) => format!("{channel} channel"),
        Some(WaitsFor::Timer { .. }) => "timer".to_owned(),
        Some(WaitsFor::Join { .. }) => "join of a task".to_owned(),
        Some(WaitsFor::Descriptor { describes: Some(describes), .. }) if describes.starts_with("end of process ") => {
            "end of a process".to_owned()
        }
        Some(WaitsFor::Descriptor { describes: Some(describes), ready, .. }) => {
            let first = describes.split(' ').next().unwrap_or_default();
            let file = if first.starts_with('/') { "file" } else { first };
            format!("{} descriptor{}", escape::name(file), ready.map_or("", self::ready))
        }
        Some(WaitsFor::Descriptor { describes: None, ready, .. }) => {
            format!("descriptor{}", ready.map_or("", self::ready))
        }
        Some(WaitsFor::File(operation)) => format!("file operation {}", command(operation)),
        // Which lock it is matters more than how many of its permits are free.
        Some(WaitsFor::Semaphore { address, of, name, missing, .. }) => {
            let granted = if *missing == 0 { ", granted" } else { "" };
            format!("{}{} {address:#x}{granted}", self::of(*of), quoted(name.as_deref()))
        }
        _ => leaf(future),
    }
}

/// The semaphore's owner in words; its address follows.
pub fn of(of: SemaphoreOf) -> &'static str {
    match of {
        SemaphoreOf::Mutex => "Mutex",
        SemaphoreOf::RwLock => "RwLock",
        SemaphoreOf::Semaphore => "Semaphore",
        SemaphoreOf::Channel => "room in mpsc channel",
        SemaphoreOf::Unknown => "semaphore of an unknown owner",
    }
}

/// A number of nanoseconds, in the largest unit of which there is at least one.
#[allow(clippy::cast_precision_loss)] // one digit is shown
pub fn duration(nanoseconds: u64) -> String {
    let seconds = nanoseconds as f64 / 1e9;
    match nanoseconds / 1_000_000 {
        0..1000 => format!("{:.0} ms", seconds * 1e3),
        1000..60_000 => format!("{seconds:.1} s"),
        60_000..3_600_000 => format!("{:.1} min", seconds / 60.0),
        3_600_000..86_400_000 => format!("{:.1} h", seconds / 3600.0),
        _ => format!("{:.1} days", seconds / 86400.0),
    }
}

/// `count` and its noun.
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn each_wait_has_its_words() {
        let told: Vec<String> = sample::waits().map(|waits| leaf(&sample::waiting(waits))).collect();
        assert_eq!(
            told,
            [
                "Mutex 0xa0 (0 free, 1 missing)",
                "RwLock 0xb0 (0 free, 536870911 missing)",
                "Semaphore 0xc0 (2 free, 3 missing, closed)",
                "room in mpsc channel 0xd0 (0 free, 1 missing)",
                "semaphore of an unknown owner 0xe0 (0 free, 1 missing)",
                r#"Mutex "till \x1b[2J" 0xe8 (0 free, 1 missing)"#,
                "Notify 0xf0",
                "mpsc channel 0x100",
                "oneshot channel, answered",
                "timer in 4.2 s",
                "timer due 30 ms ago",
                "join of task 7",
                "join of the task at 0x700",
                r"/run/a\x1b[2J (descriptor 5)",
                "tcp 127.0.0.1:80 to 127.0.0.1:4000 (descriptor 6), readable",
                "descriptor 7, readable or writable, 12 unread",
                "CancellationToken 0x110",
                "nothing, forever",
                "unknown future lib::Leaf",
                r"OPEN of /srv/a\x1b[2J, operation {1,7}, user tag req-7",
                "RENAME of a to b, operation {1,8}",
                "FSYNC of /srv/log (descriptor 9)",
                "WRITE",
                "command 99 of descriptor 3, operation {2,1}",
                "job Lookup of dyntrace's pool",
                "job of dyntrace's pool",
            ]
        );
    }

    #[test]
    fn a_job_has_the_part_of_the_pool_that_has_it() {
        let told: Vec<_> = sample::waits().filter_map(|waits| job(&sample::waiting(waits))).collect();
        assert_eq!(
            told,
            [
                r"run by thread 4711, io\x1b[2J: asleep in openat",
                "in the queue: no thread of the pool has taken it",
                "run by one of these: thread 12, dyntrace-slow-1: in uninterruptible sleep in fsync; \
                 thread 13, dyntrace-slow-2: in uninterruptible sleep in fsync",
                "a thread of the pool runs it: which one is not seen",
                "a thread of the pool runs it: which one is not seen",
                "it has ended, and the task has not run since",
            ]
        );
    }

    #[test]
    fn descriptors_of_one_kind_share_their_words() {
        let kind = |describes: &str| {
            let describes = Some(describes.to_owned());
            kind(&sample::waiting(WaitsFor::Descriptor {
                descriptor: 5,
                describes,
                ready: Some(Ready::Readable),
                unread: 0,
            }))
        };
        assert_eq!(kind("tcp 127.0.0.1:80 to 127.0.0.1:4000"), "tcp descriptor, readable");
        assert_eq!(kind("/run/a"), "file descriptor, readable");
        assert_eq!(kind("end of process 7"), "end of a process");
    }

    #[test]
    fn an_id_of_two_tasks_has_the_runtime() {
        let mut task = sample::leaf_task(7, WaitsFor::Forever);
        assert_eq!(id(&task), "7");
        task.shares_id = true;
        assert_eq!(id(&task), "7 (of runtime 1 at 0x50)");
        task.owner = 0;
        assert_eq!(id(&task), "7 (job at 0x700)");
    }

    #[test]
    fn durations_have_fitting_units() {
        let told = [0, 999_000_000, 1_000_000_000, 90_000_000_000, 5_400_000_000_000, u64::MAX].map(duration);
        assert_eq!(told, ["0 ms", "999 ms", "1.0 s", "1.5 min", "1.5 h", "213504.0 days"]);
    }

    #[test]
    fn a_future_has_the_best_name_that_is_known() {
        let named = |name| future(&Task { future: name, ..sample::task(1, Chain::NoTypes) });
        assert_eq!(named(Name::Type { name: "a::b\n".into() }), r"a::b\x0a");
        assert_eq!(
            named(Name::Symbol { name: "a::{closure_env#12}<{async_fn_env#0}".into() }),
            "a::{closure}<{async fn}"
        );
        assert_eq!(named(Name::Type { name: "BlockingTask<a::{closure_env#".into() }), "BlockingTask<a::{closure_env#");
        for job in ["BlockingTask<a>", "tokio::runtime::blocking::task::BlockingTask<a>"] {
            assert_eq!(named(Name::Type { name: job.into() }), "a");
        }
        assert_eq!(named(Name::Type { name: "OwnProcess<a::{async_fn_env#0}>".into() }), "a");
        assert_eq!(named(Name::Candidates { names: vec!["a".into(), "b".into()] }), "a or b");
        assert_eq!(named(Name::Address { poll: 0x1234 }), "polled at 0x1234");
    }
}
