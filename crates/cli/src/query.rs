//! `dyntrace query`: runs the program `dyntrace-query`.
//!
//! It is a program of its own because its engine has hundreds of crates, which nobody builds for the other commands.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::anyhow;

use crate::exit::{self, Failure, Outcome};
use crate::{escape, tracer};

const PROGRAM: &str = "dyntrace-query";

pub const HELP: &str = "\
Examples:
  dyntrace query fleet 'SELECT hostname, count(*) FROM operations GROUP BY hostname'
  dyntrace query fleet -f slowest.sql --json
  dyntrace query fleet --stats \"SELECT * FROM operations WHERE user_tag = 'req-1'\"
  dyntrace query fleet --report page.html
  dyntrace query --help

Runs the program dyntrace-query with these arguments: the one beside dyntrace, else the first in PATH.
`cargo install dyntrace-query` installs it.

Exit status: that of dyntrace-query:
    0  the query was answered, or the page was written
    1  the query cannot be finished, or standard output or the page cannot be written
    2  wrong use, or wrong SQL
    3  the page was written: events of the data set were lost, or it is not known whether
    4  the page was written: recordings of the data set are damaged
   66  there is no such data set, or it cannot be read
  126  dyntrace-query cannot be run
  127  dyntrace-query was not found";

#[derive(clap::Args)]
pub struct Arguments {
    /// The folder of the data set, the query, and options: dyntrace query --help has them
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

/// Becomes the program.
pub fn query(Arguments { arguments }: &Arguments) -> Outcome {
    let program = locate(env::current_exe().ok().as_deref(), tracer::in_path(OsStr::new(PROGRAM)))?;
    let error = Command::new(&program).args(arguments).exec();
    let status = if error.kind() == io::ErrorKind::NotFound { exit::NOT_FOUND } else { exit::NOT_EXECUTABLE };
    Err(Failure::new(status, anyhow!("cannot run {}: {error}", escape::path(&program))))
}

/// The program beside this one, else the first of those in PATH.
fn locate(own: Option<&Path>, mut in_path: impl Iterator<Item = PathBuf>) -> Result<PathBuf, Failure> {
    let beside = own.map(|own| own.with_file_name(PROGRAM)).filter(|path| tracer::is_executable(path));
    beside.or_else(|| in_path.next()).ok_or_else(|| {
        Failure::new(
            exit::NOT_FOUND,
            anyhow!(
                "cannot find {PROGRAM}, neither beside dyntrace nor in PATH; install it by cargo install {PROGRAM}"
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_program_beside_this_one_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join("dyntrace");
        let elsewhere = || std::iter::once(PathBuf::from("/elsewhere/dyntrace-query"));
        assert_eq!(locate(Some(&own), elsewhere()).unwrap(), Path::new("/elsewhere/dyntrace-query"));
        let beside = folder.path().join(PROGRAM);
        fs::write(&beside, "").unwrap();
        assert_eq!(locate(Some(&own), elsewhere()).unwrap(), Path::new("/elsewhere/dyntrace-query"));
        fs::set_permissions(&beside, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(locate(Some(&own), elsewhere()).unwrap(), beside);
    }

    #[test]
    fn without_the_program_the_error_tells_how_to_get_it() {
        let failure = locate(None, std::iter::empty()).unwrap_err();
        assert_eq!(failure.status, exit::NOT_FOUND);
        assert!(failure.error.to_string().ends_with("cargo install dyntrace-query"));
    }
}
