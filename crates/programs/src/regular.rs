//! Files of which only the path is known: of traces, and of programs of other users.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::rc::Rc;

pub use dyntrace_folders::open_regular as open;
#[cfg(target_os = "linux")]
pub use dyntrace_tasks::aside::Opened;
#[cfg(target_os = "linux")]
use dyntrace_tasks::aside::{Facts, Opener};
use memmap2::{Mmap, MmapMut};
use object::read::{ReadCache, ReadCacheOps, ReadRef};

/// Bytes read at once.
const CHUNK: usize = 1 << 20;

/// Opens a regular file at a path of a process's /proc, and takes the length of a copy from `left`. Does not wait for a server that never
/// answers (of FUSE, NFS and the like), which a process may have mapped the file of.
#[cfg(target_os = "linux")]
pub fn open_mapped(
    path: &Path,
    left: &Cell<u64>,
    allowed: impl FnOnce(&Facts) -> io::Result<()>,
) -> io::Result<Opened> {
    thread_local! {
        static OPENER: Opener = Opener::default();
    }
    OPENER.with(|opener| opener.open(path, left, allowed)).map(|(_, opened)| opened)
}

/// Copies a regular file into memory, and takes its size from `left`. Holes in it take no memory.
pub fn read(path: &Path, left: &Cell<u64>) -> io::Result<Mmap> {
    #[cfg(target_os = "linux")]
    let file = match open_mapped(path, left, |_| Ok(()))? {
        Opened::File(file) => file,
        Opened::Copy(copy) => return Ok(copy),
    };
    #[cfg(not(target_os = "linux"))]
    let file = open(path)?;
    let length = file.metadata()?.len();
    let rest = left.get().checked_sub(length).ok_or(io::ErrorKind::FileTooLarge)?;
    let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    let mut copy = MmapMut::map_anon(length.max(1))?;
    let mut buffer = vec![0; CHUNK.min(length)];
    for (number, place) in copy[..length].chunks_mut(CHUNK).enumerate() {
        let chunk = &mut buffer[..place.len()];
        file.read_exact_at(chunk, (number * CHUNK) as u64)?;
        if chunk.iter().any(|byte| *byte != 0) {
            place.copy_from_slice(chunk);
        }
    }
    left.set(rest);
    copy.make_read_only()
}

/// A regular file that is read piece by piece, up to a limit: a file of holes can say that it is as long as it likes.
pub struct Pieces {
    cache: ReadCache<Remembering>,
    left: Cell<u64>,
    error: Rc<RefCell<Option<io::Error>>>,
}

impl Pieces {
    pub fn new(file: File, most: u64) -> Pieces {
        let error = Rc::default();
        let file = Remembering { file, at: 0, error: Rc::clone(&error) };
        Pieces { cache: ReadCache::new(file), left: Cell::new(most), error }
    }

    /// The last error of the system, of which the parser that met it knows nothing.
    pub fn take_error(&self) -> Option<io::Error> {
        self.error.take()
    }

    fn take(&self, size: u64) -> Result<(), ()> {
        self.left.set(self.left.get().checked_sub(size).ok_or(())?);
        Ok(())
    }
}

/// A file that remembers the system's last error. It has a place of its own, so that it needs no call to change the file's.
struct Remembering {
    file: File,
    at: u64,
    error: Rc<RefCell<Option<io::Error>>>,
}

impl Remembering {
    fn told<T>(&self, done: io::Result<T>) -> Result<T, ()> {
        done.map_err(|error| {
            // The end of the file is no error of the system.
            if error.kind() != io::ErrorKind::UnexpectedEof {
                *self.error.borrow_mut() = Some(error);
            }
        })
    }
}

impl ReadCacheOps for Remembering {
    fn len(&mut self) -> Result<u64, ()> {
        self.told(self.file.metadata()).map(|metadata| metadata.len())
    }

    fn seek(&mut self, at: u64) -> Result<u64, ()> {
        self.at = at;
        Ok(at)
    }

    fn read(&mut self, buffer: &mut [u8]) -> Result<usize, ()> {
        let read = self.told(self.file.read_at(buffer, self.at))?;
        self.at += read as u64;
        Ok(read)
    }

    fn read_exact(&mut self, buffer: &mut [u8]) -> Result<(), ()> {
        self.told(self.file.read_exact_at(buffer, self.at))?;
        self.at += buffer.len() as u64;
        Ok(())
    }
}

impl<'a> ReadRef<'a> for &'a Pieces {
    fn len(self) -> Result<u64, ()> {
        self.cache.len()
    }

    fn read_bytes_at(self, offset: u64, size: u64) -> Result<&'a [u8], ()> {
        self.take(size)?;
        self.cache.read_bytes_at(offset, size)
    }

    fn read_bytes_at_until(self, range: Range<u64>, delimiter: u8) -> Result<&'a [u8], ()> {
        let text = self.cache.read_bytes_at_until(range, delimiter)?;
        self.take(text.len() as u64)?;
        Ok(text)
    }
}
