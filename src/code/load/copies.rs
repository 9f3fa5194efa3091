//! The private copies that versions are loaded from. Each version has a file of its own, so that the dynamic linker never takes two
//! versions for one library, and no file changes while it is mapped.
//!
//! `dyntrace-code-UID` has one folder for each process, with one file for each mapped library. The next process removes the folder of a
//! process that has ended ([`Scratch`]). The dynamic linker opens copies by path, so other users must not be able to replace any
//! folder on that path.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyntrace_folders::{Distrust, NewFile, Scratch};
use dyntrace_probes::forks::{self, hold_across_forks};

use super::sha256::Hasher;
use crate::code::load_error::LoadError;

/// This process's folder in one directory of copies.
struct Folder {
    /// The policy's directory.
    place: PathBuf,
    scratch: Arc<Scratch>,
    /// The number of forks when it was made: a forked child makes its own folder.
    forks: u64,
}

/// The prefix of users' folders.
const NAME: &str = "dyntrace-code";

static FOLDERS: Mutex<Vec<Folder>> = Mutex::new(Vec::new());

/// A private copy of a file, removed when this is dropped.
#[derive(Debug)]
pub(crate) struct Copy {
    folder: Arc<Scratch>,
    name: String,
    path: PathBuf,
    forks: u64,
    /// Open for writing until it is complete. It cannot be opened for that again.
    file: Option<File>,
}

impl Copy {
    /// Copies an open file, whose path is `from`, and adds its bytes to the sum.
    pub(crate) fn of(file: &mut File, from: &Path, place: &Path, sum: Option<&mut Hasher>) -> Result<Copy, LoadError> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let folder = own_folder(place)?;
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let name = format!("{}-{name}", LAST.fetch_add(1, Ordering::Relaxed));
        let path = folder.path().join(&name);
        let failed = |error| LoadError::System { doing: format!("copy {from:?} to {path:?}"), source: error };
        let mut new = folder.folder().create_file(&name, NewFile::Program).map_err(failed)?;
        // From here on an error removes it.
        let mut copy = Copy { folder, name, path: path.clone(), forks: forks::so_far(), file: None };
        let before = WriteStamp::of(file).map_err(failed)?;
        copy_file(file, &mut new, sum).map_err(failed)?;
        copy.file = Some(new);
        if WriteStamp::of(file).map_err(failed)? != before {
            return Err(LoadError::Changed(from.to_owned()));
        }
        Ok(copy)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the last bytes of the copy, and closes it for mapping.
    pub(crate) fn complete(&mut self, bytes: &[u8], at: u64) -> Result<(), LoadError> {
        let written = self.file.take().map_or(Ok(()), |file| file.write_all_at(bytes, at));
        written.map_err(LoadError::system(|| format!("complete {:?}, the copy of a module", self.path)))
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // In a forked child, the parent still maps it.
        if self.forks == forks::so_far() {
            let _ = self.folder.folder().remove_file(&self.name);
        }
    }
}

/// The metadata that changes when a file is written.
#[derive(PartialEq, Eq)]
struct WriteStamp {
    size: u64,
    modified: (i64, i64),
}

impl WriteStamp {
    fn of(file: &File) -> io::Result<WriteStamp> {
        let metadata = file.metadata()?;
        Ok(WriteStamp { size: metadata.size(), modified: (metadata.mtime(), metadata.mtime_nsec()) })
    }
}

fn copy_file(from: &mut File, to: &mut File, sum: Option<&mut Hasher>) -> io::Result<()> {
    let Some(sum) = sum else { return io::copy(from, to).map(drop) };
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => {
                sum.update(&buffer[..read]);
                to.write_all(&buffer[..read])?;
            }
        }
    }
}

fn folders() -> MutexGuard<'static, Vec<Folder>> {
    FOLDERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the folder of this process, and makes it at the first call.
