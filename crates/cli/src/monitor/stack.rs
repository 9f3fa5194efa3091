//! The functions that a thread is in while its poll lasts.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use dyntrace::recorder::control::protocol::Record;
use dyntrace_tasks::program::{Options, Program};
use dyntrace_tasks::reading::DebugInformation;
use dyntrace_tasks::threads::Thread;
use dyntrace_terminal::{escape, say};

use super::arguments::Arguments;

/// A stack, and how long after the event it stood so.
pub struct Stack {
    pub thread: Thread,
    pub after: Duration,
}

/// The program, if stacks are read.
pub struct Stacks(Option<Program>);

/// Reads stacks.
pub struct Reader<'p>(Option<(&'p Program, DebugInformation<'p>)>);

impl Stacks {
    /// Opens the program. Without permission there are no stacks, which it says.
    pub fn open(arguments: &Arguments) -> Stacks {
        if arguments.no_stacks || !arguments.has_polls() {
            return Stacks(None);
        }
        let options = Options { debug_file: arguments.debug.clone(), stop: false };
        let program = Program::attach(arguments.pid, options);
        Stacks(program.map_err(|error| say!("note: no functions of threads: {}", escape::name(error.to_string()))).ok())
    }

    /// Calls `act` with a reader. What debug information tells is read first.
    pub fn with<R>(&self, act: impl FnOnce(&Reader<'_>) -> R) -> R {
        act(&Reader(self.0.as_ref().map(|program| (program, DebugInformation::of(program)))))
    }
}

impl Reader<'_> {
    /// The program, if it was opened.
    pub fn program(&self) -> Option<&Program> {
        self.0.as_ref().map(|(program, _)| *program)
    }

    /// The stack of the event's thread; `None` if the event has no thread, or that cannot be held.
    pub fn of(&self, event: &Record) -> Option<Stack> {
        let (program, information) = self.0.as_ref()?;
        let tid = event.number("thread").and_then(|tid| u32::try_from(tid).ok())?;
        let thread = match program.thread(information, tid) {
            Ok(thread) => thread?,
            Err(error) => {
                say!("note: no functions of thread {tid}: {}", escape::name(error.to_string()));
                return None;
            }
        };
        let at = thread.at.unwrap_or_else(SystemTime::now).duration_since(UNIX_EPOCH).unwrap_or_default();
        let after = at.saturating_sub(Duration::from_nanos(event.number("time").unwrap_or_default()));
        Some(Stack { thread, after })
    }
}
