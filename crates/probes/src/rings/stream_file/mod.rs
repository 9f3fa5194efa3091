//! A stream file: pages of a trace, on disk and in memory at once.
//!
//! The file is mapped shared, and grows under its mapping by appended prepared pages ([`prepared_page`]). These are all equal, so any
//! thread may append some without waiting for others. Memory beyond the file's length is never touched. If the file outgrows its
//! mapping, a longer one is made beside it ([`views`]).
//!
//! 1. *Claim*: add the amount to `claimed`, up to the limit. A claim has no place, since the kernel chooses it (`O_APPEND`). So the file is
//!    never longer than `claimed`.
//! 2. *Reserve* disk space beyond the end, so that a full disk is an error here and no signal later. Not on every system ([`os`]).
//! 3. *Append* prepared pages, many at once.
//! 4. *Publish* the file's length as far as it is mapped, if it is more than the published one.
//!
//! An amount that could not be appended is subtracted from `claimed`.

use std::ffi::OsStr;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

use dyntrace_folders::Folder;
use dyntrace_metadata::checksum;
use dyntrace_metadata::packet::{HEADER, PAGE, SUB_BUFFER, offset};
use rustix::fs::{fstat, fsync, ftruncate};
use rustix::io::Errno;

use super::header::{Header, prepared_page};
use super::limits::{Addresses, file_size};
use super::os;
use crate::thread_progress::os::{errno, without_file_size_signal};
use descriptor::AppendDescriptor;
use views::Views;
pub use views::leave_out_of_children;

/// Pages appended with one system call.
const AT_ONCE: usize = 64;
/// The smallest useful file, in bytes.
const SMALLEST: u64 = 2 * SUB_BUFFER as u64;

/// A file was created and cannot be mapped, which some file systems do not support.
#[derive(Debug)]
pub struct NotMapped(pub Errno);

impl fmt::Display for NotMapped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "it cannot be mapped into shared memory: {}", io::Error::from(self.0))
    }
}

impl std::error::Error for NotMapped {}

/// A file of packets, mapped for writing.
pub struct StreamFile {
    descriptor: AppendDescriptor,
    views: Views,
    claimed: AtomicU64,
    prepared: AtomicU64,
    /// The prepared page to append.
    template: Box<[AtomicU64; PAGE / 8]>,
}

impl StreamFile {
    /// Creates the file, which must not exist, for its owner only, and prepares its first `prepared` bytes.
    ///
    /// `limit`, in bytes, is rounded to whole pages, and reduced if that much cannot be mapped, other files leave too few addresses, or the
    /// process may not create a file of that size.
    ///
    /// # Errors
    ///
    /// The system's, without the path. Then there is no file.
    pub fn create(
        folder: &Folder,
        name: impl AsRef<OsStr>,
        uuid: [u8; 16],
        stream_id: u32,
        limit: u64,
        prepared: u64,
    ) -> io::Result<Self> {
        let name = name.as_ref();
        let descriptor = AppendDescriptor::create(folder, name)?;
        let stream = Self::map(descriptor, prepared_page(uuid, stream_id, 0), limit, prepared)
            .and_then(|stream| stream.prepare(prepared).map(|_| stream));
        let stream = stream.map(StreamFile::close_if_scarce);
        if stream.is_err() {
            // The file is still empty. The error to report is why it could not be prepared.
            let _ = folder.remove_file(name);
        }
        stream
    }

    fn map(descriptor: AppendDescriptor, page: [u8; PAGE], limit: u64, prepared: u64) -> io::Result<Self> {
        let limit = pages(file_size(limit.min(Addresses::allowed(SMALLEST.min(limit))?)));
        if limit == 0 {
            return Err(Errno::FBIG.into());
        }
        let file = descriptor.get()?;
        let views = Views::new(&file, limit, prepared).map_err(|errno| io::Error::other(NotMapped(errno)))?;
        drop(file);
        let template = Box::new(std::array::from_fn(|i| {
            AtomicU64::new(u64::from_ne_bytes(std::array::from_fn(|byte| page[8 * i + byte])))
        }));
        Ok(Self { descriptor, views, claimed: AtomicU64::new(0), prepared: AtomicU64::new(0), template })
    }

