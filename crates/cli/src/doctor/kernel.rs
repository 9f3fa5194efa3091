//! Checks of the running kernel.

use std::fs;
use std::io;
use std::path::Path;

use dyntrace_runs::system;
use dyntrace_runs::tracer::Version;

use super::finding::Finding;
use super::hits::{self, Replaces};

/// The first version that maintains semaphores.
const SEMAPHORES: Version = Version(4, 20, 0);

pub fn check() -> Vec<Finding> {
    if !cfg!(target_os = "linux") {
        return vec![Finding::ok("kernel", format!("{} {}", std::env::consts::OS, system::kernel_release()))];
    }
    vec![version(), uprobes(), tracefs(), debugfs(), btf()]
}

fn version() -> Finding {
    let release = system::kernel_release();
    match system::kernel_version() {
        None => {
            let text = format!("release {release} does not begin with a version");
            Finding::warn("kernel", text, "check it by hand: uname -r")
        }
        Some(version) if version < SEMAPHORES => {
            let text = format!("{release} does not enable the probes of traced programs");
            Finding::fail("kernel", text, format!("use kernel {SEMAPHORES} or newer"))
        }
        Some(version) => Finding::ok("kernel", format!("{release} {}", traces(hits::replaces(version)))),
    }
}

/// How such a kernel traces programs of x86_64; which of it applies to a program, the finding about its hits says.
fn traces(replaces: Replaces) -> &'static str {
    match replaces {
        Replaces::Nothing => "traces by traps: build programs without dyntrace's feature nop5",
        Replaces::Nop5 => {
            "turns a traced 5-byte nop, dyntrace's feature nop5, into a system call, and traces other sites by traps"
        }
        Replaces::Nop10 => {
            "turns the 10-byte nop of a default site into a system call for tracers that attach to it, and traces other sites by traps"
        }
    }
}

fn uprobes() -> Finding {
    if Path::new("/sys/bus/event_source/devices/uprobe").exists() {
        return Finding::ok("uprobes", "the kernel can trace programs");
    }
    let text = "the kernel cannot trace programs, or /sys is not mounted";
    Finding::fail("uprobes", text, "use a kernel with CONFIG_UPROBE_EVENTS=y")
}

/// The way to the permission to look into the kernel's folders.
fn as_root() -> &'static str {
    if nix::unistd::geteuid().is_root() {
        "this is root already: run dyntrace doctor outside the container, or see in the kernel's log which security module refuses it"
    } else {
        "run dyntrace doctor as root"
    }
}

fn tracefs() -> Finding {
    let mount = "as root: mount -t tracefs tracefs /sys/kernel/tracing";
    match fs::metadata("/sys/kernel/tracing/uprobe_events") {
        Ok(_) => Finding::ok("tracefs", "mounted at /sys/kernel/tracing"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Finding::warn("tracefs", "this user may not look into /sys/kernel/tracing", as_root())
        }
        Err(_) if Path::new("/sys/kernel/debug/tracing/uprobe_events").exists() => {
            Finding::warn("tracefs", "mounted at /sys/kernel/debug/tracing only", mount)
        }
        Err(_) => Finding::fail("tracefs", "not mounted", mount),
    }
}

fn debugfs() -> Finding {
    match fs::metadata("/sys/kernel/debug/tracing/uprobe_events") {
        Ok(_) => Finding::ok("debugfs", "mounted at /sys/kernel/debug"),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            Finding::warn("debugfs", "this user may not look into /sys/kernel/debug", as_root())
        }
        Err(_) => {
            let remedy = "as root: mount -t debugfs debugfs /sys/kernel/debug";
            Finding::warn("debugfs", "not mounted: DTrace cannot enable its probes", remedy)
        }
    }
}

fn btf() -> Finding {
    if Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Finding::ok("BTF", "the kernel describes its types");
    }
    let text = "the kernel does not describe its types: DTrace and newer versions of bpftrace do not start";
    Finding::warn("BTF", text, "use a kernel with CONFIG_DEBUG_INFO_BTF=y")
}
