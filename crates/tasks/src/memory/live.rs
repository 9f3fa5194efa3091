//! The memory of a running process, read without stopping it.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use dyntrace_folders::{exists, living_thread};

use super::gaps::Gaps;
use super::maps::{self, Mapping};
use super::{Memory, Piece, Unreadable};
use crate::error::Error;

/// Runs in one system call: the kernel's limit (UIO_MAXIOV).
const PIECES: usize = 1024;

/// Bytes in one system call of [`Memory::read_pieces`], unless one piece alone is longer.
const BATCH: usize = 1 << 20;

/// A running process. Its start time tells it from a later process with the same id.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    started: u64,
    /// The thread by whose number the kernel shows the process: its first one may have ended.
    thread: AtomicU32,
    /// /proc/PID/mem, once the kernel has refused `process_vm_readv`.
    memory: OnceLock<File>,
    /// As of the last look at the mappings.
    gaps: RwLock<Gaps>,
    /// The mappings that were read last, and the counts before that.
    read: RwLock<(Option<Stamp>, Arc<Vec<Mapping>>)>,
}

/// Counts that change with each page that the process begins to use: pages of its address space, those of its data, and page faults.
#[derive(Debug, PartialEq, Eq)]
struct Stamp {
    pages: u64,
    data: u64,
    faults: u64,
}

