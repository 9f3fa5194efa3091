//! The answer: tasks, the futures that each awaits, and counts. Plain data, as `--json` prints it.

use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU64;
use std::sync::Arc;

use serde::Serialize;

use crate::cell::{CANCELLED, COMPLETE, JOIN_INTEREST, JOIN_WAKER, NOTIFIED, RUNNING};
use crate::owned::OwnedTasks;

/// The tasks of a program at about one time.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Listing {
    /// In order of their ids.
    pub tasks: Vec<Task>,
    /// One for each runtime that was found.
    pub runtimes: Vec<Runtime>,
    /// Gaps of the listing, each with the way out, in sentences for the user.
    pub notes: Vec<String>,
    /// Memory of the program that was not read, or may have been misread, in words: a sentence's part, without its beginning and end.
    pub unread: Vec<String>,
}

/// A runtime, by the list of its tasks.
#[derive(Debug, Clone, Serialize)]
pub struct Runtime {
    /// The number that the runtime's tasks name as their owner. Runtimes of two versions of tokio may have the same.
    pub owner: u64,
    /// The address of its scheduler, which no other has.
    pub scheduler: u64,
    /// Tasks that it counts itself. `None` if its counter was not found.
    pub counted: Option<u64>,
    /// Tasks of it in the listing that are in its list: it counts no others. Complete ones have left it.
    pub found: u64,
    /// Where its list is. `None` if that is not known.
    #[serde(skip)]
    pub list: Option<OwnedTasks>,
}

/// A task, or a job of the blocking pool.
#[derive(Debug, Clone, Serialize)]
pub struct Task {
    /// As `tokio::task::Id` prints it.
    pub id: u64,
    /// Whether another task has the same id: each version of tokio in a program counts its own.
    pub shares_id: bool,
    /// Of the task's header.
    pub address: u64,
    /// The runtime, by [`Runtime::owner`]; 0 for jobs of the blocking pool.
    pub owner: u64,
    /// The runtime, by [`Runtime::scheduler`].
    pub scheduler: u64,
    /// The flags of its state word.
    pub state: State,
    /// The future, or the function of a blocking job.
    pub future: Name,
    /// Where it was spawned.
    pub spawned: Spawned,
    /// Whether the runtime's own list contains it. `None` if the list could not be followed.
    pub linked: Option<bool>,
    /// The futures that it awaits.
    pub chain: Chain,
}

impl Task {
    /// The leaves of its chain, in the order of the program's source. Futures that have returned wait for nothing.
    #[must_use]
    pub fn leaves(&self) -> Vec<&Await> {
        fn add<'l>(future: &'l Await, all: &mut Vec<&'l Await>) {
            if future.progress != Progress::Returned {
                all.extend(future.waits_for.is_some().then_some(future));
                future.awaits.iter().for_each(|inner| add(inner, all));
            }
        }
        let mut all = Vec::new();
        if let Chain::Read { root } = &self.chain
            && self.owner != 0
        {
            add(root, &mut all);
        }
        all
    }

    /// Whether it waits: no thread polls it or is to poll it.
    #[must_use]
    pub fn stands(&self) -> bool {
        !(self.state.running || self.state.notified || self.state.complete)
    }
}

/// The flags of a task's state word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[allow(clippy::struct_excessive_bools)] // the bits of tokio's word
pub struct State {
    /// A thread polls it, or drops its future.
    pub running: bool,
    /// Its future has returned, or was cancelled.
    pub complete: bool,
    /// It was woken, and waits for a thread.
    pub notified: bool,
    /// A `JoinHandle` exists.
    pub join_interest: bool,
    /// Another task awaits the `JoinHandle`.
    pub join_waker: bool,
    /// It was aborted, or its runtime is shutting down.
    pub cancelled: bool,
}

impl State {
    /// Returns the flags of tokio's state word.
    #[must_use]
    pub fn of(word: u64) -> State {
        let has = |flag: u64| word & flag != 0;
        State {
            running: has(RUNNING),
            complete: has(COMPLETE),
            notified: has(NOTIFIED),
            join_interest: has(JOIN_INTEREST),
            join_waker: has(JOIN_WAKER),
            cancelled: has(CANCELLED),
        }
    }
}

