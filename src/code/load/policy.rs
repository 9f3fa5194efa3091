//! Which files may be loaded: nothing, until the program says where its modules come from.

use std::fs::{self, File, OpenOptions};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::geteuid;

use super::sha256::{Sha256, Sum};
use crate::code::load_error::LoadError;
use crate::environment;
use crate::forks::hold_across_forks;

/// Which files may be loaded as modules, and what is asked of them. To be put in force by [`allow`](crate::code::allow).
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
#[must_use = "a policy is in force once it is given to `code::allow`"]
pub struct Policy {
    directories: Vec<PathBuf>,
    sha256: Option<Vec<String>>,
    remote: bool,
    copies: PathBuf,
    patience: Duration,
}

/// A policy that is in force.
#[derive(Debug)]
pub(crate) struct Allowed {
    /// By their real paths.
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

/// What is in force.
pub(crate) fn allowed() -> Result<Arc<Allowed>, LoadError> {
    in_force().clone().ok_or(LoadError::NothingAllowed)
}

/// Whether modules may be loaded from outside, through the control socket.
pub(crate) fn is_remote() -> bool {
    allowed().is_ok_and(|allowed| allowed.remote)
}

impl Default for Policy {
    fn default() -> Policy {
        Policy::new()
    }
}

impl Policy {
    /// No directory, so that nothing can be loaded; no list of SHA-256; nothing from outside.
    pub fn new() -> Policy {
        Policy {
            directories: Vec::new(),
            sha256: None,
            remote: false,
            copies: environment::temporary_folder(),
            patience: Duration::from_secs(10),
        }
    }

    /// Files in this directory and below it may be loaded. Can be called several times.
    ///
    /// Directory and file must belong to root or to this process's user, and nobody else may write them. A symbolic link may lead to
    /// a file within the directories, and not elsewhere.
    pub fn directory(mut self, path: impl Into<PathBuf>) -> Policy {
        self.directories.push(path.into());
        self
    }

    /// Only files with one of these SHA-256 may be loaded, each as `sha256sum` prints it. Can be called several times.
    pub fn sha256(mut self, sums: impl IntoIterator<Item = impl Into<String>>) -> Policy {
        self.sha256.get_or_insert_default().extend(sums.into_iter().map(Into::into));
        self
    }

    /// Whether `dyntrace code -p PID load` may load modules, too: processes of the same user and root's.
    pub fn remote(mut self, remote: bool) -> Policy {
        self.remote = remote;
        self
    }

    /// Where the copies of loaded files are, each for as long as it is mapped: in a private folder there, which is removed when
    /// the next process loads a module after this one has ended. If this is not called: `$TMPDIR`, or `/tmp` where that is not set or the
    /// program is set-uid. No user but root and this process's can replace the place or a folder above it, else nothing is loaded.
    /// Programs must be executable there: not on a file system mounted with `noexec`.
    pub fn copies_in(mut self, path: impl Into<PathBuf>) -> Policy {
        self.copies = path.into();
        self
    }

    /// How long a module's `on_load`, `state` and `on_upgrade` may take, each. 10 seconds if this is not called.
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

    /// The file at this path, if it may be loaded as far as can be told without reading it.
    pub(crate) fn open(&self, path: &Path) -> Result<File, LoadError> {
        // Not blocking: it could be a pipe.
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY)
            .open(path)
            .map_err(LoadError::system(|| format!("open the module {path:?}")))?;
        let metadata = file.metadata().map_err(LoadError::system(|| format!("look at {path:?}")))?;
        if !metadata.is_file() {
            return Err(LoadError::NotAFile(path.to_owned()));
        }
        // Of what is open now: nobody can put another file there between check and use.
        let real = fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))
            .map_err(LoadError::system(|| format!("find out where {path:?} is")))?;
        if !self.directories.iter().any(|directory| real.starts_with(directory)) {
            let (path, directories) = (path.to_owned(), self.directories.clone());
            return Err(LoadError::Outside { path, real, directories });
        }
        trusted(path, &metadata)?;
        Ok(file)
    }

    /// What a file's SHA-256 is to be found out with, if there is a list.
    pub(crate) fn sum(&self) -> Option<Sum> {
        self.sha256.as_ref().map(|_| Sum::new())
    }

    /// Whether the file with this sum is in the list, if there is one.
    pub(crate) fn check_sum(&self, path: &Path, sum: Option<Sum>) -> Result<(), LoadError> {
        let Some((listed, found)) = self.sha256.as_ref().zip(sum.map(Sum::end)) else { return Ok(()) };
        if listed.contains(&found) {
            return Ok(());
        }
        Err(LoadError::Sha256 { path: path.to_owned(), found: found.to_string() })
    }
}

/// Whether nobody else but root can have written it.
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

    /// No other test of this program allows anything.
    #[test]
    fn nothing_is_allowed_at_first() {
        let error = allowed().unwrap_err();
        assert!(matches!(error, LoadError::NothingAllowed) && error.to_string().contains("code::allow"));
        assert!(!is_remote());
        assert!(matches!(put_in_force(Policy::new().directory("/no/such")), Err(LoadError::System { .. })));
        assert!(allowed().is_err());
    }
}