impl Process {
    /// Finds the process.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn open(pid: u32) -> Result<Process, Error> {
        let missing = || if exists(pid) { Error::Hidden { pid } } else { Error::NoProcess { pid } };
        let started = status(pid)?.ok_or_else(missing)?.started;
        let thread = living_thread(pid).ok_or(Error::Zombie { pid })?.into();
        Ok(Process { pid, started, thread, memory: OnceLock::new(), gaps: RwLock::default(), read: RwLock::default() })
    }

    /// Returns the process's id.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Returns the thread by whose number the kernel shows the process's memory and files.
    pub(crate) fn thread(&self) -> u32 {
        self.thread.load(Relaxed)
    }

    /// Fails if the process has ended.
    ///
    /// # Errors
    ///
    /// [`Error::Ended`]: its id is free, belongs to a later process, or its parent has not yet waited for it.
    pub fn check(&self) -> Result<(), Error> {
        match status(self.pid)? {
            Some(status) if status.started == self.started => {
                let thread = living_thread(self.pid).ok_or(Error::Ended { pid: self.pid })?;
                self.thread.store(thread, Relaxed);
                Ok(())
            }
            _ => Err(Error::Ended { pid: self.pid }),
        }
    }

    /// Returns the answer of `read` by a thread that lived until then: a thread that has ended shows no memory and no files, though the
    /// process goes on.
    pub(crate) fn by_living_thread<T>(&self, mut read: impl FnMut() -> T) -> Result<T, Error> {
        loop {
            let thread = self.thread();
            let answer = read();
            self.check()?;
            if self.thread() == thread {
                return Ok(answer);
            }
        }
    }

    /// Returns the path of `file` in the process's folder of /proc.
    #[must_use]
    pub fn proc(&self, file: &str) -> String {
        format!("/proc/{}/{file}", self.thread())
    }

    /// Returns the mappings as they are now. Later reads leave out pages of them that only a server delivers.
    ///
    /// The kernel takes 0.6 s to list a million of them: it is asked again only if the process may have got a page since.
    ///
    /// # Errors
    ///
    /// If the process has ended, or the kernel refuses.
    pub fn mappings(&self) -> Result<Arc<Vec<Mapping>>, Error> {
        let stamp = self.stamp();
        if stamp.is_some() && stamp == self.read.read().unwrap_or_else(PoisonError::into_inner).0 {
            self.check()?;
            return Ok(self.last_mappings());
        }
        let read = self.by_living_thread(|| fs::read(self.proc("maps")))?;
        let refused = |error| Error::NotPermitted { pid: self.pid, what: "the mappings", error };
        let maps = Arc::new(maps::parse(&read.map_err(refused)?));
        let mut gaps = self.gaps.write().unwrap_or_else(PoisonError::into_inner);
        *gaps = Gaps::of(&self.proc(""), &maps, &gaps);
        let mut kept = self.read.write().unwrap_or_else(PoisonError::into_inner);
        *kept = (stamp, Arc::clone(&maps));
        Ok(maps)
    }

    /// Returns the mappings that were read last; none before the first reading.
    #[must_use]
    pub fn last_mappings(&self) -> Arc<Vec<Mapping>> {
        Arc::clone(&self.read.read().unwrap_or_else(PoisonError::into_inner).1)
    }

    fn stamp(&self) -> Option<Stamp> {
        let faults = status(self.pid).ok()??.faults;
        let sizes = fs::read_to_string(self.proc("statm")).ok()?;
        let mut sizes = sizes.split_whitespace().map(str::parse);
        // Between them stand the resident pages, the shared ones, the program's code and libraries.
        Some(Stamp { pages: sizes.next()?.ok()?, data: sizes.nth(4)?.ok()?, faults })
    }

    /// Whether these bytes can be read without waiting for a server, as of the mappings that were read last.
    #[must_use]
    pub fn needs_no_server(&self, address: u64, length: usize) -> bool {
        self.gaps.read().unwrap_or_else(PoisonError::into_inner).may_read(address, length)
    }

    /// Returns the number of mappings of which pages were left out.
    #[must_use]
    pub fn left_out(&self) -> usize {
        self.gaps.read().unwrap_or_else(PoisonError::into_inner).missed()
    }

    /// Reads a byte as all reading does, so that the kernel's refusal is reported as such.
    ///
    /// # Errors
    ///
    /// If the process has ended, or the reader may not read its memory.
    pub fn may_read(&self) -> Result<(), Error> {
        // Nothing is there: the kernel checks the permission first.
        match self.by_living_thread(|| self.read_some(0, &mut [0]))? {
            Err(error) if error.raw_os_error() != Some(libc::EFAULT) => {
                Err(Error::NotPermitted { pid: self.pid, what: "the memory", error })
            }
            _ => Ok(()),
        }
    }

    /// Reads from `address` up to a missing page, and returns the number of bytes: as many as asked if no page is missing.
    ///
    /// # Errors
    ///
    /// The kernel's answer if it reads nothing.
    pub fn read_some(&self, address: u64, bytes: &mut [u8]) -> io::Result<usize> {
        self.transfer(bytes, &[remote(Piece { address, length: bytes.len() })])
    }

    /// Fills `bytes` from `pieces`, one after the other, until a byte cannot be read.
    fn transfer(&self, bytes: &mut [u8], pieces: &[libc::iovec]) -> io::Result<usize> {
        let gaps = self.gaps.read().unwrap_or_else(PoisonError::into_inner);
        if !pieces.iter().all(|piece| gaps.may_read(piece.iov_base.addr() as u64, piece.iov_len)) {
            return Err(io::Error::from_raw_os_error(libc::EFAULT));
        }
        if let Some(memory) = self.memory.get() {
            return copy(memory, bytes, pieces);
        }
        let local = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
        let Ok(pid) = libc::pid_t::try_from(self.thread()) else { return Err(io::ErrorKind::NotFound.into()) };
        let count = libc::c_ulong::try_from(pieces.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the kernel writes into `bytes` only, which `local` describes and this borrow keeps. `pieces`
        // describes memory of the other process; the kernel checks it.
        let read = unsafe { libc::process_vm_readv(pid, &raw const local, 1, pieces.as_ptr(), count, 0) };
        let Ok(read) = usize::try_from(read) else {
            let error = io::Error::last_os_error();
            return match error.raw_os_error() {
                // This thread has ended: another one shows the same memory.
                Some(libc::ESRCH) if self.check().is_ok() && libc::pid_t::try_from(self.thread()) != Ok(pid) => {
                    drop(gaps);
                    self.transfer(bytes, pieces)
                }
                // Kernels and sandboxes without the call, filters, and missing permission, of which this file tells as well.
                Some(libc::ENOSYS | libc::EPERM) => {
                    let memory = File::open(self.proc("mem"))?;
                    copy(self.memory.get_or_init(|| memory), bytes, pieces)
                }
                _ => Err(error),
            };
        };
        Ok(read)
    }

    /// Reads runs in one system call, or more if bytes of them cannot be read.
    fn read_batch(
        &self,
        runs: &[Run],
        pieces: &[Piece],
        bytes: &mut Vec<u8>,
        take: &mut dyn FnMut(usize, Option<&[u8]>),
    ) {
        let mut rest = runs;
        while !rest.is_empty() {
            let remotes: Vec<libc::iovec> = rest.iter().map(|run| remote(run.bytes)).collect();
            bytes.resize(rest.iter().map(|run| run.bytes.length).sum(), 0);
            let read = self.transfer(bytes, &remotes).unwrap_or(0);
            let mut read = &bytes[..read];
            while let Some((run, behind)) = rest.split_first()
                && let Some((copy, others)) = read.split_at_checked(run.bytes.length)
            {
                for (index, piece) in run.pieces.clone().zip(&pieces[run.pieces.clone()]) {
                    let at = (piece.address - run.bytes.address) as usize;
                    take(index, Some(&copy[at..at + piece.length]));
                }
                (rest, read) = (behind, others);
            }
            // The kernel stopped within this run.
            if let Some((run, behind)) = rest.split_first() {
                for (index, piece) in run.pieces.clone().zip(&pieces[run.pieces.clone()]) {
                    let mut copy = vec![0; piece.length];
                    let read = self.read(piece.address, &mut copy);
                    take(index, read.is_ok().then_some(&copy[..]));
                }
                rest = behind;
            }
        }
    }
}