/// `running`, `complete`, `notified` or `idle`; then `cancelled` if it is.
impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self {
            State { complete: true, .. } => "complete",
            State { running: true, .. } => "running",
            State { notified: true, .. } => "notified",
            _ => "idle",
        };
        f.write_str(state)?;
        if self.cancelled { f.write_str(", cancelled") } else { Ok(()) }
    }
}

/// A future's type, by the source that names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "known_by", rename_all = "snake_case")]
pub enum Name {
    /// Debug information names it.
    Type {
        /// Path and parameters, as rustc writes them.
        name: Arc<str>,
    },
    /// The symbol of the function that polls it names it.
    Symbol {
        /// Demangled.
        name: String,
    },
    /// Functions that drop it name it; compiler and linker may have merged functions of several types.
    Candidates {
        /// One is certain, as far as symbols can tell. Of several, one is right.
        names: Vec<String>,
    },
    /// Nothing names it. Tasks with the same address have the same type, unless the linker merged their code.
    Address {
        /// Of the function that polls it, in the program's file.
        poll: u64,
    },
}

/// A line of source.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SourceLine {
    /// As debug information has it, the crate's folder in a registry cut off.
    pub file: Arc<str>,
    /// From 1.
    pub line: u32,
}

impl SourceLine {
    /// Returns a line of the file at `path`.
    pub(crate) fn new(path: &str, line: u32) -> SourceLine {
        SourceLine { file: shorten(path).into(), line }
    }
}

/// Cuts off a registry's folder, or the folder of the standard library's sources.
fn shorten(path: &str) -> &str {
    if let Some((_, below)) = path.split_once("/registry/src/") {
        return below.split_once('/').map_or(below, |(_, below)| below);
    }
    match path.starts_with("/rustc/").then(|| path.split_once("/library/")).flatten() {
        Some((_, below)) => below,
        None => path,
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Where a task was spawned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(tag = "known_by", content = "places", rename_all = "snake_case")]
pub enum Spawned {
    /// Nothing says.
    #[default]
    Unknown,
    /// The runtime recorded it (`tokio_unstable`).
    Recorded(SourceLine),
    /// Calls of `spawn` with this type in the program's code.
    Candidates(Arc<[SourceLine]>),
}

/// The futures that a task awaits, outermost first.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(tag = "known_by", rename_all = "snake_case")]
pub enum Chain {
    /// No debug information describes the future.
    #[default]
    NoTypes,
    /// It changed during each reading.
    Busy,
    /// The future is gone: the task is complete.
    Complete,
    /// As memory had it. Of a running task it is the outermost function only, at its previous suspension.
    Read {
        /// The task's own future.
        root: Await,
    },
}

/// A future of a chain, and how it waits.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Await {
    /// Its type, shortened: an `async fn` by its path.
    pub future: Arc<str>,
    /// The number in the pid, of a future that dyntrace has made a process.
    #[serde(serialize_with = "pid_if_known")]
    pub process: Option<NonZeroU64>,
    /// The line that awaits, of a suspended `async fn` or block.
    pub place: Option<SourceLine>,
    /// Its user tag, if it is a task that `dyntrace::spawn` has started, or a future under `with_tag`.
    pub user_tag: Option<Arc<str>>,
    /// How far it is.
    pub progress: Progress,
    /// The event that it waits for, if it is a leaf that the reader knows.
    pub waits_for: Option<WaitsFor>,
    /// Locks and permits among its variables.
    pub holds: Vec<Guard>,
    /// Futures that it polls itself: one, or several under `select!`, `join!` and collections.
    pub awaits: Vec<Await>,
    /// Futures of a collection that are not in `awaits`.
    pub more: u64,
}

impl Listing {
    /// The tasks by the addresses of their headers.
    #[must_use]
    pub fn by_address(&self) -> HashMap<u64, &Task> {
        self.tasks.iter().map(|task| (task.address, task)).collect()
    }
}

