//! Files made from traces, which must not be more readable than the traces.
//!
//! A file gets the permissions that all files of the traces have in common, minus those that a parent folder denies, minus the umask.
//! It replaces an existing file, whose open descriptors belong to the old content, and gets no permission that the old one lacks.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

pub use dyntrace_folders::Output as NewFile;
use dyntrace_folders::{OutputPlace, make_folder};

const ALL: u32 = 0o666;
const OWNER: u32 = 0o600;

/// The mode of files made from the traces in these folders.
pub fn mode<'p>(folders: impl IntoIterator<Item = &'p Path>) -> u32 {
    folders.into_iter().fold(ALL, |mode, folder| mode & of_folder(folder)) | OWNER
}

/// The access that the files in a folder give to users who can reach them.
fn of_folder(folder: &Path) -> u32 {
    let Ok(folder) = folder.canonicalize() else { return OWNER };
    let reached = folder.ancestors().fold(ALL, |mode, folder| {
        // A user with search permission gets the access that the files give.
        let passes = fs::metadata(folder).map_or(0, |there| there.mode() & 0o111);
        mode & (passes << 1 | passes << 2)
    });
    let Ok(files) = fs::read_dir(&folder) else { return OWNER };
    let modes = files.filter_map(|file| file.and_then(|file| file.metadata()).ok());
    modes.filter(|file| file.is_file()).fold(reached, |mode, file| mode & file.mode())
}

/// Creates a file of this mode for a live output, under its name from the start. An existing pipe or device is opened instead.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    let mut new = replace(path, mode)?;
    new.finish()?;
    new.file().try_clone()
}

/// Creates a file of this mode, which gets its name when it is [whole](NewFile::finish). An existing pipe or device is opened instead, and
/// standard output for [`-`](is_stdout).
pub fn replace(path: &Path, mode: u32) -> io::Result<NewFile> {
    let path = if is_stdout(path) { Path::new("/dev/stdout") } else { path };
    OutputPlace::of(path)?.create(mode)
}

/// Whether the path of an output is `-`.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new("-")
}

/// Creates a folder for files of this mode, unless it exists.
pub fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
    if is_stdout(path) {
        let why = "standard output takes one file, and this format has several";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    let may_read = mode & 0o444;
    make_folder(path, 0o700 | mode | may_read >> 2)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use crate::say;

    fn permissions(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_file_that_is_there_is_replaced_and_not_widened() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let reader = File::open(&file).unwrap();
        create(&link, 0o600).unwrap().write_all(b"new").unwrap();
        assert_eq!((permissions(&file), fs::read_to_string(&file).unwrap().as_str()), (0o600, "new"));
        assert_eq!(io::read_to_string(reader).unwrap(), "old");
        assert!(link.is_symlink());
        create(Path::new("/dev/null"), 0o600).unwrap();
    }

    #[test]
    fn a_file_is_replaced_when_the_new_one_is_whole() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let mut given_up = replace(&link, 0o600).unwrap();
        let beside = replace(&link, 0o600).unwrap();
        given_up.write_all(b"half").unwrap();
        drop(given_up);
        drop(beside);
        assert_eq!(fs::read_to_string(&file).unwrap(), "old");
        let mut new = replace(&link, 0o600).unwrap();
        new.write_all(b"new").unwrap();
        new.finish().unwrap();
        assert_eq!((permissions(&file), fs::read_to_string(&file).unwrap().as_str()), (0o600, "new"));
        assert!(link.is_symlink());
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 2, "nothing else is left");
        replace(Path::new("/dev/null"), 0o600).unwrap().finish().unwrap();
    }

    #[test]
    fn a_link_of_another_user_leads_nowhere_with_root() {
        let place = tempfile::tempdir().unwrap();
        let (secret, shared) = (place.path().join("secret"), place.path().join("shared"));
        fs::write(&secret, "secret").unwrap();
        fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).unwrap();
        let link = shared.join("report.html");
        std::os::unix::fs::symlink(&secret, &link).unwrap();
        if std::os::unix::fs::lchown(&link, Some(12345), None).is_err() {
            return say!("SKIPPED: without root, no link can be given to another user");
        }
        let refused = [create(&link, 0o644).map(drop), replace(&link, 0o644).and_then(|mut new| new.finish())];
        for refused in refused {
            assert!(refused.unwrap_err().to_string().contains("a symbolic link that another user can change"));
        }
        assert_eq!((permissions(&secret), fs::read_to_string(&secret).unwrap().as_str()), (0o600, "secret"));
    }

    #[test]
    fn a_link_to_nothing_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (file, link, through) =
            (place.path().join("file"), place.path().join("link"), place.path().join("through"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        std::os::unix::fs::symlink(&link, &through).unwrap();
        for (path, to) in [(&link, "file"), (&through, link.to_str().unwrap())] {
            let refused = [create(path, 0o600).map(drop).unwrap_err(), replace(path, 0o600).map(drop).unwrap_err()];
            for error in refused {
                let expected = format!(
                    "it is a symbolic link to {to:?}, where nothing is; remove the link, or name the file itself"
                );
                assert_eq!(error.to_string(), expected);
            }
        }
        assert!(!file.exists() && link.is_symlink());
        // A link to a link to a file is one to the file.
        fs::write(&file, "old").unwrap();
        let mut new = replace(&through, 0o600).unwrap();
        new.write_all(b"new").unwrap();
        new.finish().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        assert!(link.is_symlink() && through.is_symlink());
        // A circle.
        fs::remove_file(&file).unwrap();
        std::os::unix::fs::symlink(&through, &file).unwrap();
        assert!(replace(&file, 0o600).is_err() && create(&file, 0o600).is_err());
    }

    #[test]
    fn a_folder_on_the_way_keeps_others_out() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("trace");
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("ring-1"), "").unwrap();
        // The mode of a temporary folder depends on the umask.
        fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
        for (of_folder_, of_file) in [(0o755, 0o644), (0o700, 0o644), (0o755, 0o640), (0o750, 0o666)] {
            fs::set_permissions(folder.join("ring-1"), fs::Permissions::from_mode(of_file)).unwrap();
            fs::set_permissions(&folder, fs::Permissions::from_mode(of_folder_)).unwrap();
            assert_eq!(of_folder(&folder) & !OWNER, 0, "{of_folder_:o} {of_file:o}");
            fs::set_permissions(place.path(), fs::Permissions::from_mode(0o755)).unwrap();
            let passes = |bits: u32| (bits & 0o011) * 6;
            let reached = place.path().ancestors().all(|folder| fs::metadata(folder).unwrap().mode() & 0o011 == 0o011);
            if reached {
                assert_eq!(of_folder(&folder), of_file & (OWNER | passes(of_folder_)), "{of_folder_:o} {of_file:o}");
            }
            fs::set_permissions(place.path(), fs::Permissions::from_mode(0o700)).unwrap();
        }
    }
}
