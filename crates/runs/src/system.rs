//! The kernel's version, and the rights of this process.

use dyntrace_terminal::own;
use nix::unistd::Uid;

use crate::tracer::{TracerKind, Version};

/// The release of the running kernel, such as `6.18.2-amd64`.
pub fn kernel_release() -> String {
    nix::sys::utsname::uname()
        .map_or_else(|_| "unknown".to_owned(), |names| names.release().to_string_lossy().into_owned())
}

/// The version of the running kernel; `None` if its release does not begin with one.
pub fn kernel_version() -> Option<Version> {
    Version::find(&kernel_release())
}

/// The kernel's number of the first pid namespace.
const FIRST_PID_NAMESPACE: &str = "pid:[4026531836]";

/// Whether this process has the same numbers for processes as the kernel.
pub fn is_in_first_pid_namespace() -> bool {
    std::fs::read_link("/proc/self/ns/pid").is_ok_and(|namespace| namespace.as_os_str() == FIRST_PID_NAMESPACE)
}

/// Numbers of capabilities in the kernel's interface.
const CAP_SYS_ADMIN: u32 = 21;
const CAP_PERFMON: u32 = 38;
const CAP_BPF: u32 = 39;

/// The reason why this process may not trace by `kind`.
pub fn forbids(kind: TracerKind) -> Option<String> {
    let is_root = Uid::effective().is_root();
    if !cfg!(target_os = "linux") {
        // illumos grants privileges without root; its DTrace reports missing ones itself.
        return (cfg!(not(target_os = "illumos")) && !is_root).then(|| "tracing needs root: use sudo".to_owned());
    }
    if kind == TracerKind::Stap {
        return (!is_root && !in_group_of_stap())
            .then(|| "SystemTap needs root or the group stapdev: use sudo".to_owned());
    }
    let capabilities = own::mask("CapEff")?;
    let has = |number: u32| capabilities & (1 << number) != 0;
    if has(CAP_SYS_ADMIN) || (has(CAP_BPF) && has(CAP_PERFMON)) {
        refused()
    } else if is_root {
        Some("this root has neither CAP_SYS_ADMIN nor CAP_BPF and CAP_PERFMON: run it outside the container, or start the container with --privileged".to_owned())
    } else {
        Some("tracing needs root, or CAP_BPF and CAP_PERFMON: use sudo".to_owned())
    }
}

/// Why the kernel refuses a system call by which bpftrace and DTrace attach.
#[cfg(target_os = "linux")]
fn refused() -> Option<String> {
    use crate::calls::Call;

    [Call::Bpf, Call::PerfEventOpen].into_iter().find_map(Call::refused)
}

#[cfg(not(target_os = "linux"))]
fn refused() -> Option<String> {
    None
}

#[cfg(not(target_vendor = "apple"))]
fn in_group_of_stap() -> bool {
    let groups = nix::unistd::getgroups().unwrap_or_default();
    ["stapdev", "stapsys", "stapusr"]
        .iter()
        .any(|name| nix::unistd::Group::from_name(name).ok().flatten().is_some_and(|group| groups.contains(&group.gid)))
}

#[cfg(target_vendor = "apple")]
fn in_group_of_stap() -> bool {
    false
}
