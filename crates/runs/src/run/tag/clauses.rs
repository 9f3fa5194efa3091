//! Puts the condition on user tags into the clauses of a shipped script.

use crate::tracer::TracerKind;

use super::condition::Condition;
use super::process;

/// How a script relates the events of an operation to its entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// It counts or shows only what it has seen the entry of.
    ByEntry,
    /// It shows each event by itself, so the operations in flight must be remembered.
    Remembered,
    /// Only the spawn of a process has the tag, so the processes that began with it must be remembered.
    Process,
}

const ENTRY: &str = "efile_drv__entry";
const RETURN: &str = "efile_drv__return";
const STEPS: [&str; 2] = ["efile_drv__int_entry", "efile_drv__int_return"];
const EVENT: &str = "user_trace__i4s4";
/// Shown beside [`EVENT`], without a user tag.
const WITHOUT: &str = "user_trace__s1";

/// The setting of bpftrace for the number of remembered operations or processes.
const KEYS: &str = "\tmax_map_keys = 16384;\n";

const SPAWN: &str = "process__spawn";
const POLL: [&str; 2] = ["process__scheduled", "process__unscheduled"];
const WAIT: [&str; 2] = ["process__wait", "process__resume"];
/// Its first argument is what wakes the process.
const WAKE: &str = "process__wake";
const EXIT: &str = "process__exit";
/// The first probe of a job: scripts count only jobs whose first probe they see.
const ADD: &str = "blocking__add";

/// A change of the script: the clauses of a probe.
struct Change {
    probe: &'static str,
    does: Does,
}

enum Does {
    /// The clause is left out.
    Goes,
    /// It runs if the user tag in this argument matches, and adds or removes the operation.
    IfTag(usize, Operation),
    /// It runs if the operation is remembered.
    IfRemembered,
    /// It runs if the user tag in this argument matches, and adds the process.
    IfProcessTag(usize),
    /// It runs if the process in this argument is remembered, and perhaps removes it.
    IfProcess { argument: usize, forgets: bool },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Untouched,
    Remembered,
    Forgotten,
}

/// The changes of a script. It has no clause of some of their probes.
fn changes(between: Between) -> Vec<Change> {
    let mut changes = vec![
        Change { probe: WITHOUT, does: Does::Goes },
        Change { probe: EVENT, does: Does::IfTag(1, Operation::Untouched) },
    ];
    match between {
        Between::ByEntry => changes.push(Change { probe: ENTRY, does: Does::IfTag(2, Operation::Untouched) }),
        Between::Remembered => {
            changes.push(Change { probe: ENTRY, does: Does::IfTag(2, Operation::Remembered) });
            changes.extend(STEPS.map(|probe| Change { probe, does: Does::IfRemembered }));
            changes.push(Change { probe: RETURN, does: Does::IfTag(2, Operation::Forgotten) });
        }
        Between::Process => {
            changes.push(Change { probe: SPAWN, does: Does::IfProcessTag(4) });
            changes.extend(
                [ADD]
                    .into_iter()
                    .chain(POLL)
                    .chain(WAIT)
                    .map(|probe| Change { probe, does: Does::IfProcess { argument: 0, forgets: false } }),
            );
            changes.push(Change { probe: WAKE, does: Does::IfProcess { argument: 1, forgets: false } });
            changes.push(Change { probe: EXIT, does: Does::IfProcess { argument: 0, forgets: true } });
        }
    }
    changes
}

