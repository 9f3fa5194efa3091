//! Limits of a process: descriptors, permissions, and a closed descriptor.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use dyntrace::fs::{self, File};
use rustix::io::Errno;

use crate::{INSIDE, errno, inside, run};

#[test]
fn without_descriptors_what_opens_is_emfile_and_the_rest_goes_on() {
    let limited = |program: &Path| {
        let mut shell = Command::new("sh");
        // Without the inline path: its first look at a file system holds a descriptor for a moment.
        shell.args(["-c", "ulimit -n 40; exec \"$@\"", "sh"]).arg(program).env("DYNTRACE_INLINE", "off");
        shell
    };
    if !inside("allowed::without_descriptors_what_opens_is_emfile_and_the_rest_goes_on", limited) {
        return;
    }
    run(async {
        let path = std::env::current_exe().unwrap();
        let mut files = Vec::new();
        let error = loop {
            match File::open(&path).await {
                Ok(file) => files.push(file),
                Err(error) => break error,
            }
        };
        let full = Some(Errno::MFILE.raw_os_error());
        assert_eq!(error.raw_os_error(), full);
        assert_eq!(errno(fs::read(&path).await), full);
        assert_eq!(errno(fs::read_dir("/").await), full);
        assert_eq!(errno(fs::copy(&path, "/dev/null").await), full);
        assert_eq!(errno(fs::write("/dev/null", "").await), full);
        fs::metadata(&path).await.unwrap();
        let file = files.pop().unwrap();
        assert_eq!(file.read_at(vec![0; 4], 0).await.0.unwrap(), 4);
        file.close().await.unwrap();
        File::open(&path).await.unwrap().close().await.unwrap();
    });
}

#[test]
fn without_permission_operations_are_eacces() {
    const NOBODY: u32 = 65534;
    let name = "allowed::without_permission_operations_are_eacces";
    let root =
        std::fs::metadata("/proc/self").map(|process| std::os::unix::fs::MetadataExt::uid(&process)).ok() == Some(0);
    // Root may do anything, so the test continues as the user nobody, in a folder from which that user may run programs.
    let place = tempfile::tempdir().unwrap();
    let program = place.path().join("test");
    if std::env::var_os(INSIDE).is_none() && root {
        std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        // In a process of its own: a program started by another test meanwhile would inherit the open copy, which then could not be executed.
        let copied = Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status();
        assert!(copied.unwrap().success());
        let as_nobody = Command::new(&program).arg("--list").uid(NOBODY).gid(NOBODY).output();
        if !as_nobody.is_ok_and(|output| output.status.success()) {
            return crate::missing::skip("nobody", &format!("cannot run programs in {}", place.path().display()));
        }
    }
    let as_nobody = |own: &Path| {
        let mut command = Command::new(if root { &program } else { own });
        if root {
            command.uid(NOBODY).gid(NOBODY);
        }
        command
    };
    if !inside(name, as_nobody) {
        return;
    }
    run(async {
        let place = tempfile::tempdir().unwrap();
        let (locked, below) = (place.path().join("locked"), place.path().join("locked/name"));
        std::fs::create_dir(&locked).unwrap();
        std::fs::write(&below, "contents").unwrap();
        std::fs::set_permissions(&below, PermissionsExt::from_mode(0o000)).unwrap();
        let denied = Some(Errno::ACCESS.raw_os_error());

        assert_eq!(errno(fs::read(&below).await), denied);
        assert_eq!(errno(File::open(&below).await), denied);
        assert_eq!(errno(fs::write(&below, "").await), denied);
        assert_eq!(errno(fs::copy(&below, place.path().join("copy")).await), denied);
        assert_eq!(errno(fs::chown(&below, Some(0), None).await), Some(Errno::PERM.raw_os_error()));

        std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o000)).unwrap();
        assert_eq!(errno(fs::canonicalize(&below).await), denied);
        assert_eq!(errno(fs::create_dir(&below).await), denied);
        assert_eq!(errno(fs::create_dir_all(below.join("deeper")).await), denied);
        assert_eq!(errno(fs::hard_link(&below, place.path().join("link")).await), denied);
        assert_eq!(errno(fs::metadata(&below).await), denied);
        assert_eq!(errno(fs::read_dir(&locked).await), denied);
        assert_eq!(errno(fs::read_link(&below).await), denied);
        assert_eq!(errno(fs::remove_dir(&below).await), denied);
        assert_eq!(errno(fs::remove_file(&below).await), denied);
        assert_eq!(errno(fs::rename(&below, place.path().join("new")).await), denied);
        assert_eq!(errno(fs::set_current_dir(&locked).await), denied);
        assert_eq!(errno(fs::set_permissions(&below, PermissionsExt::from_mode(0o600)).await), denied);
        assert_eq!(errno(fs::symlink("target", &below).await), denied);
        assert_eq!(errno(fs::symlink_metadata(&below).await), denied);
        assert_eq!(errno(fs::try_exists(&below).await), denied);
        assert_eq!(errno(fs::remove_dir_all(&locked).await), denied);
        std::fs::set_permissions(&locked, PermissionsExt::from_mode(0o700)).unwrap();
    });
}

/// A path descriptor, on which operations fail as on a closed one.
#[cfg(target_os = "linux")]
#[test]
fn on_a_descriptor_that_is_not_open_operations_are_ebadf() {
    use tokio::io::{AsyncReadExt, AsyncSeekExt, AsyncWriteExt};
    run(async {
        let closed = Some(Errno::BADF.raw_os_error());
        let place = tempfile::NamedTempFile::new().unwrap();
        let open = File::options().read(true).write(true).custom_flags(libc::O_PATH).clone();
        let mut file = open.open(place.path()).await.unwrap();
        assert_eq!(errno(file.read(&mut [0]).await), closed);
        assert_eq!(errno(file.read_line(&mut Vec::new()).await), closed);
        assert_eq!(errno(file.ipread(0, 16).await), closed);
        assert_eq!(errno(file.rewind().await), closed);
        assert_eq!(errno(file.read_at(vec![0], 0).await.0), closed);
        assert_eq!(errno(file.read_vectored_at(vec![vec![0]], 0).await.0), closed);
        assert_eq!(errno(file.write_at(vec![0], 0).await.0), closed);
        assert_eq!(errno(file.write_vectored_at(vec![vec![0]], 0).await.0), closed);
        assert_eq!(errno(file.set_len(0).await), closed);
        assert_eq!(errno(file.sync_all().await), closed);
        assert_eq!(errno(file.sync_data().await), closed);
        assert_eq!(errno(file.set_permissions(PermissionsExt::from_mode(0o600)).await), closed);
        assert_eq!(errno(file.advise(0, 0, fs::Advice::Normal).await), closed);
        file.write_all(b"accepted").await.unwrap();
        assert_eq!(errno(file.flush().await), closed);
        assert_eq!(errno(file.close().await), closed);
    });
}

#[test]
fn the_error_of_close_is_told() {
    // No other code of that process can reuse the number of the closed descriptor.
    if !inside("allowed::the_error_of_close_is_told", |program| Command::new(program)) {
        return;
    }
    run(async {
        let file = File::open("/dev/null").await.unwrap();
        // SAFETY: the descriptor is open, and `file` only closes it afterwards, which must fail.
        drop(unsafe { OwnedFd::from_raw_fd(file.as_raw_fd()) });
        assert_eq!(errno(file.close().await), Some(Errno::BADF.raw_os_error()));
    });
}
