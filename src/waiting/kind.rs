//! Names of resources' types, and of the operations that wait for them.

/// A type of resource.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Barrier,
    Broadcast,
    Mpsc,
    Mutex,
    Notify,
    OnceCell,
    Oneshot,
    RwLock,
    Semaphore,
    Watch,
}

impl Kind {
    pub(super) fn text(self) -> &'static str {
        match self {
            Kind::Barrier => "Barrier",
            Kind::Broadcast => "broadcast",
            Kind::Mpsc => "mpsc",
            Kind::Mutex => "Mutex",
            Kind::Notify => "Notify",
            Kind::OnceCell => "OnceCell",
            Kind::Oneshot => "oneshot",
            Kind::RwLock => "RwLock",
            Kind::Semaphore => "Semaphore",
            Kind::Watch => "watch",
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
    Recv,
    Reserve,
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
            Operation::Recv => "mpsc::Receiver::recv",
            Operation::Reserve => "mpsc::Sender::send",
        }
    }
}
