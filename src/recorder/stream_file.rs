//! A stream file: pages of a trace, on disk and in memory at once.
//!
//! The file is mapped shared for all that it may ever hold, and grows under its mapping. It grows by appending prepared
//! pages ([`prepared_page`]): they are all the same, so whoever needs room may append some, and none
//! need wait for another. Only what is below the file's length is ever touched in memory.
//!
//! 1. *Claim*: add what will be appended to `claimed`, unless that would pass the limit. Claims are amounts, not places: the
//!    kernel finds the place (`O_APPEND`). So the file is never longer than `claimed`.
//! 2. *Reserve*: take space beyond the end, so that a full disk is found here and not while memory is written. Not everywhere ([`os`]).
//! 3. *Append* prepared pages, many at once.
//! 4. *Publish*: the file's true length, if it is more than what was published.
//!
//! What could not be appended is given back to `claimed`.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::FileExt;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use dyntrace_folders::Folder;
use rustix::fs::{fstat, ftruncate};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, mmap_anonymous, munmap};

use super::checksum;
use super::layout::{HEADER, PAGE, SUB_BUFFER, offset};
use super::limits::{Addresses, file_size};
use super::os;
use super::packet::{Header, prepared_page};
use crate::forks;
use crate::thread_progress::os::{errno, without_file_size_signal};
use descriptor::Descriptor;

/// How many pages are appended with one system call.
const AT_ONCE: usize = 64;
/// Less is of no use to a file.
const SMALLEST: u64 = 2 * SUB_BUFFER as u64;

/// Whether forked children are made without the mappings.
static LEFT_OUT: AtomicBool = AtomicBool::new(false);

/// From now on, forked children do not have the mappings of files that are made: no code that runs there goes by their addresses.
pub(super) fn leave_out_of_children() {
    LEFT_OUT.store(true, Ordering::Relaxed);
}

/// Puts private memory at the addresses of a mapping of the parent's.
///
/// # Safety
///
/// The caller is in a forked child, whose parent had a file mapped there, and has not used these addresses since.
pub(super) unsafe fn make_private(base: usize, length: usize) {
    let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE | os::NO_RESERVE);
    // SAFETY: as the caller promises, nothing of the child is there. If it fails, there is no memory to go on with.
    let _ = unsafe { mmap_anonymous(ptr::without_provenance_mut(base), length, protection, flags | MapFlags::FIXED) };
}

/// A file of packets, mapped to be written.
pub(crate) struct StreamFile {
    descriptor: Descriptor,
    _addresses: Addresses,
    base: *mut u8,
    /// Of the mapping, and of the file.
    limit: u64,
    claimed: AtomicU64,
    prepared: AtomicU64,
    /// The prepared page that is appended again and again.
    template: Box<[AtomicU64; PAGE / 8]>,
}

// SAFETY: `base` is the address of a mapping that lives as long as this value; the value itself never reads or writes
// there, and what its users do there they answer for.
unsafe impl Send for StreamFile {}
// SAFETY: as above; all that changes in the value is atomic.
unsafe impl Sync for StreamFile {}

impl StreamFile {
    /// Makes the file, which must not exist, for its owner only, and prepares its first `prepared` bytes.
    ///
    /// `limit`, in bytes, is made a whole number of pages, and less where so much cannot be mapped, other files leave too few
    /// addresses, or the process may make no file of that size.
    ///
    /// # Errors
    ///
    /// The system's, as it gave it: the caller knows the path. Then there is no file.
    pub(crate) fn create(
        folder: &Folder,
        name: impl AsRef<OsStr>,
        uuid: [u8; 16],
        stream_id: u32,
        limit: u64,
        prepared: u64,
    ) -> io::Result<Self> {
        let name = name.as_ref();
        let descriptor = Descriptor::create(folder, name)?;
        let stream = Self::map(descriptor, prepared_page(uuid, stream_id, 0), limit)
            .and_then(|stream| stream.prepare(prepared).map(|_| stream));
        let stream = stream.map(StreamFile::let_go);
        if stream.is_err() {
            // Nothing is in it yet; that it could not be prepared is the error worth telling.
            let _ = folder.remove_file(name);
        }
        stream
    }