    /// Closes the descriptor if the process has few.
    fn close_if_scarce(mut self) -> Self {
        self.descriptor.close_if_scarce();
        self
    }

    /// The address of the mapping. Valid below the value that [`prepared`](Self::prepared) had before, as long as the file.
    #[inline(always)]
    pub fn base(&self) -> *mut u8 {
        self.views.base()
    }

    /// The largest length of the file, in bytes: whole pages.
    pub fn limit(&self) -> u64 {
        self.views.limit()
    }

    /// Replaces the memory of the parent's file by private memory.
    ///
    /// # Safety
    ///
    /// The caller is in a forked child that does not use these addresses otherwise.
    pub unsafe fn make_private(&self) {
        // SAFETY: as the caller promises.
        unsafe { self.views.make_private() };
    }

    /// The published length of the file, in bytes: whole pages, ready to be written.
    pub fn prepared(&self) -> u64 {
        // Acquire: with publish's Release. A thread that sees the length may touch the pages.
        self.prepared.load(Ordering::Acquire)
    }

    /// Grows the file to `upto` bytes or the limit, if it is shorter. Returns the published length.
    ///
    /// Any number of threads may call it concurrently, and signal handlers. If others are appending all that the limit leaves, it returns
    /// without waiting for them.
    ///
    /// # Errors
    ///
    /// The system's, most likely a full disk (ENOSPC, EDQUOT) or a limit on the size of files (EFBIG). The file stays a row of whole
    /// pages; some may have been added.
    pub fn prepare(&self, upto: u64) -> io::Result<u64> {
        let _kept = KeptErrno::new();
        let upto = whole_pages(upto).min(self.limit());
        if self.prepared() < upto {
            without_file_size_signal(|| self.grow(upto))?;
        }
        Ok(self.prepared())
    }

    fn grow(&self, upto: u64) -> Result<(), Errno> {
        if file_size(upto) < upto {
            return Err(Errno::FBIG);
        }
        let file = &self.descriptor.get()?;
        self.views.cover(file, upto)?;
        let mut length = self.publish(file)?;
        if length < upto {
            os::reserve(file, length, upto)?;
        }
        while length < upto {
            let amount = self.claim((upto - length).min((AT_ONCE * PAGE) as u64));
            if amount == 0 {
                break;
            }
            let appended = self.append(file, amount);
            // Relaxed: the amount orders nothing.
            self.claimed.fetch_sub(amount - *appended.as_ref().unwrap_or(&0), Ordering::Relaxed);
            length = self.publish(file)?;
            appended?;
        }
        Ok(())
    }

    /// Claims up to `wanted` of the bytes that the limit leaves.
    fn claim(&self, wanted: u64) -> u64 {
        // Relaxed: the amount orders nothing.
        let take = |claimed: u64| Some(claimed + wanted.min(self.limit() - claimed));
        let (Ok(claimed) | Err(claimed)) = self.claimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        wanted.min(self.limit() - claimed)
    }

    /// Appends `amount` bytes of prepared pages, or as many as fit, at least one. Returns the number of bytes.
    fn append(&self, file: &impl AsFd, amount: u64) -> Result<u64, Errno> {
        let appended = self.write(file, 0, amount as usize)?;
        let torn = appended % PAGE;
        if torn != 0 && self.write(file, torn, PAGE - torn) != Ok(PAGE - torn) {
            // Space for a part of the last page only, and no `fallocate` that would have failed before. Other threads find no space either,
            // so the part is still the file's end.
            ftruncate(file, pages(fstat(file)?.st_size as u64))?;
            return if appended < PAGE { Err(Errno::NOSPC) } else { Ok((appended - torn) as u64) };
        }
        Ok(appended.next_multiple_of(PAGE) as u64)
    }

