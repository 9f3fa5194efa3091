//! Unix sockets: the halves of [`UnixStream`](super::UnixStream); addresses, credentials and pipes are tokio's own.

mod address;
pub(super) mod datagram;
pub(super) mod listener;
pub(super) mod socket;
mod split;
pub(super) mod stream;

pub use split::{OwnedReadHalf, OwnedWriteHalf, ReadHalf, ReuniteError, WriteHalf};
#[doc(no_inline)]
pub use tokio::net::unix::{SocketAddr, UCred, gid_t, pid_t, pipe, uid_t};