    fn map(descriptor: Descriptor, page: [u8; PAGE], limit: u64) -> io::Result<Self> {
        let mut limit = pages(file_size(limit.min(Addresses::allowed(SMALLEST.min(limit))?)));
        if limit == 0 {
            return Err(Errno::FBIG.into());
        }
        let file = descriptor.get()?;
        let base = loop {
            let (protection, flags) = (ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED | os::NO_RESERVE);
            // AGAIN: the program locks all of its memory, and may not lock so much.
            // SAFETY: a new mapping at an address that the kernel chooses takes nobody's memory.
            match unsafe { mmap(ptr::null_mut(), limit as usize, protection, flags, &file, 0) } {
                Ok(base) => break base.cast::<u8>(),
                Err(Errno::NOMEM | Errno::AGAIN) if limit > SUB_BUFFER as u64 => limit = pages(limit / 2),
                Err(error) => return Err(error.into()),
            }
        };
        if LEFT_OUT.load(Ordering::Relaxed) {
            // SAFETY: the mapping made above, which nobody uses in a child. Where the kernel cannot, the child has it, too.
            unsafe { forks::os::leave_out_of_children(base.cast(), limit as usize) };
        }
        drop(file);
        let _addresses = Addresses::take(limit);
        let template = Box::new(std::array::from_fn(|i| {
            AtomicU64::new(u64::from_ne_bytes(std::array::from_fn(|byte| page[8 * i + byte])))
        }));
        Ok(Self {
            descriptor,
            _addresses,
            base,
            limit,
            claimed: AtomicU64::new(0),
            prepared: AtomicU64::new(0),
            template,
        })
    }

    /// Lets the descriptor go if the process has few.
    fn let_go(mut self) -> Self {
        self.descriptor.let_go();
        self
    }

    /// Where the mapping begins. Valid below [`prepared`](Self::prepared).
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// What the file can hold, in bytes: a whole number of pages.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    /// How far the file reached when last somebody looked: whole pages, all of them there to be written.
    pub(crate) fn prepared(&self) -> u64 {
        // Acquire: with publish's Release. Who sees the length may touch the pages.
        self.prepared.load(Ordering::Acquire)
    }

    /// Makes the file reach up to `upto` bytes or the limit, if it does not yet; the answer is how far it reaches.
    ///
    /// Any number of threads may call it at once, and signal handlers. Where others are already appending all that the
    /// limit leaves, it does not wait for them, and answers what is there.
    ///
    /// # Errors
    ///
    /// The system's, most likely that the disk is full (ENOSPC, EDQUOT) or that the process may no longer make files of that
    /// size (EFBIG). The file stays a row of whole pages; some may have been added.
    pub(crate) fn prepare(&self, upto: u64) -> io::Result<u64> {
        let _kept = KeptErrno::new();
        let upto = whole_pages(upto).min(self.limit);
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
            // Relaxed: an amount, which orders nothing.
            self.claimed.fetch_sub(amount - *appended.as_ref().unwrap_or(&0), Ordering::Relaxed);
            length = self.publish(file)?;
            appended?;
        }
        Ok(())
    }

    /// Takes up to `wanted` of what the limit leaves.
    fn claim(&self, wanted: u64) -> u64 {
        // Relaxed: an amount, which orders nothing.
        let take = |claimed: u64| Some(claimed + wanted.min(self.limit - claimed));
        let (Ok(claimed) | Err(claimed)) = self.claimed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        wanted.min(self.limit - claimed)
    }

    /// Appends `amount` bytes of prepared pages, or as many as there is room for, at least one; the answer is in bytes.
    fn append(&self, file: &impl AsFd, amount: u64) -> Result<u64, Errno> {
        let appended = self.write(file, 0, amount as usize)?;
        let torn = appended % PAGE;
        if torn != 0 && self.write(file, torn, PAGE - torn) != Ok(PAGE - torn) {
            // Room for a part of the last page only, and no fallocate that would have found that beforehand. Others find no
            // room either, so the part is still the file's end.
            ftruncate(file, pages(fstat(file)?.st_size as u64))?;
            return if appended < PAGE { Err(Errno::NOSPC) } else { Ok((appended - torn) as u64) };
        }
        Ok(appended.next_multiple_of(PAGE) as u64)
    }

    /// Appends `amount` bytes of a row of prepared pages, beginning at byte `from` of the first.
    fn write(&self, file: &impl AsFd, from: usize, amount: usize) -> Result<usize, Errno> {
        let page = self.template.as_ptr().cast_mut().cast::<u8>();
        let mut parts = [libc::iovec { iov_base: page.cast(), iov_len: PAGE }; AT_ONCE];
        parts[0] = libc::iovec { iov_base: page.wrapping_add(from).cast(), iov_len: amount.min(PAGE - from) };
        let count = (from + amount).div_ceil(PAGE).min(AT_ONCE);
        loop {
            // SAFETY: each part lies within `template`, which lives as long as `self`; the kernel only reads it, and no
            // reference is made to bytes that another thread may change meanwhile.
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

    /// Looks how long the file is and makes that known.
    fn publish(&self, file: &impl AsFd) -> Result<u64, Errno> {
        let length = pages(fstat(file)?.st_size as u64).min(self.limit);
        // Release: with prepared's Acquire. The kernel has filled all pages below the length it tells.
        self.prepared.fetch_max(length, Ordering::Release);
        Ok(length)
    }

    /// Makes prepared pages from byte `after` on say that `discarded` events were lost before them, those that are there and
    /// those to come. For the one thread that writes the file, and only where no handler of it enters the pages meanwhile. A
    /// reader takes a count that is less than the one before for a very large loss.
    ///
    /// A page that another thread appends in this very moment may keep the older count, until this is called again.
    pub(crate) fn set_discarded(&self, after: u64, discarded: u64) {
        let field = offset::DISCARDED / 8;
        // Relaxed: one number, which orders nothing.
        self.template[field].store(discarded, Ordering::Relaxed);
        // From the end, so that the row is in order at every instant.
        let (first, end) = (whole_pages(after) as usize / PAGE, self.prepared() as usize / PAGE);
        for number in (first..end).rev() {
            // SAFETY: the page is in the mapping and below the file's length; nobody else writes it.
            let page = unsafe { &*self.base.add(number * PAGE).cast::<[AtomicU64; PAGE / 8]>() };
            page[field].store(discarded, Ordering::Relaxed);
        }
    }

    /// Has the kernel make the pages ready to be written, as far as they are prepared, so that touching them costs nothing.
    /// Where it cannot, they are made ready when they are touched.
    pub(crate) fn populate(&self, from: u64, upto: u64) {
        let (from, upto) = (pages(from), upto.min(self.prepared()));
        if from < upto {
            let start = self.base.wrapping_add(from as usize).cast();
            // SAFETY: the range lies in the mapping.
            unsafe { os::populate(start, (upto - from) as usize) };
        }
    }
}

impl Drop for StreamFile {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's own, and whoever had `base` from it was to be done before.
        let _ = unsafe { munmap(self.base.cast(), self.limit as usize) };
    }
}

