//! Features that a tracer lacks for a script, and how to get a tracer that has them.

use std::path::Path;

use super::{Tracer, TracerKind, Version};
use crate::system;

/// Something that keeps a tracer from running a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// The missing feature.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

/// Since this version bpftrace reads all arguments of a probe; before, the first six.
const BPFTRACE_ALL_ARGUMENTS: Version = Version(0, 24, 0);

/// Since this version bpftrace knows the `config` block.
const BPFTRACE_CONFIG: Version = Version(0, 20, 0);

/// Before this version DTrace on Linux was a kernel patch that knew no stapsdt notes.
const DTRACE_LINUX: Version = Version(2, 0, 0);

/// Returns the first feature that `tracer` lacks for a script with this text (`None`: for any script).
pub fn lacks(tracer: &Tracer, text: Option<&str>) -> Option<Lack> {
    match tracer.kind {
        TracerKind::Bpftrace => bpftrace(tracer.version, text?),
        TracerKind::Dtrace if cfg!(target_os = "linux") && tracer.version < DTRACE_LINUX => Some(Lack {
            what: "it cannot read the probes of programs on Linux".to_owned(),
            remedy: get_one(TracerKind::Dtrace).to_owned(),
        }),
        TracerKind::Dtrace => None,
        TracerKind::Stap => stap(),
    }
}

fn bpftrace(version: Version, text: &str) -> Option<Lack> {
    let code = crate::script::without_comments(text, TracerKind::Bpftrace);
    let arguments = highest_argument(&code).map_or(0, |highest| highest + 1);
    let (what, needed) = if arguments > 6 && version < BPFTRACE_ALL_ARGUMENTS {
        (
            format!("it reads the first six arguments of a probe, and the script needs {arguments}"),
            BPFTRACE_ALL_ARGUMENTS,
        )
    } else if code.split_whitespace().any(|word| word == "config") && version < BPFTRACE_CONFIG {
        ("it does not know the script's config block".to_owned(), BPFTRACE_CONFIG)
    } else {
        return None;
    };
    Some(Lack { what, remedy: format!("bpftrace {needed} or newer is needed: {}", get_one(TracerKind::Bpftrace)) })
}

/// The highest N of `argN` in a script for bpftrace.
fn highest_argument(code: &str) -> Option<u32> {
    code.split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter_map(|word| word.strip_prefix("arg")?.parse().ok())
        .max()
}

fn stap() -> Option<Lack> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    if !Path::new("/proc/modules").exists() {
        return Some(Lack {
            what: "this kernel cannot load modules".to_owned(),
            remedy: "use bpftrace or DTrace 2, or a kernel with modules".to_owned(),
        });
    }
    let release = system::kernel_release();
    (!Path::new(&format!("/lib/modules/{release}/build")).exists()).then(|| Lack {
        what: format!("there are no headers of the running kernel {release}"),
        remedy: format!("install them, on Debian: apt-get install linux-headers-{release}"),
    })
}

/// Where to get a tracer.
pub fn get_one(kind: TracerKind) -> &'static str {
    match kind {
        TracerKind::Bpftrace => {
            "Debian testing has it; a program that runs anywhere is at https://github.com/bpftrace/bpftrace/releases"
        }
        TracerKind::Dtrace if cfg!(target_os = "linux") => {
            "DTrace 2 is the package dtrace of Debian testing and Oracle Linux, and https://github.com/oracle/dtrace-utils"
        }
        TracerKind::Dtrace => "it is part of macOS and illumos; on FreeBSD load it: kldload dtraceall",
        TracerKind::Stap => "on Debian: apt-get install systemtap, and the headers of the running kernel",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_bpftrace_lacks_arguments() {
        let text = "usdt:BIN:dyntrace:efile_drv__entry { printf(\"%s\", str(arg10)); }";
        let lack = bpftrace(Version(0, 17, 0), text).unwrap();
        assert!(lack.what.contains("needs 11") && lack.remedy.contains("0.24.0"), "{lack:?}");
        assert_eq!(bpftrace(Version(0, 27, 1), text), None);
        assert_eq!(bpftrace(Version(0, 17, 0), "/* arg10 */ usdt:BIN:a:b { print(arg5); } // arg9"), None);
    }

    #[test]
    fn an_old_bpftrace_lacks_the_config_block() {
        let text = "config = { max_strlen = 512 }";
        assert!(bpftrace(Version(0, 17, 0), text).unwrap().what.contains("config"));
        assert_eq!(bpftrace(Version(0, 20, 0), text), None);
    }
}
