//! Reads the present pages of a mapping, in chunks: absent ones hold nothing, and reading them may fault them in.

use std::fs::File;
use std::io;
use std::ops::Range;

use super::live::Process;
use super::pagemap::Pagemap;
use crate::error::Error;

/// Bytes read at once: few enough to stay in a processor's cache until they are looked at.
pub const CHUNK: usize = 256 << 10;

/// Reads the present memory of a process.
#[derive(Debug)]
pub struct Resident<'a> {
    process: &'a Process,
    pagemap: Pagemap,
    buffer: Vec<u8>,
}

impl<'a> Resident<'a> {
    /// Opens the process's page map.
    ///
    /// # Errors
    ///
    /// If the kernel refuses, or the process has ended.
    pub fn open(process: &'a Process) -> Result<Resident<'a>, Error> {
        let file = File::open(process.proc("pagemap")).map_err(|source| refused(process, source))?;
        Ok(Resident { process, pagemap: Pagemap::new(file), buffer: Vec::new() })
    }

    /// Passes each present piece of `range` to `take`, by address and at most [`CHUNK`] bytes long. Pieces begin and
    /// end at pages. Pages that disappear meanwhile are left out.
    ///
    /// Returns the number of bytes read.
    ///
    /// # Errors
    ///
    /// If the process has ended.
    pub fn read(&mut self, range: &Range<u64>, mut take: impl FnMut(u64, &[u8])) -> Result<u64, Error> {
        let mut total = 0;
        let mut runs = Vec::new();
        let mut at = range.start;
        while at < range.end {
            runs.clear();
            match self.pagemap.present(&(at..range.end), &mut runs) {
                Ok(end) => at = end,
                // The mapping may be gone, or the process.
                Err(_) => {
                    self.process.check()?;
                    break;
                }
            }
            for run in &runs {
                total += self.read_run(run, &mut take)?;
            }
        }
        Ok(total)
    }

    fn read_run(&mut self, run: &Range<u64>, take: &mut impl FnMut(u64, &[u8])) -> Result<u64, Error> {
        let page = self.pagemap.page();
        let mut total = 0;
        let mut at = run.start;
        while at < run.end {
            let length = usize::try_from(run.end - at).map_or(CHUNK, |left| left.min(CHUNK));
            self.buffer.resize(length, 0);
            match self.process.read_some(at, &mut self.buffer) {
                Ok(read) if read as u64 >= page => {
                    let whole = read - read % page as usize;
                    take(at, &self.buffer[..whole]);
                    total += whole as u64;
                    at += whole as u64;
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {
                    return Err(Error::Ended { pid: self.process.pid() });
                }
                Err(error) if error.raw_os_error() == Some(libc::EPERM) => return Err(refused(self.process, error)),
                // This page has disappeared.
                _ => at += page,
            }
        }
        Ok(total)
    }
}

fn refused(process: &Process, error: io::Error) -> Error {
    match process.check() {
        Ok(()) => Error::NotPermitted { pid: process.pid(), what: "the memory", error },
        Err(ended) => ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_is_present_of_a_huge_mapping() {
        use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

        const SIZE: usize = 100 << 30;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: the kernel chooses the address, so nothing else uses the memory.
        let map = unsafe { mmap_anonymous(std::ptr::null_mut(), SIZE, ProtFlags::READ | ProtFlags::WRITE, flags) };
        let map = map.unwrap().cast::<u8>();
        let start = map.addr() as u64;
        let places = [0, 5000, 1 << 30, SIZE - 1];
        for place in places {
            // SAFETY: `place` lies in the mapping.
            unsafe { map.add(place).write(7) };
        }
        let process = Process::open(std::process::id()).unwrap();
        let mut found = Vec::new();
        let read = Resident::open(&process)
            .unwrap()
            .read(&(start..start + SIZE as u64), |at, bytes| {
                let places = bytes.iter().enumerate().filter(|(_, byte)| **byte == 7);
                found.extend(places.map(|(index, _)| (at - start) as usize + index));
            })
            .unwrap();
        // SAFETY: the mapping is not used any more.
        unsafe { munmap(map.cast(), SIZE).unwrap() };
        assert_eq!(found, places);
        // The kernel may have given huge pages.
        assert!(read <= 8 << 20, "{read} bytes");
    }
}