/// Puts the calling thread's errno back as it was: a program that is interrupted by a probe must not see it change.
struct KeptErrno(libc::c_int);

impl KeptErrno {
    fn new() -> Self {
        // SAFETY: the C library gives each thread an errno that is there for as long as the thread.
        Self(unsafe { *errno() })
    }
}

impl Drop for KeptErrno {
    fn drop(&mut self) {
        // SAFETY: as in `new`.
        unsafe { *errno() = self.0 }
    }
}

/// Cuts the prepared pages off the end of a file that nobody writes any more, and makes the checksums that are missing.
/// That of the last packet says that it is the last one, if `is_last` and if it can be written. Answers whether it says so;
/// a process that may no longer make files of that size leaves packets without checksums, which are no worse otherwise.
///
/// # Errors
///
/// The system's; [`io::ErrorKind::InvalidData`] if the file is not a row of packets: then it stays as it is.
pub(crate) fn finish(file: &File, is_last: bool) -> io::Result<bool> {
    let (mut end, mut said) = (0, is_last);
    if let Some((place, header)) = checksums(file)? {
        said = is_last && put_checksum(file, place, checksum::last(header.checksum))?;
        end = place + header.packet_size;
    }
    file.set_len(end).map(|()| said)
}

/// Writes the checksum word of the packet at `place`. `false` if the process may make no file of that size.
fn put_checksum(file: &File, place: u64, word: u64) -> io::Result<bool> {
    match file.write_all_at(&word.to_ne_bytes(), place + offset::CHECKSUM as u64) {
        Ok(()) => Ok(true),
        Err(error) if error.raw_os_error() == Some(libc::EFBIG) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Makes the checksums that are missing in a circle that nobody writes any more.
///
/// # Errors
///
/// As of [`finish`].
pub(crate) fn make_checksums(file: &File) -> io::Result<()> {
    checksums(file).map(|_| ())
}

/// Makes the checksums that are missing; returns the last packet that was entered, and where it begins.
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

/// So many bytes of them as are whole pages.
fn pages(bytes: u64) -> u64 {
    bytes - bytes % PAGE as u64
}

fn whole_pages(bytes: u64) -> u64 {
    pages(bytes.saturating_add(PAGE as u64 - 1))
}

mod descriptor;
#[cfg(test)]
mod tests;
