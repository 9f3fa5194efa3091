//! Pids of this node, as other nodes write them: the number of a process of dyntrace, in two halves.

use erl_dist::node::LocalNode;
use erl_dist::term::Pid;

use dyntrace_processes::process;

/// This node.
pub(super) struct Local {
    pub node: LocalNode,
    /// Its full name.
    pub name: String,
}

impl Local {
    pub(super) fn pid(&self, process: process::Pid) -> Pid {
        let number = process.number();
        Pid::new(self.name.as_str(), number as u32, (number >> 32) as u32, self.node.creation.get())
    }

    /// The number of the process, if the pid is of this node and not of an earlier one with the same name.
    pub(super) fn number(&self, pid: &Pid) -> Option<u64> {
        let ours = pid.creation == self.node.creation.get() && pid.node.name == self.name;
        ours.then(|| u64::from(pid.serial) << 32 | u64::from(pid.id))
    }
}
