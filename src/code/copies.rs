//! The private copies that versions are loaded from: each version is a file of its own, so that the dynamic linker takes no two for
//! one, and none changes while it is mapped.
//!
//! `dyntrace-code-UID`, which only its user can enter, has one folder for each process, with one file for each library that the
//! process has mapped. A process holds a lock on its folder for as long as it lives: a folder that can be locked is one that a process
//! has left behind, whatever way it ended, and is removed by the next one.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use rustix::process::geteuid;

use super::load_error::LoadError;
use super::sha256::Sum;
use crate::forks;

/// This process's folder in one place.
struct Folder {
    /// The policy's.
    place: PathBuf,
    path: PathBuf,
    /// Which process: a forked child has a folder of its own.
    forks: u64,
    /// Locked. It stays so for as long as one of the processes lives that have it.
    _locked: File,
}

static FOLDERS: Mutex<Vec<Folder>> = Mutex::new(Vec::new());

/// A private copy of a file, removed when this is dropped.
#[derive(Debug)]
pub(super) struct Copy {
    path: PathBuf,
    forks: u64,
}

impl Copy {
    /// Copies an open file; `from` is what it is called. What is copied is added to the sum, if one is wanted.
    pub(super) fn of(file: &mut File, from: &Path, place: &Path, sum: Option<&mut Sum>) -> Result<Copy, LoadError> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let folder = own_folder(place)?;
        let name = from.file_name().unwrap_or_default().to_string_lossy();
        let path = folder.join(format!("{}-{name}", LAST.fetch_add(1, Ordering::Relaxed)));
        let failed = |error| LoadError::System { doing: format!("copy {from:?} to {path:?}"), source: error };
        let new = OpenOptions::new().write(true).create_new(true).mode(0o500).open(&path);
        let mut new = new.map_err(failed)?;
        // From here on it is removed if anything goes wrong.
        let copy = Copy { path: path.clone(), forks: forks::so_far() };
        let before = Form::of(file).map_err(failed)?;
        pour(file, &mut new, sum).map_err(failed)?;
        if Form::of(file).map_err(failed)? != before {
            return Err(LoadError::Changed(from.to_owned()));
        }
        Ok(copy)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // A forked child's parent has it mapped.
        if self.forks == forks::so_far() {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// What changes when a file is written.
#[derive(PartialEq, Eq)]
struct Form {
    size: u64,
    modified: (i64, i64),
}

impl Form {
    fn of(file: &File) -> io::Result<Form> {
        let metadata = file.metadata()?;
        Ok(Form { size: metadata.size(), modified: (metadata.mtime(), metadata.mtime_nsec()) })
    }
}

fn pour(from: &mut File, to: &mut File, sum: Option<&mut Sum>) -> io::Result<()> {
    let Some(sum) = sum else { return io::copy(from, to).map(drop) };
    let mut buffer = vec![0; 1 << 16];
    loop {
        match from.read(&mut buffer)? {
            0 => return Ok(()),
            read => {
                sum.add(&buffer[..read]);
                to.write_all(&buffer[..read])?;
            }
        }
    }
}

/// The folder of this process, made when it is first asked for.
fn own_folder(place: &Path) -> Result<PathBuf, LoadError> {
    let doing = || format!("note that forks have copies of modules of their own, for {place:?}");
    forks::count().map_err(LoadError::system(doing))?;
    let mut folders = FOLDERS.lock().unwrap_or_else(PoisonError::into_inner);
    let forks = forks::so_far();
    if let Some(folder) = folders.iter().find(|folder| folder.place == place && folder.forks == forks) {
        return Ok(folder.path.clone());
    }
    let users = users_folder(place)?;
    remove_left(&users);
    let (path, locked) = new_folder(&users)
        .map_err(LoadError::system(|| format!("make a folder for copies of modules in {users:?}")))?;
    folders.push(Folder { place: place.to_owned(), path: path.clone(), forks, _locked: locked });
    Ok(path)
}

/// The folder of this user, which nobody else can enter.
fn users_folder(place: &Path) -> Result<PathBuf, LoadError> {
    let own = geteuid().as_raw();
    let path = place.join(format!("dyntrace-code-{own}"));
    let failed = LoadError::system(|| format!("make the folder for copies of modules, {path:?}"));
    let metadata = match DirBuilder::new().mode(0o700).create(&path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        // Not of what a symbolic link leads to.
        _ => fs::symlink_metadata(&path),
    };
    let metadata = metadata.map_err(failed)?;
    if !metadata.is_dir() {
        return Err(LoadError::NotADirectory(path));
    }
    if metadata.uid() != own {
        return Err(LoadError::Owner { path, owner: metadata.uid(), own });
    }
    if metadata.mode() & 0o077 != 0 {
        return Err(LoadError::Open { path, mode: metadata.mode() & 0o7777, by: "chmod 700" });
    }
    Ok(path)
}

/// A folder by this process's number, and another if another process removes it before it is locked.
fn new_folder(users: &Path) -> io::Result<(PathBuf, File)> {
    for attempt in 0..100 {
        let path = users.join(format!("{}-{attempt}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            made => made?,
        }
        if let Ok(folder) = File::open(&path)
            && folder.try_lock().is_ok()
            && is_there(&path, &folder)
        {
            return Ok((path, folder));
        }
    }
    Err(io::Error::other("a hundred names are taken by folders that other processes hold"))
}

/// Whether this is still the folder at that path.
fn is_there(path: &Path, folder: &File) -> bool {
    let (Ok(there), Ok(here)) = (fs::symlink_metadata(path), folder.metadata()) else { return false };
    (there.dev(), there.ino()) == (here.dev(), here.ino())
}

/// Removes what processes have left that are no more. What cannot be removed stays: it harms nobody.
fn remove_left(users: &Path) {
    let Ok(entries) = fs::read_dir(users) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Ok(folder) = File::open(entry.path()) else { continue };
        match folder.try_lock() {
            Ok(()) => drop(fs::remove_dir_all(entry.path())),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let mut sum = Sum::new();
        let again = Copy::of(&mut File::open(&path).unwrap(), &path, place.path(), Some(&mut sum)).unwrap();
        assert_ne!(again.path(), copy.path());
        assert_eq!(fs::read_to_string(again.path()).unwrap(), "some code");
        let mut expected = Sum::new();
        expected.add(b"some code");
        assert_eq!(sum.end(), expected.end());
        drop((copy, again));
        assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    }

    #[test]
    fn what_a_dead_process_has_left_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let users = users_folder(place.path()).unwrap();
        let (left, held) = (users.join("7-0"), users.join("8-0"));
        fs::create_dir(&left).unwrap();
        fs::write(left.join("0-libpricing.so"), "").unwrap();
        fs::create_dir(&held).unwrap();
        let holder = File::open(&held).unwrap();
        holder.try_lock().unwrap();
        let own = own_folder(place.path()).unwrap();
        assert!(!left.exists() && held.exists() && own.exists());
        assert_eq!(own_folder(place.path()).unwrap(), own);
    }

    #[test]
    fn a_folder_that_others_can_enter_is_not_used() {
        use std::os::unix::fs::PermissionsExt as _;
        let place = tempfile::tempdir().unwrap();
        let users = users_folder(place.path()).unwrap();
        fs::set_permissions(&users, fs::Permissions::from_mode(0o750)).unwrap();
        let error = own_folder(place.path()).unwrap_err().to_string();
        assert!(error.contains("750") && error.contains("chmod"), "{error}");
        fs::remove_dir(&users).unwrap();
        std::os::unix::fs::symlink("/", &users).unwrap();
        let error = own_folder(place.path()).unwrap_err().to_string();
        assert!(error.contains("no directory"), "{error}");
    }
}
