//! `MKDIR`: create_dir.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Creates a directory; see [`std::fs::create_dir`].
pub async fn create_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::Mkdir).s1(path.as_ref());
    Driver::global().run(request, |request| std::fs::create_dir(request.path()?)).await
}
