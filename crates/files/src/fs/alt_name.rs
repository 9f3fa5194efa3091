//! `ALTNAME`: alt_name.

use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::efile::{Command, Driver, Request};

/// Returns the other form of a file's name, on systems that keep two.
///
/// No Unix system does: it fails with ENOTSUP, as Erlang's driver does.
pub async fn alt_name(path: impl AsRef<Path>) -> io::Result<PathBuf> {
    let request = Request::new(Command::Altname).s1(path.as_ref());
    Driver::global().run(request, |request| request.path().and(Err(Errno::NOTSUP.into()))).await
}
