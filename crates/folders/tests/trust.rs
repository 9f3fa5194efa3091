//! Tests which folders are refused, and which are not.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use dyntrace_folders::{Distrust, Folder, NewFile, Reading, Scratch, remove_empty};

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
}

#[test]
fn missing_folders_are_made_for_their_owner_only() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a/b/c");
    let folder = Folder::make(&path).unwrap();
    assert_eq!(folder.path(), path.canonicalize().unwrap());
    for made in ["a", "a/b", "a/b/c"] {
        assert_eq!(fs::metadata(place.path().join(made)).unwrap().permissions().mode() & 0o777, 0o700, "{made}");
    }
    folder.create_file("file", NewFile::Plain).unwrap().write_all(b"text").unwrap();
    assert_eq!(fs::metadata(path.join("file")).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(Folder::create(&path).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(Folder::open(&path.join("d")).unwrap_err().kind(), ErrorKind::NotFound);
}

#[test]
fn a_folder_that_others_can_write_in_is_refused_unless_it_is_sticky() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("open");
    drop(Folder::make(&path).unwrap());
    mode(&path, 0o770);
    let error = Folder::make(&path).unwrap_err();
    assert!(matches!(Distrust::of(&error), Some(Distrust::Open { mode: 0o770, .. })), "{error}");
    assert!(error.to_string().contains("chmod go-w"), "{error}");
    mode(&path, 0o1777);
    let shared = Folder::make(&path).unwrap();
    // It may hold new folders, but no files: other users can create files there.
    shared.create_folder("own").unwrap().create_file("file", NewFile::Plain).unwrap();
    let error = shared.create_file("file", NewFile::Plain).unwrap_err();
    assert!(Distrust::of(&error).is_some(), "{error}");
    assert!(Distrust::of(&shared.open_to_write("file").unwrap_err()).is_some());
    mode(&path, 0o755);
    Folder::make(&path).unwrap();
    assert!(Distrust::of(&Folder::make_private(&path).unwrap_err()).unwrap().to_string().contains("chmod 700"));
}

#[test]
fn own_links_are_followed_on_the_way_and_never_below() {
    let place = tempfile::tempdir().unwrap();
    let (target, link) = (place.path().join("target"), place.path().join("link"));
    fs::create_dir(&target).unwrap();
    symlink("target", &link).unwrap();
    let folder = Folder::make(&link.join("x/../y")).unwrap();
    assert_eq!(folder.path(), target.canonicalize().unwrap().join("y"));
    symlink("/etc/passwd", target.join("y/file")).unwrap();
    symlink("/etc", target.join("y/folder")).unwrap();
    assert_eq!(folder.create_file("file", NewFile::Plain).unwrap_err().kind(), ErrorKind::AlreadyExists);
    assert_eq!(folder.open_to_write("file").unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(matches!(Distrust::of(&folder.folder("folder").unwrap_err()), Some(Distrust::NotAFolder(_))));
    assert!(matches!(Distrust::of(&Folder::make_private(&link).unwrap_err()), Some(Distrust::NotAFolder(_))));
    // In a folder that other users can write in, any link may be theirs.
    mode(place.path(), 0o777);
    let error = Folder::make(&link).unwrap_err();
    assert!(matches!(Distrust::of(&error), Some(Distrust::Link { .. })), "{error}");
    mode(place.path(), 0o700);
    symlink("loop", place.path().join("loop")).unwrap();
    assert!(Folder::make(&place.path().join("loop")).is_err());
}

#[test]
fn names_are_single() {
    let place = tempfile::tempdir().unwrap();
    let folder = Folder::open(place.path()).unwrap();
    for name in ["", ".", "..", "a/b", "/a"] {
        assert_eq!(folder.create_file(name, NewFile::Plain).unwrap_err().kind(), ErrorKind::InvalidInput, "{name}");
        assert_eq!(folder.remove_all(name).unwrap_err().kind(), ErrorKind::InvalidInput, "{name}");
        assert_eq!(Reading::open(place.path()).unwrap().file(name).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}

#[test]
fn all_of_a_folder_is_removed_and_nothing_that_it_links_to() {
    let place = tempfile::tempdir().unwrap();
    let kept = place.path().join("kept");
    fs::create_dir_all(place.path().join("gone/deep/er")).unwrap();
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("file"), "text").unwrap();
    symlink(&kept, place.path().join("gone/deep/link")).unwrap();
    fs::write(place.path().join("gone/deep/er/file"), "").unwrap();
    let folder = Folder::open(place.path()).unwrap();
    folder.remove_all("gone").unwrap();
    assert_eq!(folder.names().unwrap(), ["kept"]);
    assert!(remove_empty(&kept).is_err() && kept.join("file").exists());
    fs::remove_file(kept.join("file")).unwrap();
    remove_empty(&kept).unwrap();
    assert!(!kept.exists());
}

/// A pipe would block the process that opens it.
#[test]
fn only_regular_files_are_read() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path();
    fs::create_dir(path.join("folder")).unwrap();
    fs::write(path.join("folder/file"), "text").unwrap();
    symlink("folder/file", path.join("link")).unwrap();
    symlink("folder", path.join("folder-link")).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(path.join("pipe")).status().unwrap().success());
    let folder = Reading::open(path).unwrap();
    for name in ["pipe", "link", "folder"] {
        assert_eq!(folder.file(name).unwrap_err().kind(), ErrorKind::InvalidInput, "{name}");
        assert!(!folder.has_file(name), "{name}");
    }
    let mut text = String::new();
    folder.below(Path::new("folder")).unwrap().file("file").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    for below in ["folder-link", "..", "folder/../folder", "/etc"] {
        assert!(folder.below(Path::new(below)).is_err(), "{below}");
    }
}

#[test]
fn what_a_killed_process_left_goes_with_the_next_and_a_held_folder_stays() {
    let place = tempfile::tempdir().unwrap();
    let first = Scratch::make(place.path(), "scratch").unwrap();
    let left = first.path().with_file_name("7-0");
    fs::create_dir(&left).unwrap();
    fs::write(left.join("file"), "").unwrap();
    let second = Scratch::make(place.path(), "scratch").unwrap();
    assert!(!left.exists() && first.path().exists() && second.path().exists());
    let path = first.path().to_owned();
    first.remove().unwrap();
    assert!(!path.exists());
    // Other users can write in a folder above it, and could replace all of it.
    fs::create_dir(place.path().join("below")).unwrap();
    mode(place.path(), 0o777);
    let error = Scratch::make(&place.path().join("below"), "scratch").unwrap_err();
    assert!(matches!(Distrust::of(&error), Some(Distrust::Open { .. })), "{error}");
}

/// Until the folders are locked, each thread takes those of the others for leftovers. Names are used again at once.
#[test]
fn many_make_folders_at_once() {
    let place = tempfile::tempdir().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..200 {
                    let scratch = Scratch::make(place.path(), "scratch").unwrap();
                    (0..20).for_each(|_| std::thread::yield_now());
                    assert!(scratch.path().exists());
                    scratch.remove().unwrap();
                }
            });
        }
    });
}
