//! Waits for a process: for its end, for room in its mailbox, or for a message in its own one.

use super::future::Waited;
use crate::process::Pid;
use crate::task_table;

/// A process that has to act before the one that waits goes on.
pub struct OfProcess {
    pid: Pid,
    kind: &'static str,
}

impl OfProcess {
    /// `kind`: the operation, for tracers.
    #[inline(always)]
    pub fn new(pid: Pid, kind: &'static str) -> OfProcess {
        OfProcess { pid, kind }
    }

    /// The process.
    pub fn pid(&self) -> Pid {
        self.pid
    }
}

impl Waited for OfProcess {
    fn key(&self) -> task_table::Resource {
        task_table::Resource::Process(self.pid.number())
    }

    fn kind(&self) -> &'static str {
        self.kind
    }
}

/// The first to end of several processes.
pub struct OneOf {
    known: Option<Pid>,
    kind: &'static str,
}

/// Of whose processes none is known.
const UNKNOWN: &str = "a task of the set";

impl OneOf {
    /// `known`: one of them. `kind`: the operation, for tracers.
    #[inline(always)]
    pub fn new(known: Option<Pid>, kind: &'static str) -> OneOf {
        OneOf { known, kind }
    }
}

impl Waited for OneOf {
    fn key(&self) -> task_table::Resource {
        self.known.map_or(task_table::Resource::Named(UNKNOWN), |pid| task_table::Resource::Process(pid.number()))
    }

    fn kind(&self) -> &'static str {
        self.kind
    }
}

/// The mailbox of the process that waits.
pub struct OwnMailbox(OfProcess);

impl OwnMailbox {
    /// `kind`: the operation, for tracers.
    #[inline(always)]
    pub fn new(kind: &'static str) -> OwnMailbox {
        OwnMailbox(OfProcess::new(Pid::numbered(0), kind))
    }
}

impl Waited for OwnMailbox {
    fn begins(&mut self, process: Pid) {
        self.0.pid = process;
    }

    fn key(&self) -> task_table::Resource {
        self.0.key()
    }

    fn kind(&self) -> &'static str {
        self.0.kind()
    }
}
