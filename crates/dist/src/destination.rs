//! Receivers of messages.

use erl_dist::term::Pid;

/// A process of another node, by its pid or by its registered name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// Its pid, which has the node.
    Pid(Pid),
    /// Its registered name.
    Name {
        /// The name.
        name: String,
        /// The full name of the node.
        node: String,
    },
}

impl Destination {
    /// Returns the name of the node.
    pub fn node(&self) -> &str {
        match self {
            Destination::Pid(pid) => &pid.node.name,
            Destination::Name { node, .. } => node,
        }
    }

    /// As the probes show it: `<N.N.0>` or the name.
    pub(super) fn shown(&self) -> String {
        match self {
            Destination::Pid(pid) => format!("<{}.{}.{}>", pid.creation, pid.id, pid.serial),
            Destination::Name { name, .. } => name.clone(),
        }
    }
}

impl From<Pid> for Destination {
    fn from(pid: Pid) -> Destination {
        Destination::Pid(pid)
    }
}

impl From<&Pid> for Destination {
    fn from(pid: &Pid) -> Destination {
        Destination::Pid(pid.clone())
    }
}

impl From<(&str, &str)> for Destination {
    fn from((name, node): (&str, &str)) -> Destination {
        Destination::Name { name: name.to_owned(), node: node.to_owned() }
    }
}
