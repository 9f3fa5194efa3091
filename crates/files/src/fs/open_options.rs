//! `OPEN`: options to open a file with.

use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use rustix::fs::OFlags;

use super::file::open_file::File;
use crate::aio_pool::Port;
use crate::efile::inline::{self, Trial};
use crate::efile::{Command, Descriptor, Driver, Inline, Request};
use dyntrace_processes::tag;

/// Options to open a file with; see [`std::fs::OpenOptions`].
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
    /// These open the file. They cannot be read, so the other fields hold a copy for probes.
    std: std::fs::OpenOptions,
    /// Whether the other fields are a complete copy.
    is_known: bool,
    read: bool,
    write: bool,
    append: bool,
    truncate: bool,
    create: bool,
    create_new: bool,
    mode: u32,
    custom_flags: i32,
    inline: Option<Inline>,
}

impl OpenOptions {
    /// Returns options without any access: set at least one of read, write and append.
    pub fn new() -> OpenOptions {
        OpenOptions {
            std: std::fs::OpenOptions::new(),
            is_known: true,
            read: false,
            write: false,
            append: false,
            truncate: false,
            create: false,
            create_new: false,
            mode: 0o666,
            custom_flags: 0,
            inline: None,
        }
    }

    /// Sets whether to open for reading.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.std.read(read);
        self.read = read;
        self
    }

    /// Sets whether to open for writing.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.std.write(write);
        self.write = write;
        self
    }

    /// Sets whether to open for writing, with every write at the end of the file.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.std.append(append);
        self.append = append;
        self
    }

    /// Sets whether to truncate the file to length 0.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.std.truncate(truncate);
        self.truncate = truncate;
        self
    }

    /// Sets whether to create the file if it does not exist.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.std.create(create);
        self.create = create;
        self
    }

    /// Sets whether to create the file, and to fail with EEXIST if it exists.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.std.create_new(create_new);
        self.create_new = create_new;
        self
    }

    /// Sets the mode of a file that is created, before the umask. The default is 0o666.
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.std.mode(mode);
        self.mode = mode;
        self
    }

    /// Sets further flags for open(2). Access mode flags are ignored.
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.std.custom_flags(flags);
        self.custom_flags = flags;
        self
    }

    /// Sets whether to first try to open and read the file on the caller's thread, see [`Driver::inline`]. The default is the driver's
    /// setting.
    pub fn inline(&mut self, inline: impl Into<Inline>) -> &mut OpenOptions {
        self.inline = Some(inline.into());
        self
    }

    /// Opens the file, on the global driver.
    ///
    /// Options that contradict each other are an error of kind [`InvalidInput`](io::ErrorKind::InvalidInput). If the future is dropped
    /// while the file is being opened, the file is closed.
    pub async fn open(&self, path: impl AsRef<Path>) -> io::Result<File> {
        self.open_with(Driver::global(), path).await
    }

    /// As [`open`](OpenOptions::open), on `driver`. All operations of the file go there.
    pub async fn open_with(&self, driver: &Driver, path: impl AsRef<Path>) -> io::Result<File> {
        let port = Port::new();
        let flags = self.flags();
        let shown = flags.bits() as i32;
        let mode = if self.create || self.create_new { self.mode } else { 0 };
        let request = Request::new(Command::Open).s1(path.as_ref()).i1(shown.into()).i2(mode.into());
        let inline = self.inline.unwrap_or(driver.mode());
        let attempt = |request: &Request, _: &mut (), trial: &mut Trial| {
            let opened = inline::open(request.path()?, flags, trial)?;
            Ok(Descriptor::opened_at(driver.clone(), port, shown, inline, opened))
        };
        let (options, is_known, driver_too, user_tag) =
            (self.std.clone(), self.is_known, driver.clone(), tag::get_tag_data());
        let open = move |request: &Request, _: &mut ()| {
            let file = options.open(request.path()?)?;
            let flags = if is_known { shown } else { flags_of(&file) };
            Ok(Descriptor::new(driver_too, port, flags, inline, file).detected().opened_for(user_tag))
        };
        let is_attempted = self.is_known && self.read && inline::can_open(flags);
        let permit = if is_attempted { Driver::permit(inline) } else { None };
        let (descriptor, _) = driver.run_inline(permit, port, request, (), attempt, || open).await;
        Ok(File::new(descriptor?))
    }

    /// The flags that std passes to open(2).
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
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions::new()
    }
}

impl From<std::fs::OpenOptions> for OpenOptions {
    /// The OPEN probe does not show the flags and mode set in `std`; later operations show the file's own flags.
    fn from(std: std::fs::OpenOptions) -> OpenOptions {
        OpenOptions { std, is_known: false, ..OpenOptions::new() }
    }
}

/// Returns the flags of an open file, from fcntl(2).
pub(super) fn flags_of(file: &std::fs::File) -> i32 {
    rustix::fs::fcntl_getfl(file).map_or(0, |flags| flags.bits() as i32)
}
