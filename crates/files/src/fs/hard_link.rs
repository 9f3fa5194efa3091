//! `LINK`: hard_link.

use std::io;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Makes `link` another name of the file `original`; see [`std::fs::hard_link`].
pub async fn hard_link(original: impl AsRef<Path>, link: impl AsRef<Path>) -> io::Result<()> {
    let request = Request::new(Command::Link).s1(original.as_ref()).s2(link.as_ref());
    Driver::global().run(request, |request| std::fs::hard_link(request.path()?, request.second_path()?)).await
}
