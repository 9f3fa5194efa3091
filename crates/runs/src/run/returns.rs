//! Probes at the returns of functions, which some kernels make dangerous for a process with a seccomp filter.
//!
//! Since Linux 6.11 on x86_64, a function with such a probe returns through a system call of the kernel's own. A filter that kills on
//! unknown calls saw it up to 6.12.13 and 6.13.2. The system call of optimized probes, since 6.18, is shown to no filter.

use std::fs;

use anyhow::anyhow;
use dyntrace_terminal::exit::{self, Failure};

use crate::script;
use crate::system;
use crate::tracer::{TracerKind, Version};

/// The way out.
pub const REMEDY: &str =
    "use kernel 6.12.14, 6.13.3, 6.14 or newer, or run the program without the filter (systemd: SystemCallFilter=)";

/// Fails if a script for a tracer of this `kind` sets a probe at a return, and that may kill process `pid`.
pub fn check(text: &str, kind: TracerKind, pid: u32) -> Result<(), Failure> {
    match danger(pid) {
        Some(why) if has_returns(text, kind) => Err(Failure::new(
            exit::NO_TRACER,
            anyhow!(
                "the script sets probes at the returns of functions, which may kill process {pid}: {why}; {REMEDY}"
            ),
        )),
        _ => Ok(()),
    }
}

/// Why a probe at a return may kill process `pid`.
pub fn danger(pid: u32) -> Option<String> {
    let shows = system::kernel_version().is_some_and(shows_filters);
    (shows && is_filtered(pid)).then(|| {
        let release = system::kernel_release();
        format!("it has a seccomp filter, to which kernel {release} shows the system call of such probes")
    })
}

/// Whether a kernel of this version shows the call to filters.
fn shows_filters(version: Version) -> bool {
    let affected = [Version(6, 11, 0)..Version(6, 12, 14), Version(6, 13, 0)..Version(6, 13, 3)];
    cfg!(target_arch = "x86_64") && affected.iter().any(|versions| versions.contains(&version))
}

/// Whether a thread of process `pid` has a filter, or may make few calls only.
fn is_filtered(pid: u32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let statuses = threads.filter_map(|thread| fs::read_to_string(thread.path().join("status")).ok());
    statuses.into_iter().any(|status| has_filter(&status))
}

fn has_filter(status: &str) -> bool {
    status.lines().any(|line| line.strip_prefix("Seccomp:").is_some_and(|mode| mode.trim() != "0"))
}

fn has_returns(text: &str, kind: TracerKind) -> bool {
    let code = script::without_comments(text, kind);
    match kind {
        TracerKind::Bpftrace => code
            .split(|c: char| c.is_whitespace() || ",;{}".contains(c))
            .any(|word| word.starts_with("uretprobe:") || word.starts_with("ur:")),
        TracerKind::Dtrace => code.contains("pid") && code.contains(":return"),
        TracerKind::Stap => code.contains(".return"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_that_show_the_call() {
        for (version, shows) in [
            (Version(6, 10, 9), false),
            (Version(6, 11, 0), true),
            (Version(6, 12, 13), true),
            (Version(6, 12, 14), false),
            (Version(6, 13, 2), true),
            (Version(6, 13, 3), false),
            (Version(6, 18, 44), false),
        ] {
            assert_eq!(shows_filters(version), shows && cfg!(target_arch = "x86_64"), "{version}");
        }
    }

    #[test]
    fn scripts_with_probes_at_returns() {
        for (kind, text, has) in [
            (TracerKind::Bpftrace, "u:/a:f,\nuretprobe:/a:f { }", true),
            (TracerKind::Bpftrace, "ur:/a:f { }", true),
            (TracerKind::Bpftrace, "// uretprobe:\nusdt:$1:a:b { return; }", false),
            (TracerKind::Stap, "probe process(@1).function(\"f\").return { }", true),
            (TracerKind::Stap, "probe process(@1).mark(\"return\") { return }", false),
            (TracerKind::Dtrace, "pid$target::f:return { }", true),
            (TracerKind::Dtrace, "dyntrace$target:::efile_drv-return { }", false),
        ] {
            assert_eq!(has_returns(text, kind), has, "{text}");
        }
        let returns: Vec<_> = dyntrace::scripts::ALL
            .iter()
            .flat_map(|script| {
                TracerKind::ALL.iter().map(move |&kind| (script.name, kind, script::shipped_text(script, kind)))
            })
            .filter(|(_, kind, text)| has_returns(text, *kind))
            .map(|(name, ..)| name)
            .collect();
        assert_eq!(returns, Vec::<&str>::new());
    }

    #[test]
    fn threads_with_filters() {
        assert!(has_filter("Name:\ta\nSeccomp:\t2\nSeccomp_filters:\t1\n") && has_filter("Seccomp:\t1\n"));
        assert!(!has_filter("NoNewPrivs:\t1\nSeccomp:\t0\nSeccomp_filters:\t2\n"));
    }
}
