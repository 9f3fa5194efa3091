//! `READDIR`: read_dir.

use std::ffi::OsString;
use std::fmt;
use std::fs::{FileType, Metadata};
use std::future::{Future, poll_fn};
use std::io;
use std::mem;
use std::os::unix::fs::DirEntryExt;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::vec;

use crate::efile::{Command, Driver, Request};

/// The most entries that one READDIR reads: enough to make the trip to the pool a small part of the cost, and few enough to use little
/// memory and not to occupy an I/O thread for long.
const MOST: usize = 256;

/// Lists a directory; see [`std::fs::read_dir`].
///
/// Leaves out `.` and `..`; the order is the system's. The first 256 entries are read together with opening the directory.
///
/// # Errors
///
/// Those of opening the directory. [`ReadDir::next_entry`] returns later errors in their place.
pub async fn read_dir(path: impl AsRef<Path>) -> io::Result<ReadDir> {
    ReadDir::open(Driver::global(), path.as_ref()).await
}

/// The entries of a directory, read 256 at a time, on demand.
///
/// Each read is a READDIR of its own, with the same path and the user tag of the calling task. The directory stays open until its end is
/// read or this is dropped, and while any of its entries exists.
///
/// With the feature `stream` it is a `futures_core::Stream` of the entries, as is `tokio_stream::wrappers::ReadDirStream` for tokio's
/// listing.
///
/// # Cancellation
///
/// Dropping the future of [`next_entry`](ReadDir::next_entry) loses no entry: the next call returns it. Dropping the `ReadDir` closes the
/// directory, unless an entry exists: on the dropping thread, or on the I/O thread that is reading it.
#[must_use = "call `next_entry` to get the entries"]
pub struct ReadDir {
    driver: Driver,
    directory: Arc<Path>,
    /// Entries that were read and not returned yet, then the error behind them.
    entries: vec::IntoIter<DirEntry>,
    error: Option<io::Error>,
    rest: Rest,
}

/// The part that was not read yet.
enum Rest {
    Unread(std::fs::ReadDir),
    InFlight(InFlight),
    Nothing,
}

type InFlight = Pin<Box<dyn Future<Output = (io::Result<()>, Option<Batch>)> + Send + Sync>>;

/// The result of one READDIR.
#[derive(Default)]
struct Batch {
    entries: Vec<DirEntry>,
    /// `None` before the directory was opened, and at its end.
    unread: Option<std::fs::ReadDir>,
}

impl ReadDir {
    pub(super) async fn open(driver: &Driver, path: &Path) -> io::Result<ReadDir> {
        let (driver, directory) = (driver.clone(), Arc::from(path));
        let rest = Rest::InFlight(begin(&driver, &directory, Batch::default()));
        let mut listing = ReadDir { driver, directory, entries: Vec::new().into_iter(), error: None, rest };
        poll_fn(|cx| listing.poll_arrival(cx)).await;
        match (listing.error.take(), &listing.rest) {
            // The directory could not be opened.
            (Some(error), Rest::Nothing) => Err(error),
            (error, _) => Ok(ReadDir { error, ..listing }),
        }
    }

    /// Returns the next entry, or `None` after the last.
    ///
    /// Returns an error after the entries that were read before it. Calls after an error go on, as in std.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// As [`next_entry`](ReadDir::next_entry). Wakes the task that polled last.
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            if let Some(entry) = self.entries.next() {
                return Poll::Ready(Ok(Some(entry)));
            }
            if let Some(error) = self.error.take() {
                return Poll::Ready(Err(error));
            }
            self.rest = match mem::replace(&mut self.rest, Rest::Nothing) {
                Rest::Nothing => return Poll::Ready(Ok(None)),
                Rest::Unread(unread) => {
                    let batch = Batch { unread: Some(unread), ..Batch::default() };
                    Rest::InFlight(begin(&self.driver, &self.directory, batch))
                }
                in_flight => in_flight,
            };
            ready!(self.poll_arrival(cx));
        }
    }

    /// Waits for the READDIR in flight.
    fn poll_arrival(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Rest::InFlight(in_flight) = &mut self.rest {
            let (answer, batch) = ready!(in_flight.as_mut().poll(cx));
            let Batch { entries, unread } = batch.unwrap_or_default();
            self.entries = entries.into_iter();
            self.error = answer.err();
            self.rest = unread.map_or(Rest::Nothing, Rest::Unread);
        }
        Poll::Ready(())
    }
}

