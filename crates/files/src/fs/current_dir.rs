//! `PWD`: current_dir.

use std::io;
use std::path::PathBuf;

use crate::efile::{Command, Driver, Request};

/// Returns the current directory; see [`std::env::current_dir`].
pub async fn current_dir() -> io::Result<PathBuf> {
    Driver::global().run(Request::new(Command::Pwd), |_| std::env::current_dir()).await
}
