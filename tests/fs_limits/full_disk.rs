//! A full disk: no accepted bytes are lost without an error (tokio-rs/tokio#6325).

use std::path::{Path, PathBuf};
use std::process::Command;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::{self, Driver};
use dyntrace::fs::{self, File, OpenOptions};
use dyntrace::recorder::{Options, Session};
use dyntrace_reader::{Trace, Value};
use rustix::io::Errno;
use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};

use crate::{errno, inside, run};

const FULL: Option<i32> = Some(Errno::NOSPC.raw_os_error());
/// The free space, in bytes.
const ROOM: usize = 64 << 10;

/// A disk of 1 MiB with room for [`ROOM`] bytes and some files.
struct Disk(PathBuf);

impl Disk {
    /// Runs the test of this name again with such a disk, and returns the disk there.
    fn of(test: &str) -> Option<Disk> {
        const PLACE: &str = "DYNTRACE_TEST_PLACE";
        if let Some(place) = std::env::var_os(PLACE) {
            let disk = Disk(place.into());
            std::fs::write(disk.filler(), vec![1; 2 << 20]).unwrap_err();
            let filler = std::fs::File::options().write(true).open(disk.filler()).unwrap();
            filler.set_len(filler.metadata().unwrap().len() - ROOM as u64).unwrap();
            return Some(disk);
        }
        let place = tempfile::tempdir().unwrap();
        let on_disk = |program: &Path| {
            let shell =
                format!("mount -t tmpfs -o size=1m,nr_inodes=16 none '{}' && exec \"$@\"", place.path().display());
            let mut command = Command::new("unshare");
            command.args(["--mount", "--map-root-user", "sh", "-c", &shell, "sh"]).arg(program);
            command.env(PLACE, place.path());
            command
        };
        let trial = on_disk(Path::new("true")).output();
        if trial.as_ref().is_ok_and(|trial| trial.status.success()) {
            inside(test, on_disk);
        } else {
            crate::missing::skip("mounts", &format!("{test}: no file system can be mounted here: {trial:?}"));
        }
        None
    }

    fn filler(&self) -> PathBuf {
        self.0.join("filler")
    }

    fn make_room(&self) {
        std::fs::remove_file(self.filler()).unwrap();
    }

    fn path(&self) -> PathBuf {
        self.0.join("file")
    }

    fn contents(&self) -> Vec<u8> {
        std::fs::read(self.path()).unwrap()
    }
}

/// Returns more bytes than there is room for; no two pages are equal.
fn data() -> Vec<u8> {
    (0..300_000u32).map(|n| (n % 251) as u8).collect()
}

/// Returns a file that accepted [`data`].
async fn accepted(disk: &Disk) -> File {
    let mut file = File::options().read(true).write(true).create(true).open(disk.path()).await.unwrap();
    file.write_all(&data()).await.unwrap();
    file
}

#[test]
fn unwritten_bytes_are_written_once_the_disk_has_room() {
    let Some(disk) = Disk::of("full_disk::unwritten_bytes_are_written_once_the_disk_has_room") else { return };
    run(async {
        let mut file = accepted(&disk).await;
        for _ in 0..2 {
            assert_eq!(errno(file.flush().await), FULL);
            assert_eq!(errno(file.shutdown().await), FULL);
            assert_eq!(errno(file.sync_all().await), FULL);
            assert_eq!(errno(file.sync_data().await), FULL);
            assert_eq!(errno(file.write(b"more").await), FULL);
            assert_eq!(errno(file.read(&mut [0]).await), FULL);
        }
        assert_eq!(disk.contents(), data()[..ROOM]);
        // Setting a length and reading metadata meanwhile lose nothing.
        file.set_len(ROOM as u64).await.unwrap();
        file.metadata().await.unwrap();
        let clone = file.try_clone().await.unwrap();
        clone.close().await.unwrap();
        let file = file.try_into_std().unwrap_err();

        disk.make_room();
        let mut file = file;
        file.write_all(b"more").await.unwrap();
        file.flush().await.unwrap();
        assert!(disk.contents() == [&data()[..], b"more"].concat());
        file.close().await.unwrap();
    });
}

#[test]
fn close_tells_that_data_are_lost() {
    let Some(disk) = Disk::of("full_disk::close_tells_that_data_are_lost") else { return };
    run(async {
        assert_eq!(errno(accepted(&disk).await.close().await), FULL);
        assert_eq!(disk.contents(), data()[..ROOM]);

        // No loss if there is room at the close, although an earlier operation returned the error.
        std::fs::remove_file(disk.path()).unwrap();
        let mut file = accepted(&disk).await;
        assert_eq!(errno(file.flush().await), FULL);
        disk.make_room();
        file.close().await.unwrap();
        assert!(disk.contents() == data());
    });
}

