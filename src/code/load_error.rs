//! Why a module was not loaded.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use dyntrace_probes::host;

/// Why a module was not loaded. Nothing has changed, and nothing is left of the attempt unless the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The program allows no modules.
    #[error(
        "cannot load a module: this program allows none; let it call `code::allow` with the directories of its modules"
    )]
    NothingAllowed,
    /// The policy names a file as a directory.
    #[error("cannot allow modules from {0:?}: it is no directory; name the directory that they are in")]
    NotADirectory(PathBuf),
    /// The policy lists text that is no SHA-256.
    #[error("cannot use {0:?} as a SHA-256: it must be 64 hexadecimal digits, as `sha256sum` prints them")]
    NoSha256(String),
    /// A system call failed.
    #[error("cannot {doing}")]
    System {
        /// The failed action and its object.
        doing: String,
        /// The system's error.
        source: io::Error,
    },
    /// The file is a directory, a device or a pipe.
    #[error("cannot load {0:?}: it is not a regular file; name the module's library, such as libpricing.so")]
    NotAFile(PathBuf),
    /// The file is in no allowed directory, or it is a symbolic link to a file elsewhere.
    #[error(
        "cannot load {path:?}, which is the file {real:?}: it is in none of the allowed directories, {directories:?}; put it there, or pass its directory to `code::allow`"
    )]
    Outside {
        /// The path as given.
        path: PathBuf,
        /// The path with links resolved.
        real: PathBuf,
        /// The allowed directories.
        directories: Vec<PathBuf>,
    },
    /// The file or directory belongs to another user, and that user could change it.
    #[error(
        "cannot trust {path:?}: it belongs to user {owner}, not to root or this process's user {own}; change its owner by chown"
    )]
    Owner {
        /// The file or directory.
        path: PathBuf,
        /// The owner's user id.
        owner: u32,
        /// The effective user id of this process.
        own: u32,
    },
    /// Other users may write to it or enter it.
    #[error("cannot trust {path:?}: its mode {mode:o} admits other users; forbid that by {by}")]
    Open {
        /// The file or directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// The command that removes the permission.
        by: &'static str,
    },
    /// The file's SHA-256 is not in the policy's list.
    #[error(
        "cannot load {path:?}: its SHA-256 {found} is not in the program's list; add it there if you trust the file"
    )]
    Sha256 {
        /// The file.
        path: PathBuf,
        /// Its SHA-256.
        found: String,
    },
    /// The file was changed while it was copied.
    #[error(
        "cannot copy {0:?}: it was changed meanwhile; load it again when it is complete, or put new files in place by renaming"
    )]
    Changed(PathBuf),
    /// The file is not a library that this machine can load.
    #[error("cannot load {path:?}: {why}")]
    Object {
        /// The file.
        path: PathBuf,
        /// The reason, and what to do.
        why: String,
    },
    /// The library contains no module.
    #[error(
        "cannot load {path:?}: it has no `dyntrace::module!`; call that in the crate of crate-type \"cdylib\" itself"
    )]
    NoModule {
        /// The file.
        path: PathBuf,
    },
    /// The module was built with another version of this crate, by another compiler or for another target.
    #[error(
        "cannot load {path:?}: it was built differently from this program:\n  module:  {module}\n  program: {program}\nbuild both with the same compiler, and the same version and features of dyntrace"
    )]
    Fingerprint {
        /// The file.
        path: PathBuf,
        /// The fingerprint of the module's copy of this crate.
        module: String,
        /// The fingerprint of the program's copy.
        program: String,
    },
    /// The dynamic linker refuses the library.
    #[error("cannot load {path:?}: the dynamic linker says: {why}")]
    Linker {
        /// The file.
        path: PathBuf,
        /// The dynamic linker's message.
        why: String,
    },
    /// Two functions have the same name.
    #[error(
        "cannot load {path:?}: module {module} exports {export} twice, as {first} and as {second}; give them different names"
    )]
    ExportedTwice {
        /// The file.
        path: PathBuf,
        /// The module's name.
        module: String,
        /// The name of both functions.
        export: String,
        /// The signature of one.
        first: String,
        /// The signature of the other.
        second: String,
    },
    /// A hook of the module failed or panicked. The library stays in memory unless its module is `Unloadable`.
    #[error("{hook} of {of} failed: {why}")]
    Hook {
        /// `on_load`, `state` or `on_upgrade`.
        hook: &'static str,
        /// The module and its version.
        of: String,
        /// The hook's message.
        why: String,
    },
    /// A hook of the module, or a constructor of its library, did not return in time. Its thread and library stay, and are counted by
    /// `code::given_up`.
    #[error(
        "{hook} of {of} did not return within {limit:?}: its thread and library stay; look there for a loop or a lock, or allow more time by `Policy::patience`"
    )]
    TooSlow {
        /// `on_load`, `state`, `on_upgrade` or `constructors`.
        hook: &'static str,
        /// The module and its version, or the file.
        of: String,
        /// The policy's patience.
        limit: Duration,
    },
}

impl LoadError {
    /// For a call inside a module that only the program can make.
    pub(crate) fn in_module(doing: &str) -> LoadError {
        let instead = "let the program load modules, and declare exports that this one calls by dyntrace::import!";
        let source = host::refused("control over loaded modules", instead);
        LoadError::System { doing: doing.into(), source }
    }

    pub(crate) fn system<S: Into<String>>(doing: impl FnOnce() -> S) -> impl FnOnce(io::Error) -> LoadError {
        |source| LoadError::System { doing: doing().into(), source }
    }
}
