//! The running kernel, asked for the nop that it replaces.

use dyntrace_runs::system;
use dyntrace_runs::tracer::Version;

use super::way::{Kernel, Replaces};

/// The running kernel. `None` if its release does not begin with a version.
pub fn kernel() -> Option<Kernel> {
    let version = system::kernel_version()?;
    Some(Kernel { version, replaces: replaces(version) })
}

/// Which nop a running kernel of this version replaces.
pub fn replaces(version: Version) -> Replaces {
    let asked = if Replaces::is_worth_asking(version) { refusal() } else { None };
    Replaces::of(version, asked)
}

/// The error number with which the kernel refuses the system call of its trampolines to code elsewhere.
#[cfg(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64"))]
fn refusal() -> Option<i32> {
    const UPROBE: nix::libc::c_long = 336;
    // SAFETY: the call has no arguments, and the kernel carries it out for its own trampolines only.
    let answer = unsafe { nix::libc::syscall(UPROBE) };
    if answer == -1 { std::io::Error::last_os_error().raw_os_error() } else { None }
}

/// Kernels of other processors replace no site.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", target_pointer_width = "64")))]
fn refusal() -> Option<i32> {
    Some(nix::libc::ENOSYS)
}