    /// Appends `amount` bytes of prepared pages, beginning at byte `from` of the first.
    fn write(&self, file: &impl AsFd, from: usize, amount: usize) -> Result<usize, Errno> {
        let page = self.template.as_ptr().cast_mut().cast::<u8>();
        let mut parts = [libc::iovec { iov_base: page.cast(), iov_len: PAGE }; AT_ONCE];
        parts[0] = libc::iovec { iov_base: page.wrapping_add(from).cast(), iov_len: amount.min(PAGE - from) };
        let count = (from + amount).div_ceil(PAGE).min(AT_ONCE);
        loop {
            // SAFETY: each part lies within `template`, which lives as long as `self`. The kernel only reads it, and no reference is made
            // to bytes that another thread may change meanwhile.
            let written = unsafe { libc::writev(file.as_fd().as_raw_fd(), parts.as_ptr(), count as libc::c_int) };
            match written {
                0 => return Err(Errno::NOSPC),
                1.. => return Ok(written as usize),
                _ => match Errno::from_io_error(&io::Error::last_os_error()) {
                    Some(Errno::INTR) => continue,
                    other => return Err(other.unwrap_or(Errno::IO)),
                },
            }
        }
    }

    /// Publishes the file's length, as far as it is mapped: another thread may have made it longer.
    fn publish(&self, file: &impl AsFd) -> Result<u64, Errno> {
        let length = pages(fstat(file)?.st_size as u64).min(self.views.covered());
        // Release: with prepared's Acquire. The kernel has filled all pages below the length that it returns.
        self.prepared.fetch_max(length, Ordering::Release);
        Ok(length)
    }

    /// Stores the count of discarded events in prepared pages from byte `after` on, and in pages appended later. A reader would take a
    /// decreasing count for a very large loss.
    ///
    /// Only for the file's writer, while none of its handlers enters these pages. A page that another thread appends at the same time may
    /// keep the older count until the next call.
    pub fn set_discarded(&self, after: u64, discarded: u64) {
        let field = offset::DISCARDED / 8;
        // Relaxed: the number orders nothing.
        self.template[field].store(discarded, Ordering::Relaxed);
        // From the end, so that counts never decrease at any instant.
        let (first, end) = (whole_pages(after) as usize / PAGE, self.prepared() as usize / PAGE);
        for number in (first..end).rev() {
            // SAFETY: the page is in the mapping and below the file's length; no other thread writes it.
            let page = unsafe { &*self.base().add(number * PAGE).cast::<[AtomicU64; PAGE / 8]>() };
            page[field].store(discarded, Ordering::Relaxed);
        }
    }

    /// Faults in the pages for writing, as far as they are prepared. If the kernel cannot, they are faulted in when touched.
    pub fn populate(&self, from: u64, upto: u64) {
        let (from, upto) = (pages(from), upto.min(self.prepared()));
        if from < upto {
            let start = self.base().wrapping_add(from as usize).cast();
            // SAFETY: the range lies in the mapping.
            unsafe { os::populate(start, (upto - from) as usize) };
        }
    }
}

/// Restores the calling thread's errno when dropped: code interrupted by a probe must not see it change.
pub struct KeptErrno(libc::c_int);

impl KeptErrno {
    pub fn new() -> Self {
        // SAFETY: each thread has an errno that lives as long as the thread.
        Self(unsafe { *errno() })
    }
}

impl Drop for KeptErrno {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe { *errno() = self.0 }
    }
}