/// Yields the entries as [`next_entry`](ReadDir::next_entry) does. Needs the feature `stream`, which is on by default.
///
/// ```
/// # #[tokio::main] async fn main() -> std::io::Result<()> {
/// use tokio_stream::StreamExt;
///
/// let entries = dyntrace::fs::read_dir("src").await?;
/// let names: Vec<_> = entries.map(|entry| entry.map(|entry| entry.file_name())).collect::<Result<_, _>>().await?;
/// assert!(names.iter().any(|name| name == "lib.rs"));
/// # Ok(()) }
/// ```
#[cfg(feature = "stream")]
impl futures_core::Stream for ReadDir {
    type Item = io::Result<DirEntry>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<DirEntry>>> {
        self.get_mut().poll_next_entry(cx).map(Result::transpose)
    }
}

fn begin(driver: &Driver, directory: &Arc<Path>, batch: Batch) -> InFlight {
    let (driver, directory) = (driver.clone(), Arc::clone(directory));
    Box::pin(async move {
        let request = Request::new(Command::Readdir).s1(&directory);
        let read = |request: &Request, batch: &mut Batch| batch.read(request.path()?);
        driver.run_with(driver.port(), request, batch, read).await
    })
}

impl Batch {
    /// Opens the directory if it is not open yet, and reads on in it.
    fn read(&mut self, path: &Path) -> io::Result<()> {
        let unread = match &mut self.unread {
            Some(unread) => unread,
            None => self.unread.insert(std::fs::read_dir(path)?),
        };
        while self.entries.len() < MOST {
            let Some(entry) = unread.next() else {
                self.unread = None;
                break;
            };
            let std = Arc::new(entry?);
            self.entries.push(DirEntry { file_type: std.file_type().ok(), std });
        }
        Ok(())
    }
}

impl fmt::Debug for ReadDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadDir").field("directory", &self.directory).finish_non_exhaustive()
    }
}

/// One name in a directory, which it keeps open.
#[derive(Clone, Debug)]
pub struct DirEntry {
    std: Arc<std::fs::DirEntry>,
    file_type: Option<FileType>,
}

impl DirEntry {
    /// Returns the path given to [`read_dir`], joined with the name.
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// Returns the name alone.
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// Returns the inode number.
    pub fn ino(&self) -> u64 {
        self.std.ino()
    }

    /// Returns the metadata of the name without following a symbolic link: an LSTAT.
    ///
    /// Looks in the directory that was listed, also if it has another path by now; the probes have the old one. An I/O thread does it, also
    /// if the driver is [inline](Driver::inline). [`symlink_metadata`](crate::fs::symlink_metadata) looks up the path, and may answer from
    /// the system's caches.
    pub async fn metadata(&self) -> io::Result<Metadata> {
        let request = Request::new(Command::Lstat).s1(&self.path());
        let std = Arc::clone(&self.std);
        // Without an attempt on this thread, which would look up the path: std has no other way into the directory.
        Driver::global().run(request, move |_| std.metadata()).await
    }

