//! The process at the other end of a socket. By libc: rustix cannot represent process number 0, which peers in other namespaces have.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd as _};

/// The process that connected or listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Peer {
    /// Its number; 0 for a process that this one cannot see.
    pub pid: u32,
    /// Its user, as of when it connected or began to listen.
    pub uid: u32,
}

/// The peer of a connected Unix socket.
pub(super) fn peer(socket: impl AsFd) -> io::Result<Peer> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = libc::socklen_t::try_from(mem::size_of_val(&credentials)).expect("twelve bytes");
    // SAFETY: the kernel writes at most `length` bytes, the size of `credentials`, which holds integers only.
    let status = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PEERCRED,
            (&raw mut credentials).cast(),
            &raw mut length,
        )
    };
    if status != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Peer { pid: credentials.pid.cast_unsigned(), uid: credentials.uid })
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    #[test]
    fn this_process_talks_to_itself() {
        let (one, _other) = UnixStream::pair().unwrap();
        let uid = rustix::process::geteuid().as_raw();
        assert_eq!(peer(&one).unwrap(), Peer { pid: std::process::id(), uid });
    }
}