/// Checks that the folder's file system writes changed pages of a mapping where they belong. A server of FUSE that opens files for
/// appending, as this process does, appends them. Other file systems are not asked.
///
/// # Errors
///
/// If it writes them elsewhere, or the file for the check cannot be made.
pub fn check_write_back(folder: &Folder) -> io::Result<()> {
    const NAME: &str = ".mapped";
    const CHANGED: u64 = 1;
    if !os::has_server(folder) {
        return Ok(());
    }
    let stream = StreamFile::create(folder, NAME, [0; 16], 0, SMALLEST, PAGE as u64)?;
    stream.set_discarded(0, CHANGED);
    let is_written = || {
        fsync(&stream.descriptor.get()?)?;
        let (file, mut field) = (folder.open_file(NAME)?, [0; 8]);
        file.read_exact_at(&mut field, offset::DISCARDED as u64)?;
        io::Result::Ok(file.metadata()?.len() == PAGE as u64 && u64::from_ne_bytes(field) == CHANGED)
    };
    let is_written = is_written();
    // A server renames a file that is open instead of removing it, until its last descriptor is closed.
    drop(stream);
    folder.remove_file(NAME)?;
    match is_written? {
        true => Ok(()),
        false => Err(io::Error::other(
            "its file system (FUSE) appends pages that were changed by a mapping; choose a directory on another file system",
        )),
    }
}

/// Cuts the prepared pages off the end of a file that no thread writes any more, and computes missing checksums.
///
/// If `is_last`, marks the last packet as the last one of the file. Returns whether it is marked: a process that may no longer create files
/// of that size leaves packets without checksums, which are still readable.
///
/// # Errors
///
/// The system's; [`io::ErrorKind::InvalidData`] if the file is not a row of packets: then it stays as it is.
pub fn finish(file: &File, is_last: bool) -> io::Result<bool> {
    let (mut end, mut is_marked) = (0, is_last);
    if let Some((place, header)) = checksums(file)? {
        is_marked = is_last && put_checksum(file, place, checksum::last(header.checksum))?;
        end = place + header.packet_size;
    }
    file.set_len(end).map(|()| is_marked)
}

/// Writes the checksum word of the packet at `place`. Returns `false` if the process may not create files of that size.
fn put_checksum(file: &File, place: u64, word: u64) -> io::Result<bool> {
    match file.write_all_at(&word.to_ne_bytes(), place + offset::CHECKSUM as u64) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EFBIG) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Computes missing checksums in a circular file that no thread writes any more.
///
/// # Errors
///
/// As of [`finish`].
pub fn make_checksums(file: &File) -> io::Result<()> {
    checksums(file).map(|_| ())
}

/// Computes missing checksums. Returns the offset and header of the last packet that was entered.
fn checksums(file: &File) -> io::Result<Option<(u64, Header)>> {
    let length = file.metadata()?.len();
    let (mut position, mut last, mut open) = (0, None, Vec::new());
    while position < length {
        let mut bytes = [0; HEADER];
        let header = match file.read_exact_at(&mut bytes, position) {
            Ok(()) => Header::decode(&bytes).filter(|header| header.packet_size <= length - position),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => None,
            Err(error) => return Err(error),
        };
        let Some(header) = header else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("no whole packet begins at byte {position}"),
            ));
        };
        if header.sequence != 0 {
            if header.checksum == checksum::open(header.sequence) {
                open.push((position, header));
            }
            last = Some((position, header));
        }
        position += header.packet_size;
    }
    let mut content = Vec::new();
    for (position, header) in open {
        content.resize(header.content_size as usize - HEADER, 0);
        file.read_exact_at(&mut content, position + HEADER as u64)?;
        let sum = checksum::sum(&header.encode(), &content);
        if !put_checksum(file, position, sum)? {
            break;
        }
        if let Some((place, last)) = &mut last
            && *place == position
        {
            last.checksum = sum;
        }
    }
    Ok(last)
}

/// Rounds down to whole pages.
fn pages(bytes: u64) -> u64 {
    bytes - bytes % PAGE as u64
}

/// Rounds up to whole pages.
fn whole_pages(bytes: u64) -> u64 {
    pages(bytes.saturating_add(PAGE as u64 - 1))
}

mod descriptor;
#[cfg(test)]
mod tests;
mod views;
