//! Limits the uprobes of a script for bpftrace to one process. Before 0.20, the option `-p` limits only its `usdt` probes.

use anyhow::{Result, ensure};

use crate::script::{Part, parts};
use crate::tracer::Kind;

/// The kernel's number of the first pid namespace.
const FIRST_NAMESPACE: &str = "pid:[4026531836]";

/// How attach points of uprobes begin.
const UPROBES: [&str; 4] = ["uprobe:", "u:", "uretprobe:", "ur:"];

/// Returns `script` so that each clause of a uprobe does nothing in other processes than `pid`. Fails where bpftrace has
/// another number for the process.
pub fn limited(script: &str, pid: u32) -> Result<String> {
    let mut limited = String::new();
    let (mut header, mut depth, mut has_limit) = (String::new(), 0_u32, false);
    for part in parts(script, Kind::Bpftrace) {
        let (Part::Code(text) | Part::Text(text) | Part::Comment(text)) = part;
        if !matches!(part, Part::Code(_)) {
            limited.push_str(text);
            continue;
        }
        for c in text.chars() {
            limited.push(c);
            match c {
                '{' => {
                    depth += 1;
                    if depth == 1 && is_uprobe(&header) {
                        limited += &format!(" if (pid != {pid}) {{ return; }}");
                        has_limit = true;
                    }
                }
                '}' => {
                    depth = depth.saturating_sub(1);
                    header.clear();
                }
                c if depth == 0 => header.push(c),
                _ => {}
            }
        }
    }
    let namespace = std::fs::read_link("/proc/self/ns/pid").unwrap_or_default();
    ensure!(
        !has_limit || namespace.as_os_str() == FIRST_NAMESPACE,
        "bpftrace before 0.20 names processes by their numbers outside of this container: run dyntrace there, or use a newer bpftrace"
    );
    Ok(limited)
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
            assert_eq!(limited(&script, 47).unwrap(), expected);
        }
    }
}
