//! The path functions compared with std's: the same results, the same errnos.

use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use dyntrace::fs;
use rustix::io::Errno;
use tempfile::TempDir;

/// Creates a directory with a file `file`, a directory `directory` with `inner`, and a symbolic link `symlink` to the file.
struct Place(TempDir);

impl Place {
    fn new() -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        std::fs::write(place.path("file"), "contents").unwrap();
        std::fs::create_dir(place.path("directory")).unwrap();
        std::fs::write(place.path("directory/inner"), "").unwrap();
        std::os::unix::fs::symlink(place.path("file"), place.path("symlink")).unwrap();
        place
    }

    fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.0.path().join(name)
    }
}

/// A file that no test changes.
const REGULAR: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

fn errno<T>(answer: io::Result<T>) -> i32 {
    match answer {
        Ok(_) => 0,
        // Paths that std itself rejects.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Errno::INVAL.raw_os_error(),
        Err(error) => error.raw_os_error().unwrap_or_else(|| panic!("an error without errno: {error:?}")),
    }
}

/// Checks that both fail with the expected errno.
macro_rules! fail_with {
    ($errno:expr; $($ours:expr, $std:expr;)+) => { $(
        let (ours, theirs) = (errno($ours.await), errno($std));
        assert_eq!((ours, theirs), ($errno.raw_os_error(), $errno.raw_os_error()), "{}", stringify!($ours));
    )+ };
}

/// Checks that every path function fails.
async fn all_fail_with(expected: Errno, path: &Path) {
    let permissions = std::fs::metadata("/").unwrap().permissions();
    fail_with! { expected;
        fs::canonicalize(path), std::fs::canonicalize(path);
        fs::chown(path, None, None), std::os::unix::fs::chown(path, None, None);
        fs::copy(path, "/dev/null"), std::fs::copy(path, "/dev/null");
        fs::copy(REGULAR, path), std::fs::copy(REGULAR, path);
        fs::create_dir(path), std::fs::create_dir(path);
        fs::hard_link(path, "/"), std::fs::hard_link(path, "/");
        fs::hard_link("/dev/null", path), std::fs::hard_link("/dev/null", path);
        fs::metadata(path), std::fs::metadata(path);
        fs::File::open(path), std::fs::File::open(path);
        fs::File::create(path), std::fs::File::create(path);
        fs::read(path), std::fs::read(path);
        fs::read_dir(path), std::fs::read_dir(path);
        fs::read_link(path), std::fs::read_link(path);
        fs::read_to_string(path), std::fs::read_to_string(path);
        fs::remove_dir(path), std::fs::remove_dir(path);
        fs::remove_dir_all(path), std::fs::remove_dir_all(path);
        fs::remove_file(path), std::fs::remove_file(path);
        fs::rename(path, path.with_file_name("new")), std::fs::rename(path, path.with_file_name("new"));
        fs::set_current_dir(path), std::env::set_current_dir(path);
        fs::set_permissions(path, permissions.clone()), std::fs::set_permissions(path, permissions.clone());
        fs::symlink("target", path), std::os::unix::fs::symlink("target", path);
        fs::symlink_metadata(path), std::fs::symlink_metadata(path);
        fs::write(path, ""), std::fs::write(path, "");
    }
}

#[tokio::test]
async fn a_path_that_leads_nowhere_fails_as_in_std() {
    let place = Place::new();
    let missing = place.path("missing/name");
    all_fail_with(Errno::NOENT, &missing).await;
    assert!(!fs::try_exists(&missing).await.unwrap());

    let below_a_file = place.path("file/name");
    all_fail_with(Errno::NOTDIR, &below_a_file).await;
    fail_with! { Errno::NOTDIR;
        fs::try_exists(&below_a_file), below_a_file.try_exists();
        fs::create_dir_all(&below_a_file), std::fs::create_dir_all(&below_a_file);
    }
}

#[tokio::test]
async fn a_name_that_is_too_long_fails_as_in_std() {
    for length in [256, 4096, 64 << 10] {
        let long = "n".repeat(length);
        all_fail_with(Errno::NAMETOOLONG, Path::new(&long)).await;
        fail_with! { Errno::NAMETOOLONG;
            fs::try_exists(&long), Path::new(&long).try_exists();
            fs::create_dir_all(&long), std::fs::create_dir_all(&long);
        }
    }
}

#[tokio::test]
async fn the_longest_path_that_the_system_takes_is_taken() {
    let path = format!("{}/", "/.".repeat(2047));
    assert_eq!(path.len(), 4095);
    assert!(fs::metadata(&path).await.unwrap().is_dir());
}

