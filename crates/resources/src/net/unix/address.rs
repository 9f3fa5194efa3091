//! Addresses of Unix sockets.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use tokio::net::unix::SocketAddr;

/// Returns an address as text: a path, or a name as `@name`. `None` if it has neither.
pub(super) fn text(address: &SocketAddr) -> Option<String> {
    let named = || Some(format!("@{}", String::from_utf8_lossy(&abstract_name(address)?)));
    address.as_pathname().map(of_path).or_else(named)
}

/// The same of a path as `connect` and `bind` take it: names begin with a NUL.
pub(super) fn of_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    text.strip_prefix('\0').map(|name| format!("@{name}")).unwrap_or_else(|| text.clone().into_owned())
}

/// Returns both addresses of a socket, as far as it has them.
pub(super) fn texts(local: io::Result<SocketAddr>, peer: io::Result<SocketAddr>) -> Option<String> {
    let text = |address: io::Result<SocketAddr>| text(&address.ok()?);
    match (text(local), text(peer)) {
        (Some(local), Some(peer)) => Some(format!("{local} to {peer}")),
        (None, Some(peer)) => Some(format!("to {peer}")),
        (local, None) => local,
    }
}

/// Returns an address as a path that `connect` and `bind` take. An address without a name is an empty path to them.
pub(super) fn as_path(address: &SocketAddr) -> PathBuf {
    if let Some(path) = address.as_pathname() {
        return path.to_owned();
    }
    let name = abstract_name(address).map(|name| [b"\0", &*name].concat());
    PathBuf::from(OsString::from_vec(name.unwrap_or_default()))
}

#[cfg(any(target_os = "android", target_os = "linux"))]
fn abstract_name(address: &SocketAddr) -> Option<Vec<u8>> {
    address.as_abstract_name().map(<[u8]>::to_vec)
}

/// Other systems have no such names.
#[cfg(not(any(target_os = "android", target_os = "linux")))]
fn abstract_name(_: &SocketAddr) -> Option<Vec<u8>> {
    None
}
