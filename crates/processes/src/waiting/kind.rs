//! Names of resources' types, and of the operations that wait for them.

/// A type of resource.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum ResourceKind {
    Barrier,
    Broadcast,
    Mpsc,
    Mutex,
    Notify,
    OnceCell,
    Oneshot,
    RwLock,
    Semaphore,
    SetOnce,
    Watch,
    // Of `net`.
    TcpListener,
    TcpSocket,
    TcpStream,
    UdpSocket,
    UnixDatagram,
    UnixListener,
    UnixSocket,
    UnixStream,
}

impl ResourceKind {
    pub(super) fn text(self) -> &'static str {
        match self {
            ResourceKind::Barrier => "Barrier",
            ResourceKind::Broadcast => "broadcast",
            ResourceKind::Mpsc => "mpsc",
            ResourceKind::Mutex => "Mutex",
            ResourceKind::Notify => "Notify",
            ResourceKind::OnceCell => "OnceCell",
            ResourceKind::Oneshot => "oneshot",
            ResourceKind::RwLock => "RwLock",
            ResourceKind::Semaphore => "Semaphore",
            ResourceKind::SetOnce => "SetOnce",
            ResourceKind::Watch => "watch",
            ResourceKind::TcpListener => "TcpListener",
            ResourceKind::TcpSocket => "TcpSocket",
            ResourceKind::TcpStream => "TcpStream",
            ResourceKind::UdpSocket => "UdpSocket",
            ResourceKind::UnixDatagram => "UnixDatagram",
            ResourceKind::UnixListener => "UnixListener",
            ResourceKind::UnixSocket => "UnixSocket",
            ResourceKind::UnixStream => "UnixStream",
        }
    }
}

/// An operation that waits.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub enum Operation {
    Acquire,
    BarrierWait,
    BroadcastClosed,
    BroadcastRecv,
    Closed,
    GetOrInit,
    Lock,
    Notified,
    OneshotClosed,
    OneshotRecv,
    Read,
    Recv,
    Reserve,
    SetOnceWait,
    WatchChanged,
    WatchClosed,
    WatchWaitFor,
    Write,
}

impl Operation {
    pub(super) fn text(self) -> &'static str {
        match self {
            Operation::Acquire => "Semaphore::acquire",
            Operation::BarrierWait => "Barrier::wait",
            Operation::BroadcastClosed => "broadcast::Sender::closed",
            Operation::BroadcastRecv => "broadcast::Receiver::recv",
            Operation::Closed => "mpsc::Sender::closed",
            Operation::GetOrInit => "OnceCell::get_or_init",
            Operation::Lock => "Mutex::lock",
            Operation::Notified => "Notify::notified",
            Operation::OneshotClosed => "oneshot::Sender::closed",
            Operation::OneshotRecv => "oneshot::Receiver",
            Operation::Read => "RwLock::read",
            Operation::Recv => "mpsc::Receiver::recv",
            Operation::Reserve => "mpsc::Sender::send",
            Operation::SetOnceWait => "SetOnce::wait",
            Operation::WatchChanged => "watch::Receiver::changed",
            Operation::WatchClosed => "watch::Sender::closed",
            Operation::WatchWaitFor => "watch::Receiver::wait_for",
            Operation::Write => "RwLock::write",
        }
    }
}
