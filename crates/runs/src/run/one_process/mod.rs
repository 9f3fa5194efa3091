//! Limits the probes of a script to one process, where the tracer's own option does not.
//!
//! Before 0.20, bpftrace's option `-p` limits only `usdt` probes. SystemTap's option `-x` leaves in the children of the process.

use anyhow::{Result, ensure};

use crate::script::{with_clauses, without_comments};
use crate::system;
use crate::tracer::{NAMES_OUTSIDE, TracerKind};

/// How attach points of uprobes begin.
const UPROBES: [&str; 4] = ["uprobe:", "u:", "uretprobe:", "ur:"];

/// SystemTap's limit. Timers and other probes of no process may share a clause with those of a program.
const SYSTEMTAP: &str = include_str!("limit.stp");

/// Returns `script` for a tracer of this `kind`, so that its probes of programs do nothing in other processes than `pid`. Fails where
/// the tracer has another number for the process.
pub fn limited(script: &str, kind: TracerKind, pid: u32) -> Result<String> {
    let limit =
        if kind == TracerKind::Stap { SYSTEMTAP.trim_end() } else { &format!("if (pid != {pid}) {{ return; }}") };
    let is_limited = if kind == TracerKind::Stap { is_probe } else { is_uprobe };
    let mut has_limit = false;
    let limited = with_clauses(script, kind, |clause| {
        let is_limited = is_limited(&without_comments(clause.header, kind));
        has_limit |= is_limited;
        clause.with_first(&if is_limited { format!(" {limit}") } else { String::new() })
    });
    ensure!(
        !has_limit || kind == TracerKind::Stap || system::is_in_first_pid_namespace(),
        "bpftrace before 0.20 {NAMES_OUTSIDE}: run dyntrace there, or use a newer bpftrace"
    );
    Ok(limited)
}

/// Whether SystemTap runs the body after this text when a probe fires.
fn is_probe(header: &str) -> bool {
    header.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "probe")
}

/// Whether a clause with this text before its body is one of a uprobe.
fn is_uprobe(header: &str) -> bool {
    header.split([',', '\n', ' ', '\t']).any(|word| UPROBES.iter().any(|probe| word.starts_with(probe)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_clause_of_a_uprobe_has_the_limit() {
        let limit = " if (pid != 47) { return; }";
        for (clause, is_limited) in [
            ("u:/a:f /@x[tid] > 1/ {", true),
            ("BEGIN,\nuprobe:\"/a b\":0x10 {", true),
            ("uprobe:/a:0x10,\nuretprobe:/a:0x20\n// usdt:{\n{", true),
            ("ur:/a:f{", true),
            ("usdt:$1:a:b {", false),
            ("interval:ms:10 {", false),
            ("// uprobe:/a:1\nkprobe:do_sys_open {", false),
            ("self:signal:SIGUSR1 {", false),
            ("macro u(x) {", false),
        ] {
            let script = format!("config = {{ a = 1 }}\n{clause} if (1) {{ printf(\"usdt:{{\"); }} }}\nEND {{ }}\n");
            let expected =
                if is_limited { script.replacen(clause, &format!("{clause}{limit}"), 1) } else { script.clone() };
            assert_eq!(limited(&script, TracerKind::Bpftrace, 47).unwrap(), expected);
        }
    }
    #[test]
    fn each_probe_of_systemtap_has_the_limit() {
        let functions =
            "global seen, probes\nfunction probe_of:long(x:long) { if (x) { return 1 } return 0 } # probe {\n";
        let code = "%{ static int x; %}\nfunction f() %{ { STAP_RETURN(0); } %}\n";
        for clause in [
            "probe process(@1).mark(\"{\"), timer.s(1)\n{",
            "probe own = process(\"/a\").function(\"f\").return {",
            "global late\nprobe/* */begin{",
        ] {
            let script = format!("{functions}{code}{clause} if (1) {{ println(\"}}\") }} }}\n{functions}");
            let expected = script.replacen(clause, &format!("{clause} {}", SYSTEMTAP.trim_end()), 1);
            assert_eq!(limited(&script, TracerKind::Stap, 47).unwrap(), expected);
        }
    }
}