impl Await {
    /// The holder that the lock itself notes.
    #[must_use]
    pub fn holder(&self) -> Option<&Holder> {
        match &self.waits_for {
            Some(WaitsFor::Semaphore { holder, .. }) => holder.as_deref(),
            _ => None,
        }
    }

    /// Adds a future that it awaits. Most await one: a vector takes space for several at the first push.
    pub(crate) fn add(&mut self, inner: Await) {
        if self.awaits.is_empty() {
            self.awaits.reserve_exact(1);
        }
        self.awaits.push(inner);
    }
}

/// How far a future is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// No `async fn` or block: its state is not known.
    #[default]
    Unknown,
    /// Never polled.
    Unresumed,
    /// At an await.
    Suspended,
    /// It has returned.
    Returned,
    /// It has panicked.
    Panicked,
}

/// The event that a leaf waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaitsFor {
    /// Permits of a semaphore: tokio's locks, semaphores and bounded channels.
    Semaphore {
        /// Identifies it.
        address: u64,
        /// The semaphore's owner.
        of: SemaphoreOf,
        /// The owner's name, if it is one of dyntrace that has a name.
        name: Option<Arc<str>>,
        /// Permits that are free.
        free: u64,
        /// Permits that are missing.
        missing: u64,
        /// Whether it is closed.
        closed: bool,
        /// The holder that the lock itself notes, if it is one of `dyntrace::sync`.
        holder: Option<Box<Holder>>,
    },
    /// `Notify::notified`.
    Notify {
        /// Identifies it.
        address: u64,
    },
    /// A message.
    Channel {
        /// `mpsc`, `oneshot`, `watch`, `broadcast` of tokio's; those of other libraries have the library's name. Begins with
        /// `room in` or `end of` if the task waits for that.
        channel: &'static str,
        /// Identifies it. `None` if the receiver has been answered already.
        address: Option<u64>,
    },
    /// A time.
    Timer {
        /// Nanoseconds until it, at the time of the reading; negative if it has passed.
        due_in: i64,
    },
    /// The end of another task.
    Join {
        /// Of its header.
        address: u64,
        /// Its id, if the listing has it.
        task: Option<u64>,
    },
    /// A file descriptor.
    Descriptor {
        /// Its number.
        descriptor: i32,
        /// The kernel's description: both addresses of a socket, or a path.
        describes: Option<String>,
        /// The readiness that wakes the task. `None` if nothing says it.
        ready: Option<Ready>,
        /// Bytes of an internet socket that have arrived and that nobody has read; of a listening one, connections that nobody has accepted.
        unread: u64,
    },
    /// A lock, event or token that is not tokio's.
    Object {
        /// Its name, with the library's if that has no part in the name.
        object: &'static str,
        /// Identifies it.
        address: u64,
    },
    /// An operation of `dyntrace::fs`.
    File(Box<FileOperation>),
    /// A job of another driver on dyntrace's pool.
    Job {
        /// Its type, shortened; empty once the job is gone.
        job: Arc<str>,
        /// How far it is.
        stage: Stage,
    },
    /// Nothing: `future::pending`.
    Forever,
    /// A future of a library's that the reader does not know.
    UnknownLeaf,
}

/// The process that has a lock of `dyntrace::sync` for itself alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Holder {
    /// The number in its pid.
    #[serde(serialize_with = "pid")]
    pub pid: u64,
    /// The call that took the lock.
    pub place: Option<SourceLine>,
    /// When, by the program's own clock; 0 if it did not read the clock.
    #[serde(skip)]
    pub since: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, clippy::ref_option)] // serde's signature
fn pid_if_known<S: serde::Serializer>(number: &Option<NonZeroU64>, serializer: S) -> Result<S::Ok, S::Error> {
    match number {
        Some(number) => pid(&number.get(), serializer),
        None => serializer.serialize_none(),
    }
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde's signature
fn pid<S: serde::Serializer>(number: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("<0.{number}.0>"))
}

