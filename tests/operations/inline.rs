//! Recorded events of operations that are answered from the caches, and of those that are not.

use std::path::{Path, PathBuf};
use std::pin::pin;
use std::task::{Context, Waker};

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{Command, Driver};
use dyntrace::fs::{File, OpenOptions};
use dyntrace_reader::FileOperation;
use tempfile::TempDir;

use super::{recorded, run};

const PAGE: usize = 4096;
const HITS: usize = 100;

async fn read(file: &File) {
    let (count, buffer) = file.read_at(vec![0; PAGE], 0).await;
    assert_eq!((count.unwrap(), buffer), (PAGE, vec![7; PAGE]));
}

/// Needs a file system that reports cached data; `/tmp` may be a tmpfs, which does not.
fn file() -> Option<(TempDir, PathBuf)> {
    let supports = |path: &PathBuf| {
        let mut byte = [0];
        let bytes = &mut [std::io::IoSliceMut::new(&mut byte)];
        let file = std::fs::File::open(path).unwrap();
        rustix::io::preadv2(&file, bytes, 0, rustix::io::ReadWriteFlags::NOWAIT).is_ok()
    };
    for folder in [std::env::temp_dir(), env!("CARGO_TARGET_TMPDIR").into()] {
        let folder = tempfile::tempdir_in(folder).unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, [7; PAGE]).unwrap();
        std::fs::File::open(&path).unwrap().sync_all().unwrap();
        if supports(&path) {
            return Some((folder, path));
        }
    }
    crate::missing::skip("cache", "no file system here tells what it has in its cache");
    None
}

/// Has the jobs run by which the driver learns of the file system.
fn detect(path: &Path) {
    let pool = Pool::builder().threads(0).build();
    let driver = Driver::new(pool.clone()).inline(true);
    let options = OpenOptions::new().read(true).clone();
    let mut open = pin!(options.open_with(&driver, path));
    while open.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending() {
        while pool.run_one() {}
    }
}

#[test]
fn a_hit_is_all_on_the_callers_thread_and_a_miss_tells_of_the_pool() {
    let Some((folder, path)) = file() else { return };
    detect(&path);
    let reads = async {
        let driver = Driver::new(Pool::builder().threads(1).build()).inline(true);
        dyntrace::put_tag("of the reader").unwrap();
        let file = OpenOptions::new().read(true).open_with(&driver, &path).await.unwrap();
        for _ in 0..HITS {
            read(&file).await;
        }
        // Only regular files are opened on the caller's thread.
        let other = OpenOptions::new().read(true).open_with(&driver, folder.path()).await.unwrap();
        let ports = (file.port().to_string(), other.port().to_string());
        file.close().await.unwrap();
        other.close().await.unwrap();
        ports
    };
    recorded(|| run(reads), |(file, other), operations| look(operations, &file, &other));
}

fn look(operations: &[FileOperation<'_>], file: &str, other: &str) {
    let of = |port: &str, command: Command| {
        let is_meant = |operation: &&FileOperation<'_>| {
            operation.request.port == port.as_bytes() && operation.request.command == command.number()
        };
        operations.iter().filter(is_meant).collect::<Vec<_>>()
    };
    let hits = of(file, Command::Preadv);
    assert_eq!(hits.len(), HITS);
    for hit in hits {
        assert_eq!(hit.request.user_tag, b"of the reader");
        assert_eq!(hit.worker, Some(hit.submitter));
        assert!(hit.int_entry <= hit.int_return && hit.int_return <= hit.completion.map(|answer| answer.time));
        assert!(hit.added.is_none() && hit.taken.is_none(), "{:?}", (hit.added, hit.taken));
    }
    let missed = of(other, Command::Open)[0];
    assert!(missed.added.is_some() && missed.taken.is_some(), "{:?}", (missed.added, missed.taken));
    assert_ne!(missed.worker, Some(missed.submitter));
}
