//! `OPEN`: how a file is to be opened.

use std::io;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};

use super::File;
use crate::aio_pool::Port;
use crate::efile::{Command, Descriptor, Driver, Request};

/// How a file is to be opened; see [`std::fs::OpenOptions`].
///
/// Every file is opened with `O_CLOEXEC`.
///
/// ```
/// # async fn example() -> std::io::Result<()> {
/// use dyntrace::fs::OpenOptions;
///
/// let log = OpenOptions::new().append(true).create(true).mode(0o640).open("log").await?;
/// # Ok(()) }
/// ```
#[derive(Clone, Debug)]
pub struct OpenOptions {
    read: bool,
    write: bool,
    append: bool,
    truncate: bool,
    create: bool,
    create_new: bool,
    mode: u32,
    custom_flags: i32,
}

impl OpenOptions {
    /// Options that say nothing yet: what to open a file for must be added.
    #[allow(clippy::new_without_default, reason = "as in std and tokio")]
    pub fn new() -> OpenOptions {
        OpenOptions {
            read: false,
            write: false,
            append: false,
            truncate: false,
            create: false,
            create_new: false,
            mode: 0o666,
            custom_flags: 0,
        }
    }

    /// Open for reading.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.read = read;
        self
    }

    /// Open for writing.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.write = write;
        self
    }

    /// Open for writing, every write at the end of the file.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.append = append;
        self
    }

    /// Empty the file.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.truncate = truncate;
        self
    }

    /// Make the file if there is none.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.create = create;
        self
    }

    /// Make the file; fail with EEXIST if there is one.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.create_new = create_new;
        self
    }

    /// The mode of a file that is made, before the umask; 0o666 unless set.
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.mode = mode;
        self
    }

    /// Further flags for open(2). Those that say for reading or for writing are left out.
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.custom_flags = flags;
        self
    }

    /// Opens the file, on the global driver.
    ///
    /// Options that contradict each other are EINVAL. A file that was opened after the future was dropped is closed.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.open_with(Driver::global(), path).await
    }

    /// As [`open`](OpenOptions::open), on a driver of your own. All operations of the file go there.
    pub async fn open_with(&self, driver: &Driver, path: impl AsRef<Path>) -> io::Result<File> {
        let port = Port::new();
        let (flags, makes) = (self.flags(), self.create || self.create_new);
        let shown_flags = flags.bits() as i32;
        let mode = if makes { self.mode } else { 0 };
        let request = Request::new(Command::Open).s1(path).i1(shown_flags.into()).i2(mode.into());
        let possible = self.are_possible();
        let owner = driver.clone();
        let open = move |request: &Request, _: &mut ()| {
            if !possible {
                return Err(Errno::INVAL.into());
            }
            let path = request.path()?;
            let file = retry_on_intr(|| rustix::fs::open(path, flags, Mode::from_raw_mode(mode as _)))?;
            Ok(Descriptor::new(owner, port, shown_flags, file.into()))
        };
        let (descriptor, _) = driver.run_with(port, request, (), open).await;
        Ok(File::new(descriptor?))
    }

    fn flags(&self) -> OFlags {
        let access = match (self.read, self.write || self.append) {
            (_, false) => OFlags::RDONLY,
            (false, true) => OFlags::WRONLY,
            (true, true) => OFlags::RDWR,
        };
        let mut flags =
            OFlags::from_bits_retain(self.custom_flags as _).difference(OFlags::RWMODE) | access | OFlags::CLOEXEC;
        for (asked, flag) in [
            (self.append, OFlags::APPEND),
            (self.truncate, OFlags::TRUNC),
            (self.create, OFlags::CREATE),
            (self.create_new, OFlags::CREATE | OFlags::EXCL),
        ] {
            if asked {
                flags |= flag;
            }
        }
        flags
    }

    /// Whether open(2) could do what is asked: it ignores some contradictions, std does not.
    fn are_possible(&self) -> bool {
        let writes = self.write || self.append;
        let changes = self.truncate || self.create || self.create_new;
        (writes || self.read && !changes) && !(self.append && self.truncate && !self.create_new)
    }
}
