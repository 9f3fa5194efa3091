//! `CHDIR`: set_current_dir.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Sets the current directory of the whole process; see [`std::env::set_current_dir`].
pub async fn set_current_dir(path: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::Chdir).s1(path.as_ref());
    Driver::global().run(request, |request| std::env::set_current_dir(request.path()?)).await
}
