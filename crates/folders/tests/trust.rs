//! Tests which folders are refused, and which are not.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use dyntrace_folders::{
    Distrust, Folder, NewFile, OutputPlace, Reading, Scratch, make_folder, open_regular, remove_empty, settle,
};

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
        assert!(!folder.has_file(name).unwrap(), "{name}");
    }
    let long = "x".repeat(300);
    assert!(
        !folder.has_file("absent").unwrap() && folder.has_file(&long).is_err() && folder.has_folder(&long).is_err()
    );
    let mut text = String::new();
    folder.below(Path::new("folder")).unwrap().file("file").unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    for below in ["folder-link", "..", "folder/../folder", "/etc"] {
        assert!(folder.below(Path::new(below)).is_err(), "{below}");
    }
}

#[test]
fn the_next_process_removes_folders_of_killed_ones_but_no_held_one() {
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

fn permissions(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn put(path: &Path, text: &str) -> std::io::Result<()> {
    let mut output = OutputPlace::of(path)?.create(0o644)?;
    output.write_all(text.as_bytes())?;
    output.finish()
}

/// Gives a file or a link to another user. Returns false without root.
fn give_away(path: &Path) -> bool {
    let given = std::os::unix::fs::lchown(path, Some(12345), None);
    if given.is_err() {
        eprintln!("SKIPPED: without root, no file can be given to another user");
    }
    given.is_ok()
}

#[test]
fn output_takes_the_place_of_a_file_and_is_not_more_readable() {
    let place = tempfile::tempdir().unwrap();
    let (file, link) = (place.path().join("file"), place.path().join("link"));
    put(&file, "old").unwrap();
    mode(&file, 0o600);
    symlink("file", &link).unwrap();
    put(&link, "new").unwrap();
    assert_eq!((fs::read_to_string(&file).unwrap().as_str(), permissions(&file)), ("new", 0o600));
    assert!(link.is_symlink());
    drop(OutputPlace::of(&link).unwrap().create(0o644).unwrap());
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing else is left");
    assert!(!OutputPlace::of(&file).unwrap().create_file("start", 0o600).unwrap().finish_first().unwrap());
    assert_eq!(put(place.path(), "").unwrap_err().kind(), ErrorKind::IsADirectory);
    assert_eq!(put(&place.path().join("none/file"), "").unwrap_err().kind(), ErrorKind::NotFound);
    let missing = place.path().join("missing");
    assert!(OutputPlace::of(&missing).unwrap().create_file("start", 0o600).unwrap().finish_first().unwrap());
    std::mem::forget(OutputPlace::of(&missing).unwrap().create_file("start", 0o600).unwrap());
    settle(place.path(), "start").unwrap();
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 3);
}

#[test]
fn output_goes_through_no_link_of_another_user_with_root() {
    let place = tempfile::tempdir().unwrap();
    let shared = place.path().join("shared");
    fs::create_dir_all(place.path().join("secret")).unwrap();
    fs::create_dir(&shared).unwrap();
    mode(&shared, 0o1777);
    let secret = place.path().join("secret/file");
    put(&secret, "secret").unwrap();
    mode(&secret, 0o600);
    let (link, on_the_way) = (shared.join("link"), shared.join("folder"));
    symlink(&secret, &link).unwrap();
    symlink(place.path().join("secret"), &on_the_way).unwrap();
    // Its own links, as the kernel has it for sticky folders.
    put(&link, "secret").unwrap();
    put(&on_the_way.join("file"), "secret").unwrap();
    if !give_away(&link) || !give_away(&on_the_way) {
        return;
    }
    for path in [&link, &on_the_way.join("file")] {
        let error = put(path, "page").unwrap_err();
        assert!(matches!(Distrust::of(&error), Some(Distrust::Link { owner: 12345, .. })), "{error}");
    }
    let error = make_folder(&on_the_way.join("below"), 0o755).unwrap_err();
    assert!(matches!(Distrust::of(&error), Some(Distrust::Link { .. })), "{error}");
    assert_eq!((fs::read_to_string(&secret).unwrap().as_str(), permissions(&secret)), ("secret", 0o600));
    // A file of another user is replaced, not written to, and a pipe of one is refused.
    let theirs = shared.join("theirs");
    put(&theirs, "theirs").unwrap();
    let mut reader = fs::File::open(&theirs).unwrap();
    assert!(give_away(&theirs));
    put(&theirs, "page").unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), fs::read_to_string(&theirs).unwrap().as_str()), ("theirs", "page"));
    let pipe = shared.join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    assert!(give_away(&pipe));
    let error = put(&pipe, "page").unwrap_err();
    assert!(matches!(Distrust::of(&error), Some(Distrust::Special { owner: 12345, .. })), "{error}");
}

#[test]
fn pipes_devices_and_open_files_are_written_to() {
    let place = tempfile::tempdir().unwrap();
    let (pipe, file) = (place.path().join("pipe"), place.path().join("file"));
    put(Path::new("/dev/null"), "page").unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    put(&pipe, "page").unwrap();
    assert_eq!(reader.join().unwrap(), "page");
    let link = place.path().join("link");
    let (mut reader, writer) = std::io::pipe().unwrap();
    for folder in ["/dev/fd", "/proc/self/fd"].into_iter().filter(|folder| Path::new(folder).exists()) {
        let fd = std::os::fd::AsRawFd::as_raw_fd(&writer);
        symlink(format!("{folder}/{fd}"), &link).unwrap();
        let mut text = [0; 4];
        for path in [&link, Path::new(&format!("{folder}/{fd}"))] {
            put(path, "page").unwrap();
            reader.read_exact(&mut text).unwrap();
            assert_eq!(&text, b"page");
        }
        fs::remove_file(&link).unwrap();
        // The file of a shell's `>>`.
        fs::write(&file, "before, ").unwrap();
        let open = fs::File::options().append(true).open(&file).unwrap();
        put(Path::new(&format!("{folder}/{}", std::os::fd::AsRawFd::as_raw_fd(&open))), "page").unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "before, page");
    }
}

/// A pipe would block the process that opens it, and so does a lease: for /proc/sys/fs/lease-break-time.
#[test]
fn a_file_that_another_user_names_is_opened_without_waiting() {
    let place = tempfile::tempdir().unwrap();
    let (file, pipe) = (place.path().join("file"), place.path().join("pipe"));
    fs::write(&file, "text").unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for path in [&pipe, place.path(), Path::new("/dev/null")] {
        assert_eq!(open_regular(path).unwrap_err().kind(), ErrorKind::InvalidInput, "{path:?}");
    }
    symlink("file", place.path().join("link")).unwrap();
    let mut text = String::new();
    open_regular(&place.path().join("link")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "text");
    assert_eq!(open_regular(&place.path().join("none")).unwrap_err().kind(), ErrorKind::NotFound);
}
