//! Why a module was not loaded.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::host;

/// Why a module was not loaded. Nothing has changed, and nothing is left of the attempt, but where the variant says so.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// The program has not said where modules may come from.
    #[error(
        "loading a module, which this program does not allow: let it call `code::allow` with the directories that modules come from"
    )]
    NothingAllowed,
    /// What the policy names as a directory is a file.
    #[error("allowing modules from {0:?}, which is no directory: name the one that they are in")]
    NotADirectory(PathBuf),
    /// What the policy lists is no SHA-256.
    #[error("reading the list of SHA-256: {0:?} is none, which is 64 hexadecimal digits as `sha256sum` prints them")]
    NoSha256(String),
    /// Another system's call has failed.
    #[error("cannot {doing}")]
    System {
        /// What was being done to what.
        doing: String,
        /// The system's error.
        source: io::Error,
    },
    /// A directory, a device, a pipe.
    #[error("loading {0:?}, which is not a regular file: name the module's library, such as libpricing.so")]
    NotAFile(PathBuf),
    /// It is not in a directory that modules may come from, or it is a symbolic link to elsewhere.
    #[error(
        "loading {path:?}, which is the file {real:?}: it is in none of the allowed directories, {directories:?}; put it there, or name its directory to `code::allow`"
    )]
    Outside {
        /// As it was named.
        path: PathBuf,
        /// What that is once links are followed.
        real: PathBuf,
        /// The policy's.
        directories: Vec<PathBuf>,
    },
    /// It belongs to another user, who could change it.
    #[error(
        "trusting {path:?}, which belongs to user {owner}, not to root or to this process's user {own}: change its owner by chown"
    )]
    Owner {
        /// The file or directory.
        path: PathBuf,
        /// Whose it is.
        owner: u32,
        /// This process's effective user.
        own: u32,
    },
    /// Others may write or enter it.
    #[error("trusting {path:?}, whose mode {mode:o} lets others in: forbid it by {by}")]
    Open {
        /// The file or directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
        /// The command that forbids it.
        by: &'static str,
    },
    /// It is not in the policy's list.
    #[error(
        "loading {path:?}, whose SHA-256 {found} is not in the program's list: add it there if the file is to be trusted"
    )]
    Sha256 {
        /// The file.
        path: PathBuf,
        /// Its SHA-256.
        found: String,
    },
    /// It was written while it was copied.
    #[error(
        "copying {0:?}, which was changed meanwhile: load it again when it is complete, or put new files in place by renaming"
    )]
    Changed(PathBuf),
    /// It is not a library that this machine can load.
    #[error("loading {path:?}: {why}")]
    Object {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// It is a library without a module in it.
    #[error(
        "loading {path:?}, which is a library but no module: it has no `dyntrace::module!`, or it has none of its own crate-type \"cdylib\""
    )]
    NoModule {
        /// The file.
        path: PathBuf,
    },
    /// It was made of another version of this crate, by another compiler or for another target.
    #[error(
        "loading {path:?}, which was made of other parts than this program:\n  module:  {module}\n  program: {program}\ncompile both with the same compiler, and the same version and features of dyntrace"
    )]
    Fingerprint {
        /// The file.
        path: PathBuf,
        /// Of its copy of this crate.
        module: String,
        /// Of the program's.
        program: String,
    },
    /// The dynamic linker refuses it.
    #[error("loading {path:?}: the dynamic linker says: {why}")]
    Linker {
        /// The file.
        path: PathBuf,
        /// The dynamic linker's words.
        why: String,
    },
    /// Two functions have the same name.
    #[error(
        "loading {path:?}: module {module} exports {export} twice, as {first} and as {second}: give them different names"
    )]
    ExportedTwice {
        /// The file.
        path: PathBuf,
        /// The module's name.
        module: String,
        /// The functions' name.
        export: String,
        /// Signature of one.
        first: String,
        /// Signature of the other.
        second: String,
    },
    /// A hook of the module has failed or panicked. The library stays in memory unless its module is `Unloadable`.
    #[error("running {hook} of {of}: {why}")]
    Hook {
        /// `on_load`, `state` or `on_upgrade`.
        hook: &'static str,
        /// The module and its version.
        of: String,
        /// What it says.
        why: String,
    },
    /// A hook of the module, or a constructor of its library, does not return. Its thread and its library stay, and are counted: see
    /// `code::given_up`.
    #[error(
        "running {hook} of {of}, which did not return within {limit:?}: its thread and its library are left to themselves; look there for a loop or a lock, or allow more by `Policy::patience`"
    )]
    TooSlow {
        /// `on_load`, `state` or `on_upgrade`, or the loading itself.
        hook: &'static str,
        /// The module and version, or the file.
        of: String,
        /// The policy's.
        limit: Duration,
    },
}

impl LoadError {
    /// For a module that asks for what only the program has.
    pub(crate) fn in_module(doing: &str) -> LoadError {
        let instead = "let the program load modules, and declare exports that this one calls by dyntrace::import!";
        let source = host::refused("a say in what is loaded, and a look at it,", instead);
        LoadError::System { doing: doing.into(), source }
    }

    pub(crate) fn system<S: Into<String>>(doing: impl FnOnce() -> S) -> impl FnOnce(io::Error) -> LoadError {
        |source| LoadError::System { doing: doing().into(), source }
    }
}
