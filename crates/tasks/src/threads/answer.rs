//! The answer: threads, and the functions that they are in. Plain data, as `--json` prints it.

use std::time::SystemTime;

use serde::Serialize;

use crate::listing::SourceLine;

/// The threads of a program. Each was read at its own time.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Threads {
    /// In the order of their ids.
    pub threads: Vec<Thread>,
    /// Gaps of the answer, each with the way out, in sentences for the user.
    pub notes: Vec<String>,
    /// Assumptions about the layout of tokio's tasks that do not hold: parts of a sentence.
    #[serde(skip)]
    pub gaps: Vec<String>,
}

/// A thread.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// The kernel's id. The main thread has the id of the process.
    pub tid: u32,
    /// At most 15 bytes. Bytes that are not UTF-8 are replaced.
    pub name: String,
    /// Its role in a runtime.
    pub role: Role,
    /// Its work for a runtime. `None` if its functions do not tell.
    pub activity: Option<Activity>,
    /// The task that it polls, by its id.
    pub task: Option<u64>,
    /// The number of that task's runtime.
    #[serde(skip)]
    pub owner: Option<u64>,
    /// The job of the blocking pool that it runs, by its id. A worker of a multi-thread runtime is itself such a job.
    pub job: Option<u64>,
    /// The kernel's letter: `R` on a CPU or ready for one, `S` asleep, `D` in uninterruptible sleep, `T` stopped, `Z` ended.
    pub state: char,
    /// The system call that it is in. `None` if it is in none, or if that is not known.
    pub system_call: Option<SystemCall>,
    /// The kernel's function that it sleeps in, if the kernel tells.
    pub kernel_function: Option<String>,
    /// Nanoseconds on a CPU since it began.
    pub cpu_time: Option<u64>,
    /// The functions that it is in, innermost first.
    pub frames: Vec<Frame>,
    /// Why there are no further frames.
    pub ending: Ending,
    /// When the reader saw the thread stand. `None` if it was not held.
    #[serde(skip)]
    pub at: Option<SystemTime>,
    /// Nanoseconds from that moment until it ran on.
    pub held: Option<u64>,
}

/// The role of a thread in a runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A worker of a multi-thread runtime: its functions say so.
    Worker,
    /// A thread of the blocking pool: its functions say so.
    Blocking,
    /// It drives the future of a `block_on`: its functions say so.
    BlockOn,
    /// It has tokio's name for workers and threads of the blocking pool. Which of the two is not known.
    Runtime,
    /// Nothing says that it belongs to a runtime.
    Other,
}

/// The work of a thread for its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Activity {
    /// It waits for tasks, events or jobs.
    Idle,
    /// It polls a task.
    Polls,
    /// It runs a job of the blocking pool. Without names, this is also known of a worker: it is itself such a job.
    Runs,
}

/// A system call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct SystemCall {
    /// The kernel's number for it, on the program's architecture.
    pub number: u64,
    /// `None` if the reader does not know the number.
    pub name: Option<&'static str>,
    /// The file descriptor that it works on, of calls that have one as their first argument.
    pub descriptor: Option<i32>,
}

/// A function that a thread is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Frame {
    /// Of the instruction, or of the one after a call, in the process. Inlined functions share that of their caller.
    pub address: u64,
    /// The file that contains the function: its name without folders.
    pub image: String,
    /// `None` if neither debug information nor symbols name it.
    pub function: Option<String>,
    /// The line in it, if debug information tells.
    pub place: Option<SourceLine>,
    /// Whether the compiler made it a part of the next frame's function.
    pub inlined: bool,
}

/// Why there are no further frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The last frame is the thread's first function.
    Complete,
    /// The last frame is in code that no file of the process describes.
    UnknownCode,
    /// More stack than the reader copies, or a damaged one.
    Cut,
    /// The thread did not stop in time: it is in uninterruptible sleep.
    NotStopped,
    /// Another program traces it, such as a debugger.
    Traced,
    /// The kernel refused to hold it.
    Refused,
    /// It has ended, and the process has not: only a main thread can.
    Ended,
}

impl Thread {
    /// Whether symbols are missing that would tell its role. Libraries have few symbols, and need none.
    fn is_nameless(&self) -> bool {
        let is_own =
            |frame: &&Frame| !frame.image.is_empty() && !frame.image.contains(".so") && !frame.image.starts_with('[');
        let mut own = self.frames.iter().filter(is_own).peekable();
        match self.role {
            Role::Runtime => self.ending != Ending::Ended,
            Role::Other => own.peek().is_some() && own.all(|frame| frame.function.is_none()),
            Role::Worker | Role::Blocking | Role::BlockOn => false,
        }
    }
}

impl Threads {
    /// Returns how many threads were not seen, in words. `None` if the functions of all were read, and what they do for the runtime.
    #[must_use]
    pub fn unknown(&self) -> Option<String> {
        let all = self.threads.len();
        let is_held = |thread: &Thread| !matches!(thread.ending, Ending::NotStopped | Ending::Traced | Ending::Refused);
        let count = |is: &dyn Fn(&&Thread) -> bool| self.threads.iter().filter(is).count();
        let unheld = count(&|thread| !is_held(thread));
        let nameless = count(&|thread| is_held(thread) && thread.is_nameless());
        let told = [
            (unheld, "could not be held"),
            (nameless, "have no names of functions that tell their roles: symbols are missing"),
        ];
        let told = told.into_iter().filter(|(count, _)| *count > 0);
        let told = told.map(|(count, is)| format!("{count} of {all} threads {is}"));
        let told: Vec<String> = told.chain(self.gaps.iter().cloned()).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}