/// The script `text` in the language of `kind`, with the condition.
pub fn put_into(text: &str, kind: TracerKind, between: Between, condition: &Condition<'_>) -> String {
    let mut text = text.to_owned();
    for Change { probe, does } in changes(between) {
        let Some((begin, mut end)) = clause(&text, kind, probe) else { continue };
        let clause = match does {
            Does::Goes => String::new(),
            Does::IfTag(argument, operation) => if_tag(&text[begin..end], kind, argument, operation, condition),
            Does::IfRemembered => if_remembered(&text[begin..end], kind),
            Does::IfProcessTag(argument) => process::if_tag(&text[begin..end], kind, argument, condition),
            Does::IfProcess { argument, forgets } => {
                let all = process::clauses(&text, kind, probe, (begin, end));
                end = all.end;
                process::if_remembered(&text[all], kind, argument, forgets)
            }
        };
        text.replace_range(begin..end, &clause);
    }
    match (kind, between) {
        (TracerKind::Bpftrace, Between::Remembered | Between::Process) if !text.contains(KEYS) => {
            text = text.replacen("config = {\n", &format!("config = {{\n{KEYS}"), 1);
        }
        (TracerKind::Bpftrace | TracerKind::Dtrace, _) => {}
        (TracerKind::Stap, _) => {
            text += &condition.for_stap();
            if between != Between::ByEntry {
                text += "\nglobal dyntrace_tagged[16384]\n";
            }
        }
    }
    text
}

/// Where the clause of the probe is in the script, from its name to behind its body.
pub fn clause(text: &str, kind: TracerKind, probe: &str) -> Option<(usize, usize)> {
    let name = match kind {
        TracerKind::Bpftrace => format!("\nusdt:$1:dyntrace:{probe}\n"),
        TracerKind::Dtrace => format!("\ndyntrace$target:::{}\n", probe.replace("__", "-")),
        TracerKind::Stap => format!("\nprobe process(@1).mark(\"{probe}\")\n"),
    };
    let begin = text.find(&name)? + 1;
    let end = begin + text[begin..].find("\n}\n")? + "\n}\n".len();
    Some((begin, end))
}

fn if_tag(clause: &str, kind: TracerKind, argument: usize, operation: Operation, condition: &Condition<'_>) -> String {
    match kind {
        TracerKind::Bpftrace => {
            let decides = condition.for_bpftrace(&format!("arg{argument}"));
            let first = match operation {
                Operation::Untouched => decides,
                Operation::Remembered => decides + "\t@dyntrace_tagged[pid, arg0, arg1] = 1;\n",
                Operation::Forgotten => "\t_ = delete(@dyntrace_tagged, (pid, arg0, arg1));\n".to_owned() + &decides,
            };
            clause.replacen("\n{\n", &format!("\n{{\n{first}"), 1)
        }
        TracerKind::Dtrace => {
            let decides = condition.for_dtrace(&format!("arg{argument}"));
            let remembers = match operation {
                Operation::Untouched => "",
                Operation::Remembered => "\tdyntrace_tagged[pid, arg0, arg1] = this->dyntrace_is;\n",
                Operation::Forgotten => "\tdyntrace_tagged[pid, arg0, arg1] = 0;\n",
            };
            let name = clause.lines().next().unwrap_or_default();
            let predicate = clause.replacen("\n{\n", "\n/this->dyntrace_is/\n{\n", 1);
            format!("{name}\n{{\n{decides}{remembers}}}\n\n{predicate}")
        }
        TracerKind::Stap => {
            let decides = format!("\tif (!dyntrace_is(user_string2($arg{}, \"\"))) next\n", argument + 1);
            let first = match operation {
                Operation::Untouched => decides,
                Operation::Remembered => decides + "\tdyntrace_tagged[pid(), $arg1, $arg2] = 1\n",
                Operation::Forgotten => "\tdelete dyntrace_tagged[pid(), $arg1, $arg2]\n".to_owned() + &decides,
            };
            behind_other_process(clause, &first)
        }
    }
}

fn if_remembered(clause: &str, kind: TracerKind) -> String {
    match kind {
        TracerKind::Bpftrace => clause.replacen("\n{\n", "\n/has_key(@dyntrace_tagged, (pid, arg0, arg1))/\n{\n", 1),
        TracerKind::Dtrace => clause.replacen("\n{\n", "\n/dyntrace_tagged[pid, arg0, arg1]/\n{\n", 1),
        TracerKind::Stap => behind_other_process(clause, "\tif (!([pid(), $arg1, $arg2] in dyntrace_tagged)) next\n"),
    }
}

/// A clause for SystemTap with `first` as its first statements for the traced process.
pub fn behind_other_process(clause: &str, first: &str) -> String {
    const NOT_THIS: &str = "\tif (other_process()) next\n";
    clause.replacen(NOT_THIS, &format!("{NOT_THIS}{first}"), 1)
}