fn own_folder(place: &Path) -> Result<Arc<Scratch>, LoadError> {
    let doing = || format!("note that forks have copies of modules of their own, for {place:?}");
    forks::count().map_err(LoadError::system(doing))?;
    hold_across_forks!(Vec<Folder>, folders());
    let mut folders = folders();
    let forks = forks::so_far();
    if let Some(folder) = folders.iter().find(|folder| folder.place == place && folder.forks == forks) {
        return Ok(folder.scratch.clone());
    }
    let scratch = Arc::new(Scratch::make(place, NAME).map_err(|error| refusal(place, error))?);
    folders.push(Folder { place: place.to_owned(), scratch: scratch.clone(), forks });
    Ok(scratch)
}

/// Says what is wrong with the directory for copies, and what to do.
fn refusal(place: &Path, error: io::Error) -> LoadError {
    match Distrust::of(&error) {
        Some(Distrust::NotAFolder(path)) => LoadError::NotADirectory(path.clone()),
        Some(&Distrust::Owner { ref path, owner, own }) => LoadError::Owner { path: path.clone(), owner, own },
        Some(&Distrust::Open { ref path, mode, by: "700" }) => {
            LoadError::Open { path: path.clone(), mode, by: "chmod 700" }
        }
        Some(&Distrust::Open { ref path, mode, .. }) => LoadError::Open { path: path.clone(), mode, by: "chmod go-w" },
        _ => LoadError::System { doing: format!("make a folder for copies of modules in {place:?}"), source: error },
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rustix::process::geteuid;

    use super::*;

    /// The folder of this user.
    fn users(place: &Path) -> PathBuf {
        place.join(format!("{NAME}-{}", geteuid().as_raw()))
    }

    fn file(place: &Path, text: &str) -> (PathBuf, File) {
        let path = place.join("module.so");
        fs::write(&path, text).unwrap();
        let file = File::open(&path).unwrap();
        (path, file)
    }

    #[test]
    fn a_copy_is_private_and_goes_with_its_owner() {
        let place = tempfile::tempdir().unwrap();
        let (path, mut opened) = file(place.path(), "some code");
        let copy = Copy::of(&mut opened, &path, place.path(), None).unwrap();
        assert_eq!(fs::read_to_string(copy.path()).unwrap(), "some code");
        let folder = copy.path().parent().unwrap().to_owned();
        assert_eq!(folder.metadata().unwrap().mode() & 0o7777, 0o700);
        assert_eq!(folder.parent().unwrap().metadata().unwrap().mode() & 0o7777, 0o700);
        let mut sum = Hasher::new();
        let again = Copy::of(&mut File::open(&path).unwrap(), &path, place.path(), Some(&mut sum)).unwrap();
        assert_ne!(again.path(), copy.path());
        assert_eq!(fs::read_to_string(again.path()).unwrap(), "some code");
        let mut expected = Hasher::new();
        expected.update(b"some code");
        assert_eq!(sum.finish(), expected.finish());
        drop((copy, again));
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }

    #[test]
    fn copies_of_a_dead_process_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let users = users(place.path());
        drop(dyntrace_folders::Folder::make_private(&users).unwrap());
        let (left, held) = (users.join("7-0"), users.join("8-0"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("0-libpricing.so"), "").unwrap();
        fs::create_dir(&held).unwrap();
        let holder = File::open(&held).unwrap();
        holder.try_lock().unwrap();
        let own = own_folder(place.path()).unwrap();
        assert!(!left.exists() && held.exists() && own.path().exists());
        assert_eq!(own_folder(place.path()).unwrap().path(), own.path());
    }

    #[test]
    fn a_folder_that_others_can_enter_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let users = users(place.path());
        drop(dyntrace_folders::Folder::make_private(&users).unwrap());
        fs::set_permissions(&users, fs::Permissions::from_mode(0o750)).unwrap();
        let error = own_folder(place.path()).unwrap_err().to_string();
        assert!(error.contains("750") && error.contains("chmod"), "{error}");
        fs::remove_dir(&users).unwrap();
        std::os::unix::fs::symlink("/", &users).unwrap();
        let error = own_folder(place.path()).unwrap_err().to_string();
        assert!(error.contains("no directory"), "{error}");
    }
}
