//! Names of resources' types, and of the operations that wait for them.

/// A type of resource.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Mpsc,
    Mutex,
    Notify,
    Oneshot,
    RwLock,
    Semaphore,
}

impl Kind {
    pub(super) fn text(self) -> &'static str {
        match self {
            Kind::Mpsc => "mpsc",
            Kind::Mutex => "Mutex",
            Kind::Notify => "Notify",
            Kind::Oneshot => "oneshot",
            Kind::RwLock => "RwLock",
            Kind::Semaphore => "Semaphore",
        }
    }
}

/// An operation that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Operation {
    Acquire,
    Closed,
    Lock,
    Notified,
    OneshotClosed,
    OneshotRecv,
    Read,
    Recv,
    Reserve,
    Write,
}

impl Operation {
    pub(super) fn text(self) -> &'static str {
        match self {
            Operation::Acquire => "Semaphore::acquire",
            Operation::Closed => "mpsc::Sender::closed",
            Operation::Lock => "Mutex::lock",
            Operation::Notified => "Notify::notified",
            Operation::OneshotClosed => "oneshot::Sender::closed",
            Operation::OneshotRecv => "oneshot::Receiver",
            Operation::Read => "RwLock::read",
            Operation::Recv => "mpsc::Receiver::recv",
            Operation::Reserve => "mpsc::Sender::send",
            Operation::Write => "RwLock::write",
        }
    }
}
