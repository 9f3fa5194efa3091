//! Whom a message is for.

use erl_dist::term::Pid;

/// A process of another node: by its pid, or by the name that it registered there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Destination {
    /// By its pid, which says its node.
    Pid(Pid),
    /// By its registered name.
    Name {
        /// That name.
        name: String,
        /// The node's whole name.
        node: String,
    },
}

impl Destination {
    /// The name of its node.
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