#[test]
fn a_seek_begins_anew() {
    let Some(disk) = Disk::of("full_disk::a_seek_begins_anew") else { return };
    run(async {
        let mut file = accepted(&disk).await;
        assert_eq!(errno(file.flush().await), FULL);
        // The file's position is after the bytes that the disk accepted.
        assert_eq!(file.stream_position().await.unwrap(), ROOM as u64);
        file.set_len(0).await.unwrap();
        file.rewind().await.unwrap();
        file.write_all(b"something shorter").await.unwrap();
        file.close().await.unwrap();
        assert_eq!(disk.contents(), b"something shorter");
    });
}

#[test]
fn a_direct_write_fails_at_once() {
    let Some(disk) = Disk::of("full_disk::a_direct_write_fails_at_once") else { return };
    run(async {
        let file = File::create(disk.path()).await.unwrap();
        let (count, buffer) = file.write_at(data(), 0).await;
        assert_eq!(count.unwrap(), ROOM);
        assert_eq!(errno(file.write_at(buffer[ROOM..].to_vec(), ROOM as u64).await.0), FULL);
        assert_eq!(errno(file.write_vectored_at(vec![vec![0; 9]; 2], ROOM as u64).await.0), FULL);
        file.close().await.unwrap();
        let other = disk.0.join("other");
        assert_eq!(errno(fs::write(&other, data()).await), FULL);
        assert_eq!(errno(fs::copy(disk.path(), &other).await), FULL);
        assert_eq!(disk.contents(), data()[..ROOM]);
    });
}

#[test]
fn a_new_name_on_a_full_disk_fails_at_once() {
    let Some(disk) = Disk::of("full_disk::a_new_name_on_a_full_disk_fails_at_once") else { return };
    run(async {
        let numbered = |number: usize| disk.0.join(number.to_string());
        let mut names = 0;
        while errno(fs::create_dir(numbered(names)).await).is_none() {
            names += 1;
        }
        let more = numbered(names);
        assert_eq!(errno(fs::create_dir(&more).await), FULL);
        assert_eq!(errno(fs::create_dir_all(more.join("deeper")).await), FULL);
        assert_eq!(errno(File::create(&more).await), FULL);
        assert_eq!(errno(fs::write(&more, "").await), FULL);
        assert_eq!(errno(fs::copy(disk.filler(), &more).await), FULL);
        assert_eq!(errno(fs::symlink("target", &more).await), FULL);
        assert_eq!(errno(fs::hard_link(disk.filler(), &more).await), FULL);
        // Operations that need no space succeed.
        fs::rename(numbered(0), &more).await.unwrap();
        fs::remove_dir(&more).await.unwrap();
        fs::create_dir(&more).await.unwrap();
    });
}

/// A drop does not report the error; a look at the file shows the missing bytes.
#[test]
fn the_error_of_a_dropped_file_is_seen_by_its_return() {
    let Some(disk) = Disk::of("full_disk::the_error_of_a_dropped_file_is_seen_by_its_return") else { return };
    let trace = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(trace.path())).unwrap();
    run(async {
        // With one thread, the write has returned when the file is closed.
        let driver = Driver::new(Pool::builder().threads(1).build());
        let mut file = OpenOptions::new().write(true).create(true).open_with(&driver, disk.path()).await.unwrap();
        file.write_all(&data()).await.unwrap();
        drop(file);
        let is_open = |path: &Path| {
            let mut open = std::fs::read_dir("/proc/self/fd").unwrap();
            open.any(|name| std::fs::read_link(name.unwrap().path()).is_ok_and(|of| of == path))
        };
        while is_open(&disk.path()) {
            tokio::task::yield_now().await;
        }
    });
    session.stop().unwrap();
    let trace = Trace::open(trace.path()).unwrap();
    let returns: Vec<_> = trace
        .events()
        .filter(|event| event.class.probe() == "efile_drv-return")
        .filter(|event| event.field("command") == Some(Value::Signed(efile::Command::Write.number().into())))
        .map(|event| (event.field("success"), event.field("errno")))
        .collect();
    let failed = (Some(Value::Signed(0)), Some(Value::Signed(Errno::NOSPC.raw_os_error().into())));
    assert_eq!(returns, [failed]);
}