    /// Returns the file type of the name without following a symbolic link. The listing has it, unless the file was removed meanwhile:
    /// then this is an LSTAT.
    pub async fn file_type(&self) -> io::Result<FileType> {
        match self.file_type {
            Some(file_type) => Ok(file_type),
            None => Ok(self.metadata().await?.file_type()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;
    use crate::efile::observe::Stage::Return;
    use crate::efile::observe::operations;
    use crate::efile::tests::{CANCELLED, DONE, finish, poll, stepped};

    /// Creates a directory with `files` files, and returns their names.
    fn place(files: usize) -> (tempfile::TempDir, Vec<OsString>) {
        let place = tempfile::tempdir().unwrap();
        let names: Vec<_> = (0..files).map(|file| OsString::from(format!("{file:05}"))).collect();
        names.iter().for_each(|name| drop(std::fs::File::create(place.path().join(name)).unwrap()));
        (place, names)
    }

    #[test]
    fn each_entry_is_given_once_and_each_trip_brings_many() {
        for (files, trips) in [(0, 1), (MOST - 1, 1), (MOST, 2), (3 * MOST + 1, 4)] {
            let (place, names) = place(files);
            let (pool, driver, port) = stepped();
            let mut listing = finish(&pool, ReadDir::open(&driver, place.path())).unwrap();
            let mut found = Vec::new();
            while let Some(entry) = finish(&pool, listing.next_entry()).unwrap() {
                assert_eq!(entry.path(), place.path().join(entry.file_name()));
                found.push(entry.file_name());
            }
            found.sort();
            assert_eq!(found, names);
            assert_eq!(operations(port), vec![(Command::Readdir, DONE.to_vec()); trips]);
            assert!(finish(&pool, listing.next_entry()).unwrap().is_none(), "it stays at its end");
        }
    }

    #[test]
    fn a_next_entry_is_dropped_at_every_stage_and_loses_nothing() {
        let (place, names) = place(2 * MOST);
        let (pool, driver, port) = stepped();
        let mut listing = finish(&pool, ReadDir::open(&driver, place.path())).unwrap();
        let mut found = Vec::new();
        loop {
            drop(listing.next_entry());
            // Queued, then completed, if it is not there already.
            for _ in 0..2 {
                if let Poll::Ready(entry) = poll(pin!(listing.next_entry())) {
                    found.extend(entry.unwrap().map(|entry| entry.file_name()));
                    break;
                }
                assert!(pool.run_one());
            }
            if listing.entries.len() == 0 && matches!(listing.rest, Rest::Nothing) {
                break;
            }
        }
        found.sort();
        assert_eq!(found, names);
        assert_eq!(operations(port), vec![(Command::Readdir, DONE.to_vec()); 3]);
    }

    #[test]
    fn a_listing_that_is_dropped_is_cancelled_in_the_queue() {
        let (place, _) = place(MOST);
        let (pool, driver, port) = stepped();
        let mut listing = finish(&pool, ReadDir::open(&driver, place.path())).unwrap();
        for _ in 0..MOST {
            assert!(finish(&pool, listing.next_entry()).unwrap().is_some());
        }
        assert!(poll(pin!(listing.next_entry())).is_pending());
        drop(listing);
        while pool.run_one() {}
        let cancelled = vec![Return(CANCELLED)];
        assert_eq!(operations(port), [(Command::Readdir, DONE.to_vec()), (Command::Readdir, cancelled)]);
    }

    #[test]
    fn an_error_is_returned_in_its_place() {
        let (place, _) = place(MOST + 1);
        let (pool, driver, _) = stepped();
        let mut listing = finish(&pool, ReadDir::open(&driver, place.path())).unwrap();
        pool.shutdown();
        for _ in 0..MOST {
            assert!(finish(&pool, listing.next_entry()).unwrap().is_some());
        }
        let error = finish(&pool, listing.next_entry()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(CANCELLED));
        assert!(finish(&pool, listing.next_entry()).unwrap().is_none());
        let refused = finish(&pool, ReadDir::open(&driver, place.path())).unwrap_err();
        assert_eq!(refused.raw_os_error(), Some(CANCELLED));
    }

    #[test]
    fn the_metadata_of_an_entry_are_those_of_the_directory_that_was_listed() {
        let place = tempfile::tempdir().unwrap();
        let (path, elsewhere) = (place.path().join("listed"), place.path().join("renamed"));
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("file"), "12345").unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let entry = read_dir(&path).await.unwrap().next_entry().await.unwrap().unwrap();
            std::fs::rename(&path, &elsewhere).unwrap();
            assert_eq!(entry.metadata().await.unwrap().len(), 5);
            std::fs::create_dir(&path).unwrap();
            std::fs::write(path.join("file"), "another").unwrap();
            assert_eq!((entry.metadata().await.unwrap().len(), entry.path()), (5, path.join("file")));
        });
    }
}
