//! The sources of wakes, and their names in probes.

use std::io::Write as _;

use dyntrace_probes::text::Text;
use tokio::runtime::Handle;
use tokio::task::{Id, try_id};

use super::for_guests::HOST;
use super::id::Pid;
use super::name::thread_name;
use super::runtime_tasks::pid_of_running;

/// The source of a wake.
pub(super) enum Waking {
    /// A process that is a task or a closure.
    Process(Pid),
    /// A task of tokio's that is no process.
    Task(Id),
    /// A thread outside of tasks; whether it is inside of a runtime.
    Thread { in_runtime: bool },
}

impl Waking {
    /// The task or thread that runs here, by the process that is in its slot.
    pub(super) fn now(process: Option<Pid>) -> Waking {
        match (process, HOST.get()) {
            (Some(pid), _) => Waking::Process(pid),
            (None, None) => outside(),
            (None, Some(host)) => (host.waking)(),
        }
    }

    /// Shows it as probes do.
    pub(super) fn tell(&self, tell: impl FnOnce(Text<'_>)) {
        let mut bytes = [0; 64];
        let mut rest = &mut bytes[..];
        // The only error is that the rest is full, and nothing here is as long.
        let _ = match self {
            Waking::Process(pid) => return tell(Text::from(*pid)),
            Waking::Task(task) => write!(rest, "task {task}"),
            Waking::Thread { in_runtime: true } => write!(rest, "runtime thread {}", thread_name()),
            Waking::Thread { in_runtime: false } => write!(rest, "thread {}", thread_name()),
        };
        let unused = rest.len();
        tell(Text::from(&bytes[..bytes.len() - unused]));
    }
}

/// The task or thread that runs here outside of processes that this crate has started.
pub(super) fn outside() -> Waking {
    match (pid_of_running(), try_id()) {
        (Some(pid), _) => Waking::Process(pid),
        (None, Some(task)) => Waking::Task(task),
        (None, None) => Waking::Thread { in_runtime: Handle::try_current().is_ok() },
    }
}
