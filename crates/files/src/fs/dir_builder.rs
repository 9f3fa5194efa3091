//! `MKDIR`, `MKDIR_ALL`: DirBuilder.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use crate::efile::{Command, Driver, Request};

/// Options to create a directory with; see [`std::fs::DirBuilder`].
///
/// ```
/// # async fn example() -> std::io::Result<()> {
/// use dyntrace::fs::DirBuilder;
///
/// DirBuilder::new().recursive(true).mode(0o750).create("cache/today").await?;
/// # Ok(()) }
/// ```
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    mode: Option<u32>,
}

impl DirBuilder {
    /// Returns the default options: one directory, with the mode 0o777 before the umask.
    pub fn new() -> DirBuilder {
        DirBuilder::default()
    }

    /// Sets whether to create missing parents, too. Then a directory that exists is not an error.
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.recursive = recursive;
        self
    }

    /// Sets the mode of each directory that is created, before the umask.
    pub fn mode(&mut self, mode: u32) -> &mut DirBuilder {
        self.mode = Some(mode);
        self
    }

    /// Creates the directory, in one operation: a MKDIR_ALL if it is recursive, else a MKDIR.
    ///
    /// Dropping the future while it runs does not stop it.
    pub async fn create(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive);
        if let Some(mode) = self.mode {
            builder.mode(mode);
        }
        let command = if self.recursive { Command::MkdirAll } else { Command::Mkdir };
        let request = Request::new(command).s1(path.as_ref());
        Driver::global().run(request, move |request| builder.create(request.path()?)).await
    }
}