#[tokio::test]
async fn a_name_with_a_nul_is_einval() {
    let place = Place::new();
    let nul = place.path("file\0name");
    let permissions = std::fs::metadata("/").unwrap().permissions();
    for answer in [
        fs::alt_name(&nul).await.map(drop),
        fs::canonicalize(&nul).await.map(drop),
        fs::chown(&nul, None, None).await,
        fs::copy(&nul, "/dev/null").await.map(drop),
        fs::copy("/dev/null", &nul).await.map(drop),
        fs::create_dir(&nul).await,
        fs::create_dir_all(&nul).await,
        fs::File::open(&nul).await.map(drop),
        fs::hard_link(&nul, place.path("new")).await,
        fs::hard_link(place.path("file"), &nul).await,
        fs::metadata(&nul).await.map(drop),
        fs::read(&nul).await.map(drop),
        fs::read_dir(&nul).await.map(drop),
        fs::read_link(&nul).await.map(drop),
        fs::remove_dir(&nul).await,
        fs::remove_dir_all(&nul).await,
        fs::remove_file(&nul).await,
        fs::rename(&nul, place.path("new")).await,
        fs::rename(place.path("file"), &nul).await,
        fs::set_current_dir(&nul).await,
        fs::set_permissions(&nul, permissions).await,
        fs::symlink(&nul, place.path("new")).await,
        fs::symlink(place.path("file"), &nul).await,
        fs::symlink_metadata(&nul).await.map(drop),
        fs::write(&nul, "").await,
    ] {
        assert_eq!(errno(answer), Errno::INVAL.raw_os_error());
    }
    assert_eq!(std::fs::read(place.path("file")).unwrap(), b"contents");
}

#[tokio::test]
async fn a_name_may_hold_any_byte_but_slash_and_nul() {
    let place = Place::new();
    for name in [&b"new\nline"[..], b"\x1b[31mred", b"not \xff\xfe utf-8", b" ", &[b'n'; 255]] {
        let path = place.path(OsStr::from_bytes(name));
        fs::write(&path, name).await.unwrap();
        assert_eq!(fs::read(&path).await.unwrap(), name);
        let mut listing = fs::read_dir(place.0.path()).await.unwrap();
        let mut found = false;
        while let Some(entry) = listing.next_entry().await.unwrap() {
            found |= entry.path() == path && entry.file_name().as_bytes() == name;
        }
        assert!(found, "{path:?}");
        fs::remove_file(&path).await.unwrap();
    }
}

#[tokio::test]
async fn a_directory_for_a_file_and_a_file_for_a_directory_fail_as_in_std() {
    let place = Place::new();
    let (file, directory) = (&place.path("file"), &place.path("directory"));
    fail_with! { Errno::ISDIR;
        fs::File::create(directory), std::fs::File::create(directory);
        fs::read(directory), std::fs::read(directory);
        fs::read_to_string(directory), std::fs::read_to_string(directory);
        fs::write(directory, ""), std::fs::write(directory, "");
        fs::rename(file, directory), std::fs::rename(file, directory);
    }
    fail_with! { Errno::NOTDIR;
        fs::read_dir(file), std::fs::read_dir(file);
        fs::remove_dir(file), std::fs::remove_dir(file);
        fs::set_current_dir(file), std::env::set_current_dir(file);
        fs::rename(directory, file), std::fs::rename(directory, file);
    }
    fail_with! { Errno::EXIST;
        fs::create_dir(directory), std::fs::create_dir(directory);
        fs::create_dir_all(file), std::fs::create_dir_all(file);
        fs::File::create_new(file), std::fs::File::create_new(file);
        fs::hard_link(file, directory), std::fs::hard_link(file, directory);
        fs::symlink(file, directory), std::os::unix::fs::symlink(file, directory);
    }
    fail_with! { Errno::NOTEMPTY;
        fs::remove_dir(directory), std::fs::remove_dir(directory);
    }
    fail_with! { Errno::INVAL;
        fs::read_link(file), std::fs::read_link(file);
    }
    // The errno depends on the system.
    assert_eq!(errno(fs::remove_file(directory).await), errno(std::fs::remove_file(directory)));
    assert_eq!(errno(fs::alt_name(file).await), Errno::NOTSUP.raw_os_error());
}

