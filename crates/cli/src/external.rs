//! Runs the programs behind `dyntrace query` and `dyntrace upload`.
//!
//! They are programs of their own because their engine has hundreds of crates, which nobody builds for the other commands.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::anyhow;
use dyntrace_runs::tracer;
use dyntrace_terminal::escape;
use dyntrace_terminal::exit::{self, Failure, Outcome};

/// The package that has the programs.
const PACKAGE: &str = "dyntrace-query";

/// Becomes the program with this name.
pub fn become_program(name: &str, arguments: &[OsString]) -> Outcome {
    let program = locate(name, env::current_exe().ok().as_deref(), tracer::in_path(OsStr::new(name)))?;
    let error = Command::new(&program).args(arguments).exec();
    let status = if error.kind() == io::ErrorKind::NotFound { exit::NOT_FOUND } else { exit::NOT_EXECUTABLE };
    Err(Failure::new(status, anyhow!("cannot run {}: {error}", escape::path(&program))))
}

/// Whether there is a program with this name.
pub fn is_installed(name: &str) -> bool {
    locate(name, env::current_exe().ok().as_deref(), tracer::in_path(OsStr::new(name))).is_ok()
}

/// The program beside this one, else the first of those in PATH.
fn locate(name: &str, own: Option<&Path>, mut in_path: impl Iterator<Item = PathBuf>) -> Result<PathBuf, Failure> {
    let beside = own.map(|own| own.with_file_name(name)).filter(|path| tracer::is_executable(path));
    beside.or_else(|| in_path.next()).ok_or_else(|| {
        Failure::new(
            exit::NOT_FOUND,
            anyhow!("cannot find {name}, neither beside dyntrace nor in PATH; install it by cargo install {PACKAGE}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    const NAME: &str = "dyntrace-upload";

    #[test]
    fn the_program_beside_this_one_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("dyntrace");
        let elsewhere = || std::iter::once(PathBuf::from("/elsewhere/dyntrace-upload"));
        assert_eq!(locate(NAME, Some(&own), elsewhere()).unwrap(), Path::new("/elsewhere/dyntrace-upload"));
        let beside = folder.path().join(NAME);
        fs::write(&beside, "").unwrap();
        assert_eq!(locate(NAME, Some(&own), elsewhere()).unwrap(), Path::new("/elsewhere/dyntrace-upload"));
        fs::set_permissions(&beside, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(locate(NAME, Some(&own), elsewhere()).unwrap(), beside);
    }

    #[test]
    fn without_the_program_the_error_tells_how_to_get_it() {
        let failure = locate(NAME, None, std::iter::empty()).unwrap_err();
        assert_eq!(failure.status, exit::NOT_FOUND);
        assert!(failure.error.to_string().ends_with("cargo install dyntrace-query"));
    }
}
