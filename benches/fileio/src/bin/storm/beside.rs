//! The work beside the tasks, on threads of its own.

use std::fs::{self, File};
use std::hint::black_box;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use nix::fcntl::{PosixFadviseAdvice, posix_fadvise};

use crate::load::{DIRECTORIES, Files};

/// Starts threads that take pages from the cache, rename directories, write to the journal, and compute.
pub fn start(files: &Arc<Files>, busy: usize, is_over: &Arc<AtomicBool>) -> Vec<JoinHandle<io::Result<()>>> {
    let until = |work: fn(&Files, usize) -> io::Result<()>| {
        let (files, is_over) = (Arc::clone(files), Arc::clone(is_over));
        thread::spawn(move || {
            let mut step = 0;
            while !is_over.load(Ordering::Relaxed) {
                work(&files, step)?;
                step += 1;
            }
            Ok(())
        })
    };
    let mut threads = vec![until(evict), until(rename), until(sync)];
    threads.extend((0..busy).map(|_| until(compute)));
    threads
}

fn evict(files: &Files, step: usize) -> io::Result<()> {
    for path in [files.cold(), files.small(2 * step), files.small(2 * step + 2)] {
        posix_fadvise(File::open(path)?, 0, 0, PosixFadviseAdvice::POSIX_FADV_DONTNEED)?;
    }
    thread::sleep(Duration::from_millis(1));
    Ok(())
}

fn rename(files: &Files, step: usize) -> io::Result<()> {
    let (number, is_moved) = (step % DIRECTORIES, step / DIRECTORIES % 2 == 1);
    fs::rename(files.directory(number, is_moved), files.directory(number, !is_moved))?;
    thread::sleep(Duration::from_micros(100));
    Ok(())
}

/// Has the journal commit, which other writers wait for.
fn sync(files: &Files, step: usize) -> io::Result<()> {
    let path = files.scratch();
    fs::write(&path, vec![step as u8; 1 << 20])?;
    File::open(path)?.sync_all()?;
    thread::sleep(Duration::from_millis(5));
    Ok(())
}

fn compute(_: &Files, _: usize) -> io::Result<()> {
    (0..100_000_u64).for_each(|number| _ = black_box(number));
    Ok(())
}
