//! Which files may be loaded: none, until the program allows directories.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use dyntrace_probes::forks::hold_across_forks;
use rustix::process::geteuid;

use super::sha256::{Hasher, Sha256};
use crate::code::load_error::LoadError;
use dyntrace_processes::environment;

/// Which files may be loaded as modules, and how. [`allow`](crate::code::allow) puts it into force.
///
/// ```
/// use dyntrace::code::{self, Policy};
///
/// # let directory = tempfile::tempdir()?;
/// # let directory = directory.path();
/// code::allow(Policy::new().directory(directory).remote(true))?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a policy has no effect until it is passed to `code::allow`"]
pub struct Policy {
    directories: Vec<PathBuf>,
    sha256: Option<Vec<String>>,
    remote: bool,
    copies: PathBuf,
    patience: Duration,
}

/// A checked policy.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// Their real paths.
    directories: Vec<PathBuf>,
    sha256: Option<Vec<Sha256>>,
    remote: bool,
    pub(crate) copies: PathBuf,
    pub(crate) patience: Duration,
}

static ALLOWED: Mutex<Option<Arc<Allowed>>> = Mutex::new(None);

/// # Errors
///
/// See [`allow`](crate::code::allow).
pub(crate) fn put_in_force(policy: Policy) -> Result<(), LoadError> {
    let allowed = Allowed::new(policy)?;
    hold_across_forks!(Option<Arc<Allowed>>, in_force());
    *in_force() = Some(Arc::new(allowed));
    Ok(())
}

fn in_force() -> MutexGuard<'static, Option<Arc<Allowed>>> {
    ALLOWED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The policy in force.
pub(crate) fn allowed() -> Result<Arc<Allowed>, LoadError> {
    in_force().clone().ok_or(LoadError::NothingAllowed)
}

/// Whether other processes may load modules through the control socket.
pub(crate) fn is_remote() -> bool {
    allowed().is_ok_and(|allowed| allowed.remote)
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::new()
    }
}

impl Policy {
    /// Allows no directory, so that nothing can be loaded, and no other process; has no list of SHA-256.
    pub fn new() -> Policy {
        Policy {
            directories: Vec::new(),
            sha256: None,
            remote: false,
            copies: environment::temporary_folder(),
            patience: Duration::from_secs(10),
        }
    }

    /// Allows files in this directory and below it. Can be called several times.
    ///
    /// Directory and file must belong to root or to this process's user, and no other user may write to them. A symbolic link may
    /// lead only to a file within the directories.
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Policy {
        self.directories.push(path.into());
        self
    }

    /// Allows only files with one of these SHA-256, each as `sha256sum` prints it. Can be called several times.
    pub fn sha256(mut self, sums: impl IntoIterator<Item = impl Into<String>>) -> Policy {
        self.sha256.get_or_insert_default().extend(sums.into_iter().map(Into::into));
        self
    }

    /// Allows `dyntrace code -p PID load`, and so processes of the same user and of root, to load modules.
    pub fn remote(mut self, remote: bool) -> Policy {
        self.remote = remote;
        self
    }

    /// Sets the directory for the copies of loaded files; the default is `$TMPDIR`, or `/tmp` if that is not set or the program is
    /// set-uid. Copies lie in a private folder there while they are mapped. The next process that loads a module after this one has
    /// ended removes the folder.
    ///
    /// If users other than root and this process's can replace the directory or one above it, nothing is loaded. The file system
    /// must not be mounted with `noexec`.
    pub fn copies_in(mut self, path: impl Into<PathBuf>) -> Policy {
        self.copies = path.into();
        self
    }

    /// Sets the time limit of each `on_load`, `state` and `on_upgrade` of a module; the default is 10 seconds.
    pub fn patience(mut self, patience: Duration) -> Policy {
        self.patience = patience;
        self
    }
}

impl Allowed {
    fn new(policy: Policy) -> Result<Allowed, LoadError> {
        let directories = policy.directories.iter().map(|path| {
            let real =
                path.canonicalize().map_err(LoadError::system(|| format!("find the directory of modules {path:?}")))?;
            let metadata = real.metadata().map_err(LoadError::system(|| format!("look at {real:?}")))?;
            if !metadata.is_dir() {
                return Err(LoadError::NotADirectory(real));
            }
            trusted(&real, &metadata)?;
            Ok(real)
        });
        let directories = directories.collect::<Result<_, _>>()?;
        let parse = |text: &String| text.parse().map_err(|_| LoadError::NoSha256(text.clone()));
        let sha256 = policy.sha256.map(|sums| sums.iter().map(parse).collect()).transpose()?;
        let Policy { remote, copies, patience, .. } = policy;
        Ok(Allowed { directories, sha256, remote, copies, patience })
    }

    /// Opens the file, if it may be loaded as far as its metadata tells.
    pub(crate) fn open(&self, path: &Path) -> Result<File, LoadError> {
        // Non-blocking, as it could be a pipe.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
            .map_err(LoadError::system(|| format!("open the module {path:?}")))?;
        let metadata = file.metadata().map_err(LoadError::system(|| format!("look at {path:?}")))?;
        if !metadata.is_file() {
            return Err(LoadError::NotAFile(path.to_owned()));
        }
        // The path of the open file, which cannot be replaced between check and use.
        let real = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .map_err(LoadError::system(|| format!("find the real path of {path:?}")))?;
        if !self.directories.iter().any(|directory| real.starts_with(directory)) {
            let (path, directories) = (path.to_owned(), self.directories.clone());
            return Err(LoadError::Outside { path, real, directories });
        }
        trusted(path, &metadata)?;
        Ok(file)
    }

    /// A hasher for the file, if there is a list of SHA-256.
    pub(crate) fn sum(&self) -> Option<Hasher> {
        self.sha256.as_ref().map(|_| Hasher::new())
    }

    /// Checks that the sum is in the list, if there is one.
    pub(crate) fn check_sum(&self, path: &Path, sum: Option<Hasher>) -> Result<(), LoadError> {
        let Some((listed, found)) = self.sha256.as_ref().zip(sum.map(Hasher::finish)) else { return Ok(()) };
        if listed.contains(&found) {
            return Ok(());
        }
        Err(LoadError::Sha256 { path: path.to_owned(), found: found.to_string() })
    }
}

/// Checks that only root and this process's user can write to it.
fn trusted(path: &Path, metadata: &fs::Metadata) -> Result<(), LoadError> {
    let own = geteuid().as_raw();
    if ![0, own].contains(&metadata.uid()) {
        return Err(LoadError::Owner { path: path.to_owned(), owner: metadata.uid(), own });
    }
    if metadata.mode() & 0o022 != 0 {
        return Err(LoadError::Open { path: path.to_owned(), mode: metadata.mode() & 0o7777, by: "chmod go-w" });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// No other unit test allows anything.
    #[test]
    fn nothing_is_allowed_at_first() {
        let error = allowed().unwrap_err();
        assert!(matches!(error, LoadError::NothingAllowed) && error.to_string().contains("code::allow"));
        assert!(!is_remote());
        assert!(matches!(put_in_force(Policy::new().directory("/no/such")), Err(LoadError::System { .. })));
        assert!(allowed().is_err());
    }
}