#[cfg(test)]
mod tests {
    use dyntrace::recorder::Glob;
    use dyntrace::scripts;
    use dyntrace_build::model::Provider;

    use super::super::TAGGED;
    use super::*;
    use crate::script::shipped_text;

    fn provider() -> Provider {
        dyntrace_build::parse(scripts::PROVIDER_D, "provider.d").unwrap()
    }

    /// The probes of the script with a user tag, and its position.
    fn tags(provider: &Provider, script: &scripts::Script) -> Vec<(String, usize)> {
        let has_clause = |name: &str| clause(script.bt, TracerKind::Bpftrace, name).is_some();
        let position = |probe: &dyntrace_build::model::Probe| {
            let at = probe.arguments.iter().position(|argument| argument.name == "user_tag")?;
            Some((probe.name.clone(), at))
        };
        provider.probes.iter().filter(|probe| has_clause(&probe.name)).filter_map(position).collect()
    }

    #[test]
    fn every_script_with_user_tags_and_no_other() {
        let provider = provider();
        for script in scripts::ALL {
            let is_listed = TAGGED.iter().any(|tagged| tagged.script == script.name);
            assert_eq!(is_listed, !tags(&provider, script).is_empty(), "{}", script.name);
        }
    }

    #[test]
    fn every_clause_has_its_condition_in_every_language() {
        let provider = provider();
        let glob = Glob::from("a\"*b*c");
        let condition = Condition::new(&glob, TracerKind::Dtrace).unwrap();
        for tagged in &TAGGED {
            let script = scripts::find(tagged.script).unwrap();
            let tags = tags(&provider, script);
            for kind in [TracerKind::Bpftrace, TracerKind::Dtrace, TracerKind::Stap] {
                let text = put_into(shipped_text(script, kind), kind, tagged.between, &condition);
                let told = |probe: &str| {
                    let (begin, end) = clause(&text, kind, probe)?;
                    Some(text[begin..end].contains(if kind == TracerKind::Stap { "dyntrace_is" } else { "a\\\"" }))
                };
                assert_eq!(told(WITHOUT), None, "{} for {kind}", script.name);
                for Change { probe, does } in changes(tagged.between) {
                    if let (Does::IfTag(argument, _), Some((_, at))) =
                        (does, tags.iter().find(|(name, _)| name == probe))
                    {
                        assert_eq!(argument, *at, "{probe}");
                        assert_eq!(told(probe), Some(true), "{} for {kind}: {probe}", script.name);
                    }
                }
                if tagged.between == Between::Remembered {
                    assert_eq!(
                        text.matches("dyntrace_tagged").count(),
                        if kind == TracerKind::Stap { 5 } else { 4 },
                        "{text}"
                    );
                }
            }
        }
    }

    /// The clauses of `efile_drv` for SystemTap with nothing of the script in them.
    #[test]
    fn clauses_for_systemtap() {
        let glob = Glob::from("req-*");
        let condition = Condition::new(&glob, TracerKind::Stap).unwrap();
        let script = scripts::find("efile_drv").unwrap().stap;
        let text = put_into(script, TracerKind::Stap, Between::Remembered, &condition);
        let lines: Vec<&str> = script.lines().collect();
        let added: Vec<&str> = text.lines().filter(|line| !lines.contains(line)).collect();
        let expected = "\tif (!dyntrace_is(user_string2($arg3, \"\"))) next
\tdyntrace_tagged[pid(), $arg1, $arg2] = 1
\tif (!([pid(), $arg1, $arg2] in dyntrace_tagged)) next
\tif (!([pid(), $arg1, $arg2] in dyntrace_tagged)) next
\tdelete dyntrace_tagged[pid(), $arg1, $arg2]
\tif (!dyntrace_is(user_string2($arg3, \"\"))) next
function dyntrace_is:long(tag:string)
\tif (substr(tag, 0, 4) != \"req-\") return 0
\ttag = substr(tag, 4, strlen(tag))
\treturn 1
global dyntrace_tagged[16384]";
        assert_eq!(added.join("\n"), expected);
    }
}
