//! Names of hosts.

use std::io;
use std::net::SocketAddr;
use std::panic::Location;

use tokio::net::ToSocketAddrs;

use dyntrace_processes::waiting::{Resolver, Waiting};

/// Looks up the addresses of a host. Tracers see the wait for a resource `resolver`.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// let mut addresses = dyntrace::net::lookup_host(("127.0.0.1", 80)).await?;
/// assert_eq!(addresses.next(), Some(([127, 0, 0, 1], 80).into()));
/// # Ok(())
/// # }
/// ```
#[track_caller]
pub fn lookup_host<T: ToSocketAddrs>(host: T) -> impl Future<Output = io::Result<impl Iterator<Item = SocketAddr>>> {
    resolve("net::lookup_host", Location::caller(), host)
}

pub(super) fn resolve<T: ToSocketAddrs>(
    operation: &'static str,
    place: &'static Location<'static>,
    host: T,
) -> impl Future<Output = io::Result<impl Iterator<Item = SocketAddr>>> {
    Waiting::new(Resolver(operation), place, tokio::net::lookup_host(host))
}
