//! The condition on the user tag of a process in the clauses of its probes: only its spawn has the tag, so processes that began with a
//! matching one are remembered until they exit.

use std::ops::Range;

use crate::tracer::TracerKind;

use super::clauses::{behind_other_process, clause};
use super::condition::Condition;

/// The clauses of the probe, of which the first is at `(begin, end)`, as far as they follow each other.
pub fn clauses(text: &str, kind: TracerKind, probe: &str, (begin, mut end): (usize, usize)) -> Range<usize> {
    // The search begins before a newline.
    while let Some((next, after)) = clause(&text[end..], kind, probe)
        && next == 1
    {
        end += after;
    }
    begin..end
}

/// The clause of the spawn: it runs if the user tag in `argument` matches, and remembers the process.
pub fn if_tag(clause: &str, kind: TracerKind, argument: usize, condition: &Condition<'_>) -> String {
    match kind {
        TracerKind::Bpftrace => {
            let decides = condition.for_bpftrace(&format!("arg{argument}"));
            clause.replacen("\n{\n", &format!("\n{{\n{decides}\t@dyntrace_tagged[pid, str(arg0)] = 1;\n"), 1)
        }
        TracerKind::Dtrace => {
            let decides = condition.for_dtrace(&format!("arg{argument}"));
            let name = clause.lines().next().unwrap_or_default();
            let remembers = "\tdyntrace_tagged[pid, copyinstr(arg0)] = this->dyntrace_is;\n";
            let predicate = clause.replacen("\n{\n", "\n/this->dyntrace_is/\n{\n", 1);
            format!("{name}\n{{\n{decides}{remembers}}}\n\n{predicate}")
        }
        TracerKind::Stap => {
            let decides = format!("\tif (!dyntrace_is(user_string2($arg{}, \"\"))) next\n", argument + 1);
            behind_other_process(clause, &(decides + "\tdyntrace_tagged[pid(), user_string2($arg1, \"\")] = 1\n"))
        }
    }
}

/// All clauses of another probe of processes: they run if the process in `argument` is remembered.
pub fn if_remembered(clauses: &str, kind: TracerKind, argument: usize, forgets: bool) -> String {
    match kind {
        TracerKind::Bpftrace => {
            let key = format!("(pid, str(arg{argument}))");
            let forgets = if forgets { format!("\t_ = delete(@dyntrace_tagged, {key});\n") } else { String::new() };
            let first = format!("\n{{\n\tif (!has_key(@dyntrace_tagged, {key})) {{ return; }}\n{forgets}");
            clauses.replacen("\n{\n", &first, 1)
        }
        TracerKind::Dtrace => {
            let name = clauses.lines().next().unwrap_or_default();
            let tagged = format!("dyntrace_tagged[pid, copyinstr(arg{argument})]");
            let forgets = if forgets { format!("\t{tagged} = 0;\n") } else { String::new() };
            let conditional = clauses
                .replace("\n{\n", "\n/this->dyntrace_is/\n{\n")
                // A clause that had a predicate has two now.
                .replace("/\n/this->dyntrace_is/\n", " && this->dyntrace_is/\n");
            format!("{name}\n{{\n\tthis->dyntrace_is = {tagged};\n{forgets}}}\n\n{conditional}")
        }
        TracerKind::Stap => {
            let process = format!("[pid(), user_string2($arg{}, \"\")]", argument + 1);
            let forgets = if forgets { format!("\tdelete dyntrace_tagged{process}\n") } else { String::new() };
            behind_other_process(clauses, &format!("\tif (!({process} in dyntrace_tagged)) next\n{forgets}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use dyntrace::recorder::Glob;
    use dyntrace::scripts;

    use super::super::clauses::{Between, put_into};
    use super::*;
    use crate::script::shipped_text;

    /// The lines of the script with the condition that it lacks without.
    fn added(script: &str, kind: TracerKind) -> String {
        let glob = Glob::from("req-1");
        let condition = Condition::new(&glob, kind).unwrap();
        let script = shipped_text(scripts::find(script).unwrap(), kind);
        let text = put_into(script, kind, Between::Process, &condition);
        let lines: Vec<&str> = script.lines().collect();
        let added: Vec<&str> = text.lines().filter(|line| !lines.contains(line)).collect();
        added.join("\n")
    }

    #[test]
    fn processes_are_remembered_until_they_exit() {
        assert_eq!(
            added("spawn-exit", TracerKind::Stap),
            "\tif (!dyntrace_is(user_string2($arg5, \"\"))) next
\tdyntrace_tagged[pid(), user_string2($arg1, \"\")] = 1
\tif (!([pid(), user_string2($arg1, \"\")] in dyntrace_tagged)) next
\tdelete dyntrace_tagged[pid(), user_string2($arg1, \"\")]
function dyntrace_is:long(tag:string)
\treturn tag == \"req-1\"
global dyntrace_tagged[16384]"
        );
        assert_eq!(
            added("spawn-exit", TracerKind::Bpftrace),
            "\tmax_map_keys = 16384;
\tif (str(arg4) != \"req-1\") { return; }
\t@dyntrace_tagged[pid, str(arg0)] = 1;
\tif (!has_key(@dyntrace_tagged, (pid, str(arg0)))) { return; }
\t_ = delete(@dyntrace_tagged, (pid, str(arg0)));"
        );
    }

    #[test]
    fn every_clause_of_a_probe_has_the_condition() {
        let text = added("task_latency", TracerKind::Dtrace);
        assert_eq!(text.matches("this->dyntrace_is = dyntrace_tagged[pid, copyinstr(arg0)];").count(), 3, "{text}");
        // The process that is woken is the second argument.
        assert_eq!(text.matches("this->dyntrace_is = dyntrace_tagged[pid, copyinstr(arg1)];").count(), 1, "{text}");
        // Spawn, wake, the first of each three clauses, exit; and those that had a predicate.
        assert_eq!(text.matches("\n/this->dyntrace_is/").count(), 5, "{text}");
        for had in ["this->since != 0", "this->woken != 0", "this->is_known", "this->is_known && arg1 >= slow_ns"] {
            assert!(text.contains(&format!("\n/{had} && this->dyntrace_is/")), "{had}: {text}");
        }
    }
}
