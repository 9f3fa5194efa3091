//! The only reader of environment variables.
//!
//! A program with raised privileges (set-uid, set-gid, file capabilities) reads none: the user who starts it controls the environment. An
//! empty variable counts as unset.

use std::ffi::OsString;
use std::path::PathBuf;

/// The value of a variable; `None` if it is empty or the program has raised privileges.
pub fn var(name: &str) -> Option<OsString> {
    if has_raised_privileges() {
        return None;
    }
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// The folder for temporary files: `TMPDIR`, if it is an absolute path, else `/tmp`.
pub fn temporary_folder() -> PathBuf {
    var("TMPDIR").map(PathBuf::from).filter(|path| path.is_absolute()).unwrap_or_else(|| "/tmp".into())
}

/// Whether the program has privileges that the user who started it does not have.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn has_raised_privileges() -> bool {
    // Loom and miri have no auxiliary vector.
    if cfg!(any(loom, miri)) {
        return false;
    }
    // SAFETY: reads the auxiliary vector.
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

/// Other systems offer only this, which changes when a program drops privileges.
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
