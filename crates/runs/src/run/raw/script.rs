//! The script that prints each event with its arguments.

use std::fmt::Write as _;

use anyhow::{Context as _, anyhow, ensure};
use dyntrace_build::model::Probe;
use dyntrace_programs::elf::{Note, Operand, OperandPlace};

use crate::run::marks::Mark;

use super::description::is_text;

/// How many arguments of a probe every bpftrace reads as `argN`.
const BY_NUMBER: usize = 6;

/// The script for these `probes`, each at its only site of `sites`.
pub fn script(probes: &[Probe], sites: &[Note], mark: &Mark) -> anyhow::Result<String> {
    let (begin, end) = (mark.begin(), mark.end());
    let mut script = String::new();
    for (number, probe) in probes.iter().enumerate() {
        let mut of_probe = sites.iter().filter(|site| site.name == probe.name);
        // A program has the probes that its code fires.
        let Some(site) = of_probe.next() else { continue };
        ensure!(
            of_probe.all(|other| other.operands == site.operands),
            "{} has several sites with arguments in different places, which bpftrace before 0.24 cannot tell apart",
            probe.tool_name()
        );
        let values = (0..probe.arguments.len()).map(|at| value(site, at)).collect::<anyhow::Result<Vec<_>>>()?;
        let of_kind = |wanted| values.iter().zip(&probe.arguments).filter(move |(_, of)| is_text(of) == wanted);
        let numbers: String = of_kind(false).map(|(value, _)| format!(", {value}")).collect();
        let formats = " %lu".repeat(of_kind(false).count());
        write!(
            script,
            "usdt:$1:dyntrace:{}\n{{\n\t@dyntrace_fired = count();\n\t$at = nsecs;\n\
             \tprintf(\"{begin}%d {number} %lu n %d{formats} %s{end}\\n\", cpu, $at, tid{numbers}, comm);\n",
            probe.name
        )?;
        for (value, _) in of_kind(true) {
            writeln!(script, "\tprintf(\"{begin}%d {number} %lu s %s{end}\\n\", cpu, $at, str({value}));")?;
        }
        script.push_str("}\n\n");
    }
    let (from, to) = mark.around_count();
    write!(
        script,
        "END\n{{\n\tprintf(\"{from}\");\n\tprint(@dyntrace_fired);\n\tprintf(\"{to}\");\n\tclear(@dyntrace_fired);\n}}\n"
    )?;
    Ok(script)
}

/// The argument at this position. An argument without a name in bpftrace is read from the register that the site names.
fn value(site: &Note, at: usize) -> anyhow::Result<String> {
    let operand = site.operands.get(at).with_context(|| format!("{} has no argument {at}", site.tool_name()))?;
    if at < BY_NUMBER {
        return Ok(format!("arg{at}"));
    }
    let register = register(operand).ok_or_else(|| {
        anyhow!("argument {at} of {} is in {}, which bpftrace before 0.24 cannot read", site.tool_name(), operand.text)
    })?;
    Ok(format!("reg(\"{register}\")"))
}

/// bpftrace's name of the register that holds the operand.
fn register(operand: &Operand) -> Option<String> {
    if operand.place != OperandPlace::Register {
        return None;
    }
    let (_, name) = operand.text.split_once('@')?;
    if let Some(number) = name.strip_prefix(['x', 'w']) {
        return Some(format!("r{number}"));
    }
    let name = name.strip_prefix('%')?;
    if let Some(number) = name.strip_prefix('r').map(|name| name.trim_end_matches('d'))
        && number.parse::<u8>().is_ok()
    {
        return Some(format!("r{number}"));
    }
    // %rax, %eax
    let name = name.strip_prefix(['r', 'e'])?;
    ["ax", "bx", "cx", "dx", "si", "di", "bp", "sp"].contains(&name).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use dyntrace_programs::elf::parse_all;

    use super::*;

    #[test]
    fn registers_by_their_names_in_bpftrace() {
        for (operand, expected) in [
            ("-4@%r8d", Some("r8")),
            ("8@%r15", Some("r15")),
            ("-4@%eax", Some("ax")),
            ("8@%rbp", Some("bp")),
            ("8@x19", Some("r19")),
            ("-4@w3", Some("r3")),
            ("-8@8(%rax)", None),
            ("-8@$-9", None),
            ("-1@%bl", None),
        ] {
            assert_eq!(register(&parse_all(operand)[0]).as_deref(), expected, "{operand}");
        }
    }
}