#[tokio::test]
async fn queries_of_paths() {
    let place = Place::new();
    let (file, symlink) = (place.path("file"), place.path("symlink"));
    assert_eq!(fs::read(&file).await.unwrap(), b"contents");
    assert_eq!(fs::read_to_string(&symlink).await.unwrap(), "contents");
    assert_eq!(fs::metadata(&symlink).await.unwrap().len(), 8);
    assert!(fs::symlink_metadata(&symlink).await.unwrap().is_symlink());
    assert_eq!(fs::read_link(&symlink).await.unwrap(), file);
    assert_eq!(fs::canonicalize(&symlink).await.unwrap(), file.canonicalize().unwrap());
    assert_eq!(fs::current_dir().await.unwrap(), std::env::current_dir().unwrap());
    fs::set_current_dir(".").await.unwrap();
    assert!(fs::try_exists(&file).await.unwrap());

    let mut entries = Vec::new();
    let mut listing = fs::read_dir(place.0.path()).await.unwrap();
    while let Some(entry) = listing.next_entry().await.unwrap() {
        let metadata = entry.metadata().await.unwrap();
        assert_eq!(entry.file_type().await.unwrap(), metadata.file_type());
        entries.push(entry.file_name());
    }
    entries.sort();
    assert_eq!(entries, ["directory", "file", "symlink"]);

    std::fs::write(&file, [0xff]).unwrap();
    assert_eq!(fs::read_to_string(&file).await.unwrap_err().kind(), io::ErrorKind::InvalidData);
}

#[tokio::test]
async fn changes_of_paths() {
    let place = Place::new();
    let [file, copy, link, symlink, renamed] =
        ["file", "copy", "link", "new symlink", "renamed"].map(|name| place.path(name));
    fs::write(&file, "new contents").await.unwrap();
    assert_eq!(std::fs::read(&file).unwrap(), b"new contents");
    assert_eq!(fs::copy(&file, &copy).await.unwrap(), 12);
    assert_eq!(std::fs::read(&copy).unwrap(), b"new contents");
    fs::hard_link(&file, &link).await.unwrap();
    assert_eq!(std::fs::metadata(&file).unwrap().nlink(), 2);
    fs::symlink("anything", &symlink).await.unwrap();
    assert_eq!(std::fs::read_link(&symlink).unwrap(), Path::new("anything"));
    fs::rename(&copy, &renamed).await.unwrap();
    assert!(renamed.exists() && !copy.exists());
    fs::remove_file(&renamed).await.unwrap();
    assert!(!renamed.exists());

    fs::set_permissions(&file, PermissionsExt::from_mode(0o640)).await.unwrap();
    let metadata = std::fs::metadata(&file).unwrap();
    assert_eq!(metadata.mode() & 0o7777, 0o640);
    fs::chown(&file, Some(metadata.uid()), None).await.unwrap();
    fs::chown(&file, None, Some(metadata.gid())).await.unwrap();

    let deep = place.path("a/b/c");
    fs::create_dir(place.path("a")).await.unwrap();
    fs::create_dir_all(&deep).await.unwrap();
    fs::remove_dir(&deep).await.unwrap();
    assert!(deep.parent().unwrap().exists() && !deep.exists());
    fs::remove_dir_all(place.path("a")).await.unwrap();
    assert!(!place.path("a").exists());
}

#[tokio::test]
async fn open_options_are_those_of_std() {
    let place = Place::new();
    let path = place.path("opened");
    for bits in 0..64 {
        let option = |index: u32| bits & (1 << index) != 0;
        let mut ours = fs::OpenOptions::new();
        ours.read(option(0))
            .write(option(1))
            .append(option(2))
            .truncate(option(3))
            .create(option(4))
            .create_new(option(5));
        let mut std = std::fs::OpenOptions::new();
        std.read(option(0))
            .write(option(1))
            .append(option(2))
            .truncate(option(3))
            .create(option(4))
            .create_new(option(5));
        for exists in [true, false] {
            let prepare = || {
                if exists {
                    std::fs::write(&path, "contents").unwrap();
                } else {
                    let _ = std::fs::remove_file(&path);
                }
            };
            prepare();
            let theirs = (errno(std.open(&path)), std::fs::read(&path).ok());
            prepare();
            let answer = (errno(ours.open(&path).await), std::fs::read(&path).ok());
            assert_eq!(answer, theirs, "{ours:?} where the file {}", if exists { "exists" } else { "is missing" });
        }
    }
}

#[tokio::test]
async fn a_new_file_has_the_mode_that_was_asked_for() {
    let place = Place::new();
    let path = place.path("private");
    let file = fs::OpenOptions::new().write(true).create(true).mode(0o600).open(&path).await.unwrap();
    file.close().await.unwrap();
    assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o777, 0o600);

    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits() as i32;
    let followed = fs::OpenOptions::new().read(true).custom_flags(no_follow).open(place.path("symlink")).await;
    assert_eq!(errno(followed), Errno::LOOP.raw_os_error());
}
