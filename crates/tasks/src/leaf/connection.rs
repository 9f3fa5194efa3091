//! A TCP connection, by a duplicate of its descriptor.
//!
//! For the kernel's tables of sockets, the kernel walks all buckets of its hash tables: milliseconds, also if there are few sockets. A
//! duplicate tells of one connection in microseconds. If the program closes its own meanwhile, the connection ends when the duplicate is
//! closed. Listeners are left to the tables: the program may bind their ports again at once.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::ioctl_fionread;
use rustix::net::sockopt::{socket_acceptconn, socket_protocol};
use rustix::net::{SocketAddrAny, getpeername, getsockname, ipproto};
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};

/// Returns a descriptor of the process. `None` if the kernel refuses.
pub(super) fn process(pid: u32) -> Option<OwnedFd> {
    pidfd_open(Pid::from_raw(i32::try_from(pid).ok()?)?, PidfdFlags::empty()).ok()
}

/// Returns both addresses of a connection, and the bytes that wait in it; at least 1 if the other end has closed it. `None` if the
/// descriptor is none of a TCP connection, or the kernel refuses.
pub(super) fn look_up(process: &OwnedFd, descriptor: i32) -> Option<(String, u64)> {
    let socket = pidfd_getfd(process, descriptor, PidfdGetfdFlags::empty()).ok()?;
    if socket_protocol(&socket).ok()? != Some(ipproto::TCP) || socket_acceptconn(&socket).ok()? {
        return None;
    }
    let [local, peer] = [address(getsockname(&socket).ok()?)?, address(getpeername(&socket).ok()??)?];
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut polled = [PollFd::new(&socket, PollFlags::IN)];
    let is_readable = poll(&mut polled, Some(&at_once)).is_ok_and(|readable| readable > 0);
    let unread = ioctl_fionread(&socket).ok()?.max(u64::from(is_readable));
    Some((format!("tcp {local} to {peer}"), unread))
}

/// As the kernel's tables have it: without a scope.
fn address(address: SocketAddrAny) -> Option<SocketAddr> {
    let address = SocketAddr::try_from(address).ok()?;
    Some(SocketAddr::new(address.ip().to_canonical(), address.port()))
}
