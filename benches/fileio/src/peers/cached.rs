//! The floor of operations that are answered on the caller's thread: the calls of the kernel that never wait, and nothing else.
//!
//! Of an open, only the look-up of the name can be asked not to wait. So a name is looked up first, and opened to be read only where it leads
//! to a regular file of a local file system, which takes a second call to know.

use std::fs::File;
use std::io::{self, IoSliceMut};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Statx, StatxFlags, openat2, statx};
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::std_sync;
use crate::files::{BLOCK, SMALL};
use crate::task::{Operation, Task};
use crate::threads::on_cores;

/// Runs as many tasks as there are cores, as the floor of calls that may wait does.
pub fn run(tasks: Vec<Task>) -> io::Result<u64> {
    on_cores(tasks, work)
}

fn work(mut task: Task) -> io::Result<u64> {
    match task.operation {
        Operation::Pread => {
            let file = File::open(task.blocks())?;
            let mut buffer = vec![0; BLOCK];
            while task.goes_on() {
                assert_eq!(read(&file, &mut buffer, task.offset())?, BLOCK);
            }
        }
        Operation::Ofc => {
            while task.goes_on() {
                let path = task.small();
                look_up(path)?;
                assert_eq!(open(path, OFlags::RDONLY)?.metadata()?.len(), SMALL as u64);
            }
        }
        Operation::Stat => {
            while task.goes_on() {
                let (file, _) = look_up(task.small())?;
                assert_eq!(file.metadata()?.len(), SMALL as u64);
            }
        }
        Operation::Readfile => {
            while task.goes_on() {
                let path = task.small();
                let (_, stat) = look_up(path)?;
                let mut bytes = vec![0; stat.stx_size as usize + 1];
                assert_eq!(read(&open(path, OFlags::RDONLY)?, &mut bytes, 0)?, SMALL);
            }
        }
        // No call of these can be asked not to wait.
        Operation::Pwrite | Operation::Rename | Operation::Append | Operation::AppendShared => {
            return std_sync::work(task);
        }
    }
    Ok(task.done())
}

/// Opens a name without its file, and asks which file that is.
fn look_up(path: &Path) -> io::Result<(File, Statx)> {
    let file = open(path, OFlags::PATH)?;
    let stat = statx(&file, c"", AtFlags::EMPTY_PATH | AtFlags::STATX_DONT_SYNC, StatxFlags::BASIC_STATS)?;
    Ok((file, stat))
}

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let open = |resolve| openat2(CWD, path, flags | OFlags::CLOEXEC, Mode::empty(), resolve);
    Ok(or_wait(open(ResolveFlags::CACHED), || open(ResolveFlags::empty()))?.into())
}

fn read(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<usize> {
    let mut read = |flags| preadv2(file, &mut [IoSliceMut::new(&mut *bytes)], offset, flags);
    Ok(or_wait(read(ReadWriteFlags::NOWAIT), || read(ReadWriteFlags::empty()))?)
}

/// The system may have dropped something from its caches: then the call that may wait brings it back.
fn or_wait<T>(cached: Result<T, Errno>, wait: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    match cached {
        Err(Errno::AGAIN) => wait(),
        done => done,
    }
}
