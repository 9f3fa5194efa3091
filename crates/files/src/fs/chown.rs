//! `WRITE_INFO`: chown.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Sets the owner, the group or both of the file that `path` leads to; see [`std::os::unix::fs::chown`].
pub async fn chown(path: impl AsRef<Path>, uid: Option<u32>, gid: Option<u32>) -> io::Result<()> {
    let shown = |id: Option<u32>| id.map_or(-1, i64::from);
    let request = Request::new(Command::WriteInfo).i1(-1).i2(shown(uid)).i3(shown(gid)).s1(path.as_ref()).i4(-1);
    Driver::global().run(request, move |request| std::os::unix::fs::chown(request.path()?, uid, gid)).await
}
