//! `WRITE_INFO`: set_permissions.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Sets the permissions of the file that `path` leads to; see [`std::fs::set_permissions`].
pub async fn set_permissions(path: impl AsRef<Path>, permissions: Permissions) -> io::Result<()> {
    let request =
        Request::new(Command::WriteInfo).i1(permission_bits(&permissions)).i2(-1).i3(-1).s1(path.as_ref()).i4(-1);
    Driver::global().run(request, move |request| std::fs::set_permissions(request.path()?, permissions)).await
}

/// Returns the mode as chmod(2) takes it: without the file type that permissions from metadata hold.
pub(super) fn permission_bits(permissions: &Permissions) -> i64 {
    i64::from(permissions.mode() & 0o7777)
}