/// An operation of `dyntrace::fs`, as far as memory tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct FileOperation {
    /// The number of its command, as `efile_drv-entry` has it.
    pub command: i32,
    /// Its name in probes.
    pub id: Option<OperationId>,
    /// The files that it is about: as the program named them, or as the kernel names the descriptor.
    pub paths: Vec<String>,
    /// The file descriptor, if the operation has one in place of a path.
    pub descriptor: Option<i32>,
    /// The user tag of the task that asked for it.
    pub user_tag: Option<String>,
    /// How far it is. `None` if nothing says it.
    pub stage: Option<Stage>,
    /// Threads that are in a system call on its file: one of them runs it, if there are any.
    pub callers: Vec<Caller>,
}

/// The name of an operation in probes: `{THREAD,TAG}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct OperationId {
    /// dyntrace's number of the thread that asked for it.
    pub thread: i32,
    /// That thread's number for it.
    pub tag: i32,
}

/// How far a job of dyntrace's pool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// No I/O thread has taken it.
    Queued,
    /// An I/O thread runs it.
    Running,
    /// It has ended, and its task has not taken the answer.
    Ended,
}

/// A thread in a system call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Caller {
    /// The kernel's id.
    pub tid: u32,
    /// At most 15 bytes.
    pub name: String,
    /// The kernel's letter: `S` asleep, `D` in uninterruptible sleep.
    pub state: char,
    /// The call's name.
    pub system_call: &'static str,
}

/// The operation that a task wants a descriptor to be ready for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ready {
    /// To read, or to accept a connection.
    Readable,
    /// To write, or to have connected.
    Writable,
    /// One of both.
    Either,
}

impl Ready {
    /// Returns the readiness for which one or both of these wait.
    pub(crate) fn of(readable: bool, writable: bool) -> Option<Ready> {
        match (readable, writable) {
            (true, true) => Some(Ready::Either),
            (true, false) => Some(Ready::Readable),
            (false, true) => Some(Ready::Writable),
            (false, false) => None,
        }
    }
}

/// The meaning of the permits of a semaphore.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SemaphoreOf {
    /// `tokio::sync::Mutex`.
    Mutex,
    /// `tokio::sync::RwLock`.
    RwLock,
    /// `tokio::sync::Semaphore`.
    Semaphore,
    /// Room in a bounded `mpsc` channel.
    Channel,
    /// The type that awaits it is not among these.
    Unknown,
}

/// A lock guard or permit among a suspended future's variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Guard {
    /// Its own address. Pointers of several tasks may lead to the same guard.
    pub address: u64,
    /// The variable: it is the guard, or leads to it.
    pub variable: String,
    /// Its type, shortened.
    pub guard: Arc<str>,
    /// Of the semaphore, as [`WaitsFor::Semaphore`] has it.
    pub semaphore: u64,
    /// The line that took it, if it is of a lock of dyntrace, for exclusive access.
    pub taken: Option<SourceLine>,
    /// The future in the variable that has it, if the task does not poll it at this await.
    pub unpolled: Option<Unpolled>,
}

/// A future that its task keeps, and does not poll while it awaits another one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unpolled {
    /// Its type, shortened.
    pub future: Arc<str>,
    /// The line at which it was suspended by its last poll.
    pub place: Option<SourceLine>,
    /// Whether it got the permits since its last poll: it waited for them in the queue.
    pub granted: bool,
}

#[cfg(test)]
mod tests {
    use super::shorten;

    #[test]
    fn registries_and_the_standard_library_are_cut_off() {
        assert_eq!(shorten("/home/u/.cargo/registry/src/index-1/tokio-1.54.1/src/lib.rs"), "tokio-1.54.1/src/lib.rs");
        assert_eq!(shorten("/rustc/59807616/library/core/src/future.rs"), "core/src/future.rs");
        assert_eq!(shorten("src/main.rs"), "src/main.rs");
        assert_eq!(shorten("/registry/src/"), "");
    }
}
