//! Operations by name wait for writes that were accepted before. The pool has no threads: nothing is written before a step.

use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::{finish, poll, stepped};
use crate::aio_pool::Pool;
use crate::efile::{Command, Driver, Inline, Request};
use crate::fs::{File, OpenOptions};

/// Each way to find out which file a name leads to: by a job, and in the caches.
fn drivers() -> [(Pool, Driver); 2] {
    [Inline::Off, Inline::Always].map(|inline| {
        let (pool, driver, _) = stepped();
        (pool, driver.inline(inline))
    })
}

fn folder() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    (folder, path)
}

/// Has bytes accepted, and drops the file.
fn accept(pool: &Pool, driver: &Driver, path: &Path, bytes: &[u8]) {
    let mut file = finish(pool, OpenOptions::new().append(true).create(true).open_with(driver, path)).unwrap();
    assert!(poll(pin!(file.write_all(bytes))).is_ready());
}

fn length(pool: &Pool, driver: &Driver, path: &Path) -> io::Result<u64> {
    let request = Request::new(Command::Fstat).s1(path).i1(-1);
    finish(pool, driver.run(request, |request| Ok(std::fs::metadata(request.path()?)?.len())))
}

#[test]
fn a_name_shows_what_was_accepted_before() {
    for (pool, driver) in drivers() {
        let (_folder, path) = folder();
        accept(&pool, &driver, &path, b"accepted");
        assert_eq!(length(&pool, &driver, &path).unwrap(), 8);
        accept(&pool, &driver, &path, b", twice");
        let mut file: File = finish(&pool, OpenOptions::new().read(true).open_with(&driver, &path)).unwrap();
        let mut text = String::new();
        finish(&pool, file.read_to_string(&mut text)).unwrap();
        assert_eq!(text, "accepted, twice");
        // Another name of the file, and a name of none.
        let other = path.with_file_name("other");
        std::fs::hard_link(&path, &other).unwrap();
        accept(&pool, &driver, &path, b"!");
        assert_eq!(
            length(&pool, &driver, &path.with_file_name("missing")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
        accept(&pool, &driver, &path, b"!");
        assert_eq!(length(&pool, &driver, &other).unwrap(), 17);
    }
}

#[test]
fn a_truncation_does_not_overtake_a_write() {
    for (pool, driver) in drivers() {
        let (_folder, path) = folder();
        accept(&pool, &driver, &path, b"of the first");
        let truncates = OpenOptions::new().write(true).truncate(true).clone();
        let mut second = finish(&pool, truncates.open_with(&driver, &path)).unwrap();
        finish(&pool, second.write_all(b"second")).unwrap();
        finish(&pool, second.flush()).unwrap();
        while pool.run_one() {}
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
    }
}
