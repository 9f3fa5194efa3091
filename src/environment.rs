//! The environment, as far as the library reads it.
//!
//! A program that has more rights than the user who starts it (set-uid, set-gid, file capabilities) reads no variable: the environment
//! is that user's, not its own. An empty variable is as if it were not set. Every variable of the library is read here.

use std::ffi::OsString;
use std::path::PathBuf;

/// The value of a variable, unless it is empty or cannot be trusted.
pub(crate) fn var(name: &str) -> Option<OsString> {
    if has_raised_privileges() {
        return None;
    }
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder for temporary files: `TMPDIR`, if it is an absolute path, else `/tmp`.
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only modules are copied"))]
pub(crate) fn temporary_folder() -> PathBuf {
    var("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute()).unwrap_or_else(|| "/tmp".into())
}

/// Whether the program has rights that the user who started it does not have.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_raised_privileges() -> bool {
    // Loom and miri have no auxiliary vector.
    if cfg!(any(loom, miri)) {
        return false;
    }
    // SAFETY: reads what the kernel has told the process at its start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

#[cfg(any(
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "dragonfly",
    target_os = "illumos",
    target_os = "solaris"
))]
fn has_raised_privileges() -> bool {
    unsafe extern "C" {
        safe fn issetugid() -> libc::c_int;
    }
    issetugid() != 0
}

/// Other systems do not say more than this, which a program changes when it gives up its rights.
#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd",
    target_os = "openbsd",
    target_os = "dragonfly",
    target_os = "illumos",
    target_os = "solaris"
)))]
fn has_raised_privileges() -> bool {
    use rustix::process::{getegid, geteuid, getgid, getuid};
    getuid() != geteuid() || getgid() != getegid()
}

#[cfg(all(test, not(any(loom, miri))))]
mod tests {
    use std::path::Path;

    use crate::sources;

    /// A room that asks the system itself believes the environment of set-uid programs.
    #[test]
    fn no_other_room_reads_the_environment() {
        // Only tests have it. It reads `DYNTRACE_REQUIRE`.
        let synthetic = Path::new("recorder/synthetic.rs");
        let asks = ["env::var", "env::temp_dir", "vars_os(", "getenv("];
        let files = sources::product().into_iter();
        let found = files.filter(|(path, text)| path != synthetic && asks.iter().any(|ask| text.contains(ask)));
        assert_eq!(found.map(|(path, _)| path).collect::<Vec<_>>(), [Path::new("environment.rs")]);
    }
}
