//! `MKDIR_ALL`: create_dir_all.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Creates a directory and its missing parents, in one operation; see [`std::fs::create_dir_all`].
pub async fn create_dir_all(path: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::MkdirAll).s1(path.as_ref());
    Driver::global().run(request, |request| std::fs::create_dir_all(request.path()?)).await
}
