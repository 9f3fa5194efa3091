//! Names of resources' types, and of the operations that wait for them.

/// Makes an enum whose variants have texts.
macro_rules! texts {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $text:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[doc(hidden)]
        pub enum $name { $($variant),+ }

        impl $name {
            pub(super) fn text(self) -> &'static str {
                match self { $($name::$variant => $text),+ }
            }
        }
    };
}

texts! {
    /// A type of resource.
    ResourceKind {
        Barrier = "Barrier",
        Broadcast = "broadcast",
        Mpsc = "mpsc",
        Mutex = "Mutex",
        Notify = "Notify",
        OnceCell = "OnceCell",
        Oneshot = "oneshot",
        RwLock = "RwLock",
        Semaphore = "Semaphore",
        SetOnce = "SetOnce",
        Watch = "watch",
        // Of `net`.
        TcpListener = "TcpListener",
        TcpSocket = "TcpSocket",
        TcpStream = "TcpStream",
        UdpSocket = "UdpSocket",
        UnixDatagram = "UnixDatagram",
        UnixListener = "UnixListener",
        UnixSocket = "UnixSocket",
        UnixStream = "UnixStream",
    }
}

texts! {
    /// An operation that waits.
    Operation {
        Acquire = "Semaphore::acquire",
        BarrierWait = "Barrier::wait",
        BroadcastClosed = "broadcast::Sender::closed",
        BroadcastRecv = "broadcast::Receiver::recv",
        Closed = "mpsc::Sender::closed",
        GetOrInit = "OnceCell::get_or_init",
        Lock = "Mutex::lock",
        Notified = "Notify::notified",
        OneshotClosed = "oneshot::Sender::closed",
        OneshotRecv = "oneshot::Receiver",
        Read = "RwLock::read",
        Recv = "mpsc::Receiver::recv",
        Reserve = "mpsc::Sender::send",
        SetOnceWait = "SetOnce::wait",
        WatchChanged = "watch::Receiver::changed",
        WatchClosed = "watch::Sender::closed",
        WatchWaitFor = "watch::Receiver::wait_for",
        Write = "RwLock::write",
    }
}
