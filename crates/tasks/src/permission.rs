//! The kernel's permission to read another process, and the way to it.

use std::fs;

pub use dyntrace_folders::exists;
use rustix::process::geteuid;

/// Bits of a capability mask.
const CAP_SYS_PTRACE: u32 = 19;
const CAP_SYS_ADMIN: u32 = 21;

/// The facts that decide on the permission, as far as this process can see.
struct Rights {
    is_root: bool,
    capabilities: u64,
    /// `kernel.yama.ptrace_scope`; empty without Yama.
    scope: String,
    /// Whether root here is root of the system.
    is_of_system: bool,
    has_seccomp_filter: bool,
}

/// Says how this process gets the permission to read a process, or which part of the system refuses it to root.
pub fn way() -> String {
    Rights::own().way()
}

/// The same for files by `/proc/PID/map_files`.
pub fn way_to_mapped_files() -> &'static str {
    Rights::own().way_to_mapped_files()
}

impl Rights {
    fn own() -> Rights {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let status = read("/proc/thread-self/status");
        let field =
            |name| status.lines().find_map(|line: &str| line.strip_prefix(name)?.strip_prefix(":")).map(str::trim);
        let uids = read("/proc/self/uid_map");
        Rights {
            is_root: geteuid().is_root(),
            capabilities: field("CapEff").and_then(|mask| u64::from_str_radix(mask, 16).ok()).unwrap_or(0),
            scope: read("/proc/sys/kernel/yama/ptrace_scope").trim().to_owned(),
            is_of_system: uids.split_whitespace().eq(["0", "0", "4294967295"]),
            has_seccomp_filter: field("Seccomp") == Some("2"),
        }
    }

    fn has(&self, capability: u32) -> bool {
        self.capabilities & (1 << capability) != 0
    }

    fn way(&self) -> String {
        match &*self.scope {
            "3" => "kernel.yama.ptrace_scope is 3, which forbids it to all until the system restarts".to_owned(),
            "" | "0" if !self.is_root => "run as root or as the user of the process".to_owned(),
            scope if !self.is_root => format!("kernel.yama.ptrace_scope is {scope}: run as root"),
            _ if !self.has(CAP_SYS_PTRACE) => {
                "this root lacks CAP_SYS_PTRACE: start the container with --cap-add=SYS_PTRACE, or run outside it".to_owned()
            }
            _ if !self.is_of_system => {
                "this root is that of a user namespace, which the process does not belong to: run outside the container".to_owned()
            }
            _ if self.has_seccomp_filter => {
                "this root has CAP_SYS_PTRACE: a seccomp filter or a security module refuses it; start the container with \
                 --security-opt seccomp=unconfined, or see the kernel's log"
                    .to_owned()
            }
            _ => "this root has CAP_SYS_PTRACE: a security module, such as SELinux or AppArmor, refuses it; see the kernel's log"
                .to_owned(),
        }
    }

    fn way_to_mapped_files(&self) -> &'static str {
        match (self.is_root, self.has(CAP_SYS_ADMIN) && self.is_of_system) {
            (false, _) => "Run as root, which may read the mapped files, or restart the program.",
            (true, false) => "This root lacks CAP_SYS_ADMIN, which may read the mapped files: restart the program.",
            (true, true) => "Restart the program.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rights(is_root: bool, scope: &str) -> Rights {
        let scope = scope.to_owned();
        Rights { is_root, capabilities: u64::MAX, scope, is_of_system: true, has_seccomp_filter: false }
    }

    #[test]
    fn root_is_told_which_part_refuses() {
        for (rights, told) in [
            (rights(false, ""), "run as root or as the user of the process"),
            (rights(false, "1"), "ptrace_scope is 1: run as root"),
            (rights(false, "3"), "until the system restarts"),
            (rights(true, "3"), "until the system restarts"),
            (Rights { capabilities: 0, ..rights(true, "1") }, "lacks CAP_SYS_PTRACE"),
            (Rights { is_of_system: false, ..rights(true, "") }, "user namespace"),
            (Rights { has_seccomp_filter: true, ..rights(true, "0") }, "seccomp"),
            (rights(true, "0"), "a security module"),
        ] {
            let way = rights.way();
            assert!(way.contains(told), "{way}");
            assert!(!rights.is_root || !way.contains("as root"), "{way}");
        }
        assert!(rights(false, "").way_to_mapped_files().starts_with("Run as root"));
        assert!(!rights(true, "").way_to_mapped_files().contains("as root"));
        let lacking = Rights { capabilities: 0, ..rights(true, "") };
        assert!(lacking.way_to_mapped_files().contains("lacks CAP_SYS_ADMIN"));
    }
}