/// Does what `process_vm_readv` does, by /proc/PID/mem.
fn copy(memory: &File, bytes: &mut [u8], pieces: &[libc::iovec]) -> io::Result<usize> {
    let mut read = 0;
    for piece in pieces {
        let place = &mut bytes[read..][..piece.iov_len];
        match memory.read_at(place, piece.iov_base.addr() as u64) {
            Ok(length) if length == place.len() => read += length,
            Ok(length) => return Ok(read + length),
            Err(_) if read > 0 => break,
            Err(error) if error.raw_os_error() == Some(libc::EIO) => {
                return Err(io::Error::from_raw_os_error(libc::EFAULT));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Pieces that are read as one, with the bytes between them.
#[derive(Debug, Clone)]
struct Run {
    pieces: Range<usize>,
    bytes: Piece,
}

/// Groups pieces into runs. Each further range costs the kernel as much as a kilobyte.
fn runs(pieces: &[Piece]) -> Vec<Run> {
    // Less than a page: all bytes between two pieces are in the pages of these pieces.
    const GAP: u64 = 1024;
    const LONGEST: u64 = 64 << 10;
    let mut runs: Vec<Run> = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        let end = piece.address.saturating_add(piece.length as u64);
        if let Some(Run { pieces, bytes }) = runs.last_mut()
            && let Some(gap) = piece.address.checked_sub(bytes.address.saturating_add(bytes.length as u64))
            && gap <= GAP
            && end - bytes.address <= LONGEST
        {
            pieces.end = index + 1;
            bytes.length = (end - bytes.address) as usize;
        } else {
            runs.push(Run { pieces: index..index + 1, bytes: *piece });
        }
    }
    runs
}

impl Memory for Process {
    fn read(&self, address: u64, bytes: &mut [u8]) -> Result<(), Unreadable> {
        match self.read_some(address, bytes) {
            Ok(read) if read == bytes.len() => Ok(()),
            _ => Err(Unreadable { address }),
        }
    }

    fn read_pieces(&self, pieces: &[Piece], take: &mut dyn FnMut(usize, Option<&[u8]>)) {
        let mut bytes = Vec::new();
        let runs = runs(pieces);
        let mut rest = &runs[..];
        while !rest.is_empty() {
            let mut length = 0;
            let fits = rest.iter().take(PIECES).take_while(|run| {
                length += run.bytes.length;
                length <= BATCH
            });
            let (batch, behind) = rest.split_at(fits.count().max(1));
            self.read_batch(batch, pieces, &mut bytes, take);
            rest = behind;
        }
    }
}

fn remote(piece: Piece) -> libc::iovec {
    #[allow(clippy::cast_possible_truncation)] // both sides are 64-bit
    let address = piece.address as usize;
    libc::iovec { iov_base: std::ptr::without_provenance_mut(address), iov_len: piece.length }
}

/// Fields of /proc/PID/stat, for a process or a thread.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Status {
    /// `R`, `S`, `T`, `Z` and so on.
    pub(super) state: u8,
    /// In ticks since boot.
    pub(super) started: u64,
    /// Page faults of all threads.
    faults: u64,
}

/// `None` of a process that has ended, or that /proc hides.
fn status(pid: u32) -> Result<Option<Status>, Error> {
    let path = format!("/proc/{pid}/stat");
    match fs::read(&path) {
        Ok(stat) => Ok(parse_status(&stat)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
                || error.raw_os_error() == Some(libc::ESRCH) =>
        {
            Ok(None)
        }
        Err(error) => Err(Error::File { what: "the state of the process", path: path.into(), error }),
    }
}

/// Parses /proc/PID/stat. The program's name stands in parentheses and may contain any byte, also parentheses and
/// blanks.
pub(super) fn parse_status(stat: &[u8]) -> Option<Status> {
    let name_end = stat.iter().rposition(|byte| *byte == b')')?;
    let mut fields = stat[name_end + 1..].split(u8::is_ascii_whitespace).filter(|field| !field.is_empty());
    let state = *fields.next()?.first()?;
    let number = |field: &[u8]| str::from_utf8(field).ok()?.parse::<u64>().ok();
    // The state is field 3. Faults are fields 10 and 12: each is followed by that of children. The start time is field 22.
    let faults = [number(fields.nth(6)?)?, number(fields.nth(1)?)?];
    let started = number(fields.nth(9)?)?;
    Some(Status { state, started, faults: faults[0].wrapping_add(faults[1]) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filtered::refuse;

    fn own() -> Process {
        Process::open(std::process::id()).unwrap()
    }

    #[test]
    fn a_name_with_parentheses_hides_no_field() {
        let stat = b"7 (a ) R (b) S 1 7 7 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 4711 1 2\n";
        assert_eq!(parse_status(stat), Some(Status { state: b'S', started: 4711, faults: 4 }));
        assert_eq!(parse_status(b"7 (a) S 1"), None);
        assert_eq!(parse_status(b""), None);
    }

    #[test]
    fn reads_pieces_around_one_that_is_missing() {
        let words: Vec<u64> = (0..5000).collect();
        let mut pieces: Vec<Piece> =
            words.iter().map(|word| Piece { address: std::ptr::from_ref(word).addr() as u64, length: 8 }).collect();
        pieces[1500].address = 8;
        let mut seen = Vec::new();
        own().read_pieces(&pieces, &mut |index, bytes| {
            assert_eq!(index, seen.len());
            seen.push(bytes.map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap())));
        });
        let mut expected: Vec<Option<u64>> = words.iter().copied().map(Some).collect();
        expected[1500] = None;
        assert_eq!(seen, expected);
    }

    #[test]
    fn memory_is_read_where_the_call_is_refused() {
        for error in [libc::ENOSYS, libc::EPERM] {
            let reads = move || match refuse(&[libc::SYS_process_vm_readv], error) {
                Ok(()) => {
                    reads_pieces_around_one_that_is_missing();
                    unmapped_memory_cannot_be_read();
                }
                Err(error) => println!("left out: calls cannot be filtered here: {error}"),
            };
            std::thread::spawn(reads).join().unwrap();
        }
    }

    #[test]
    fn a_process_whose_state_cannot_be_read_may_run() {
        let open = || match refuse(&[libc::SYS_openat], libc::EMFILE) {
            Ok(()) => {
                let error = Process::open(std::process::id()).unwrap_err();
                assert!(matches!(error, Error::File { .. }), "{error}");
            }
            Err(error) => println!("left out: calls cannot be filtered here: {error}"),
        };
        std::thread::spawn(open).join().unwrap();
    }

    #[test]
    fn a_later_process_with_the_same_id_is_another() {
        assert!(own().check().is_ok());
        let later = Process { started: 0, ..own() };
        assert!(matches!(later.check(), Err(Error::Ended { .. })));
    }

    #[test]
    fn a_process_is_read_by_another_thread_when_one_has_ended() {
        let ended =
            std::thread::spawn(|| rustix::thread::gettid().as_raw_nonzero().get().cast_unsigned()).join().unwrap();
        while std::path::Path::new(&format!("/proc/self/task/{ended}")).exists() {
            std::thread::yield_now();
        }
        let by_ended = || Process { thread: ended.into(), ..own() };
        let value = 4711u64;
        let mut bytes = [0; 8];
        by_ended().read(std::ptr::from_ref(&value).addr() as u64, &mut bytes).unwrap();
        assert_eq!(u64::from_le_bytes(bytes), value);
        assert!(!by_ended().mappings().unwrap().is_empty());
        let process = by_ended();
        let maps = own().mappings().unwrap();
        assert!(crate::image::images(&process, &maps).is_ok());
        by_ended().may_read().unwrap();
    }

    #[test]
    fn mappings_are_read_again_when_there_is_a_new_page() {
        let sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = Process::open(sleeper.id()).unwrap();
        let read = || Arc::as_ptr(&process.mappings().unwrap());
        // It may still be starting.
        while read() != read() {}
        let known = process.last_mappings();
        assert_eq!(read(), Arc::as_ptr(&known));
        let own = own();
        let before = own.mappings().unwrap();
        let page = memmap2::MmapMut::map_anon(1 << 20).unwrap();
        let start = page.as_ptr().addr() as u64;
        let maps = own.mappings().unwrap();
        assert!(maps.iter().any(|map| map.range.contains(&start)) && !Arc::ptr_eq(&before, &maps));
        end(sleeper);
    }

    fn end(mut child: std::process::Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn unmapped_memory_cannot_be_read() {
        assert_eq!(own().word(8), Err(Unreadable { address: 8 }));
    }
}
