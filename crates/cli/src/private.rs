//! Files made from traces, which must not be more readable than the traces.
//!
//! A file gets the permissions that all files of the traces have in common, minus those that a parent folder denies, minus the umask.
//! It never takes the permissions and the open descriptors of an existing file, which belong to its old content: the file of a live output is
//! removed first, any other one is replaced when the new file is whole.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process;

use dyntrace_reader::Trace;

use crate::escape;

const ALL: u32 = 0o666;
const OWNER: u32 = 0o600;

/// The mode of files made from the trace.
pub fn mode(trace: &Trace) -> u32 {
    trace.processes().iter().fold(ALL, |mode, process| mode & of_folder(&process.path)) | OWNER
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

/// Follows symbolic links: the file at their end is replaced, and the links stay.
///
/// A link to nothing is refused. In a folder that others can write in, another user may have made it, to have a file made elsewhere.
fn target(path: &Path) -> io::Result<PathBuf> {
    match fs::read_link(path) {
        Ok(nowhere) if fs::metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) => {
            let why = format!(
                "it is a symbolic link to {}, where nothing is; remove the link, or name the file itself",
                escape::path(&nowhere)
            );
            Err(io::Error::new(io::ErrorKind::NotFound, why))
        }
        // The link of a pipe in /proc has no path at its end, and can be opened only.
        _ => Ok(path.canonicalize().unwrap_or_else(|_| path.to_owned())),
    }
}

/// Creates a file of this mode for a live output. An existing pipe or device is opened instead.
pub fn create(path: &Path, mode: u32) -> io::Result<File> {
    let path = target(path)?;
    match fs::symlink_metadata(&path) {
        Ok(there) if there.is_file() => fs::remove_file(&path)?,
        Ok(_) => return OpenOptions::new().write(true).open(&path),
        Err(_) => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(mode).open(&path)
}

/// A file that is not whole yet. If this is dropped, it is removed, and an earlier file of its name stays.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    /// Its present name, and that of the whole file. `None` for a pipe or a device.
    names: Option<(PathBuf, PathBuf)>,
}

/// Creates a file of this mode, which gets its name when it is [whole](NewFile::finish). An existing pipe or device is opened instead.
pub fn replace(path: &Path, mode: u32) -> io::Result<NewFile> {
    let path = target(path)?;
    if fs::symlink_metadata(&path).is_ok_and(|there| !there.is_file()) {
        return Ok(NewFile { file: OpenOptions::new().write(true).open(&path)?, names: None });
    }
    for number in 0.. {
        let mut partial = OsString::from(".");
        partial.push(path.file_name().unwrap_or_default());
        partial.push(format!(".{}-{number}.partial", process::id()));
        let partial = path.with_file_name(partial);
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&partial) {
            Ok(file) => return Ok(NewFile { file, names: Some((partial, path)) }),
            // Of a killed command with this number, or of one in another container.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    unreachable!("one of the numbers is free")
}

impl NewFile {
    /// Gives the whole file its name.
    pub fn finish(mut self) -> io::Result<()> {
        match self.names.take() {
            None => Ok(()),
            Some((partial, name)) => fs::rename(&partial, name).inspect_err(|_| {
                let _ = fs::remove_file(&partial);
            }),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for NewFile {
    fn drop(&mut self) {
        if let Some((partial, _)) = &self.names {
            let _ = fs::remove_file(partial);
        }
    }
}

/// Creates a folder for files of this mode, unless it exists.
pub fn create_folder(path: &Path, mode: u32) -> io::Result<()> {
    let may_read = mode & 0o444;
    target(path)?;
    DirBuilder::new().recursive(true).mode(0o700 | mode | may_read >> 2).create(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

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
        io::Write::write_all(&mut create(&link, 0o600).unwrap(), b"new").unwrap();
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
    fn a_link_to_nothing_is_refused() {
        let place = tempfile::tempdir().unwrap();
        let (file, link, through) =
            (place.path().join("file"), place.path().join("link"), place.path().join("through"));
        std::os::unix::fs::symlink("file", &link).unwrap();
        std::os::unix::fs::symlink(&link, &through).unwrap();
        for (path, to) in [(&link, "file"), (&through, link.to_str().unwrap())] {
            let refused = [
                create(path, 0o600).map(drop).unwrap_err(),
                replace(path, 0o600).map(drop).unwrap_err(),
                create_folder(path, 0o600).unwrap_err(),
            ];
            for error in refused {
                let expected = format!(
                    "it is a symbolic link to {to}, where nothing is; remove the link, or name the file itself"
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
