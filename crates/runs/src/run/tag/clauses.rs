//! Puts the condition on user tags into the clauses of a script, by the arguments that `provider.d` gives their probes.
//!
//! Of an operation's events only its entry and return have the tag, of a process's only its spawn. A script remembers operations in
//! flight and processes that began with a matching tag, for their other events.

use std::collections::HashSet;

use dyntrace_build::model::Probe;
use dyntrace_programs::provider::Providers;

use crate::script::{Clause, with_clauses};
use crate::tracer::TracerKind;

use super::condition::Condition;

/// The script that shows each event of an operation by itself. Others show only operations of which they have seen the entry.
const SHOWS_ALL: &str = "efile_drv";

/// How events of a probe are selected. Without tag and subject, they are left out.
#[derive(Clone)]
pub struct Rule {
    pub probe: String,
    /// The position of the user tag among its arguments.
    pub tag: Option<usize>,
    subject: Option<Subject>,
    /// Whether it is the subject's last event.
    is_last: bool,
}

/// An operation or process whose events are selected together.
#[derive(Clone, Copy)]
enum Subject {
    /// By the first two arguments.
    Operation,
    /// By the argument at this position.
    Process(usize),
}

impl Rule {
    /// Those of dyntrace's probes for this script.
    pub fn all(script: &str) -> anyhow::Result<Vec<Rule>> {
        let providers = Providers::with(&[])?;
        let probes = providers.get("dyntrace").map_or(&[][..], |provider| &provider.probes);
        Ok(probes.iter().filter_map(|probe| Rule::of(probe, script)).collect())
    }

    /// `None`: the script's clauses of this probe do nothing without an event that they follow.
    fn of(probe: &Probe, script: &str) -> Option<Rule> {
        let position = |name| probe.arguments.iter().position(|argument| argument.name == name);
        let (group, event) = probe.name.split_once("__")?;
        let subject = match (group, event) {
            ("efile_drv", _) if script == SHOWS_ALL => Some(Subject::Operation),
            ("efile_drv", "entry") => None,
            ("efile_drv", _) | ("blocking", "get" | "done") => return None,
            ("process" | "blocking", _) => position("proc").map(Subject::Process),
            _ => None,
        };
        let is_last = matches!(event, "return" | "exit");
        Some(Rule { probe: probe.name.clone(), tag: position("user_tag"), subject, is_last })
    }

    /// Statements that let a clause go on if its event is selected. For DTrace they set `this->dyntrace_is`.
    fn statements(&self, kind: TracerKind, condition: &Condition<'_>) -> String {
        let key = self.subject.map(|subject| subject.key(kind)).unwrap_or_default();
        let decides = match (self.tag, kind) {
            (Some(at), TracerKind::Bpftrace) => condition.for_bpftrace(&format!("arg{at}")),
            (Some(at), TracerKind::Dtrace) => condition.for_dtrace(&format!("arg{at}")),
            (Some(at), TracerKind::Stap) => format!("\tif (!dyntrace_is(user_string2($arg{}, \"\"))) next\n", at + 1),
            (None, TracerKind::Bpftrace) => format!("\tif (!has_key(@dyntrace_tagged, ({key}))) {{ return; }}\n"),
            (None, TracerKind::Dtrace) => format!("\tthis->dyntrace_is = dyntrace_tagged[{key}];\n"),
            (None, TracerKind::Stap) => format!("\tif (!([{key}] in dyntrace_tagged)) next\n"),
        };
        let remembers = match (self.is_last, kind) {
            _ if self.subject.is_none() || (self.tag.is_none() && !self.is_last) => String::new(),
            (true, TracerKind::Bpftrace) => format!("\t_ = delete(@dyntrace_tagged, ({key}));\n"),
            (true, TracerKind::Dtrace) => format!("\tdyntrace_tagged[{key}] = 0;\n"),
            (true, TracerKind::Stap) => format!("\tdelete dyntrace_tagged[{key}]\n"),
            (false, TracerKind::Bpftrace) => format!("\t@dyntrace_tagged[{key}] = 1;\n"),
            (false, TracerKind::Dtrace) => format!("\tdyntrace_tagged[{key}] = this->dyntrace_is;\n"),
            (false, TracerKind::Stap) => format!("\tdyntrace_tagged[{key}] = 1\n"),
        };
        decides + &remembers
    }
}

impl Subject {
    /// The key of what the script remembers of it.
    fn key(self, kind: TracerKind) -> String {
        match (self, kind) {
            (Subject::Operation, TracerKind::Bpftrace | TracerKind::Dtrace) => "pid, arg0, arg1".to_owned(),
            (Subject::Operation, TracerKind::Stap) => "pid(), $arg1, $arg2".to_owned(),
            (Subject::Process(at), TracerKind::Bpftrace) => format!("pid, str(arg{at})"),
            (Subject::Process(at), TracerKind::Dtrace) => format!("pid, copyinstr(arg{at})"),
            (Subject::Process(at), TracerKind::Stap) => format!("pid(), user_string2($arg{}, \"\")", at + 1),
        }
    }
}

/// The script `text` in the language of `kind`, with the condition.
pub fn put_into(text: &str, kind: TracerKind, rules: &[Rule], condition: &Condition<'_>) -> String {
    let mut decided = HashSet::new();
    let mut with_condition = with_clauses(text, kind, |clause| {
        let probes = clause.probes(kind);
        let rules: Vec<&Rule> = rules.iter().filter(|rule| probes.contains(&rule.probe)).collect();
        if rules.is_empty() {
            return clause.with_first("");
        }
        if rules.iter().all(|rule| rule.tag.is_none() && rule.subject.is_none()) {
            return clause.before.to_owned();
        }
        let statements = |rule: &&Rule| rule.statements(kind, condition);
        if kind != TracerKind::Dtrace {
            let first: String = rules.iter().map(statements).collect();
            return clause.with_first(&format!("\n{}", first.trim_end()));
        }
        let deciding = rules
            .iter()
            .filter(|rule| decided.insert(rule.probe.clone()))
            .map(|rule| format!("dyntrace$target:::{}\n{{\n{}}}\n\n", rule.probe.replace("__", "-"), statements(rule)));
        let before = clause.before.to_owned() + &deciding.collect::<String>();
        let header = match clause.header.trim_end().split_once("\n/") {
            Some((probes, predicate)) => {
                format!("{probes}\n/({}) && this->dyntrace_is/\n", predicate.trim_end_matches('/'))
            }
            None => format!("{}\n/this->dyntrace_is/\n", clause.header.trim_end()),
        };
        Clause { before: &before, header: &header, ..clause }.with_first("")
    });
    if kind == TracerKind::Stap {
        with_condition += &condition.for_stap();
        if with_condition.contains("dyntrace_tagged") {
            with_condition += "\nglobal dyntrace_tagged[16384]\n";
        }
    }
    with_condition
}

#[cfg(test)]
mod tests {
    use dyntrace::recorder::Glob;
    use dyntrace::scripts;

    use super::super::takers;
    use super::*;
    use crate::script::shipped_text;

    fn with_condition(script: &scripts::Script, kind: TracerKind, glob: &str) -> String {
        let glob = Glob::from(glob);
        put_into(
            shipped_text(script, kind),
            kind,
            &Rule::all(script.name).unwrap(),
            &Condition::new(&glob, kind).unwrap(),
        )
    }

    /// The lines that the script has only with the condition.
    fn added(script: &str, kind: TracerKind) -> String {
        let script = scripts::find(script).unwrap();
        let text = with_condition(script, kind, "req-*");
        let lines: Vec<&str> = shipped_text(script, kind).lines().collect();
        text.lines().filter(|line| !lines.contains(line)).map(|line| format!("{line}\n")).collect()
    }

    #[test]
    fn scripts_with_user_tags() {
        let expected = [
            "blocking_pool", "efile_by_tag", "efile_drv", "efile_errors", "efile_latency", "spawn-exit",
            "task_latency", "task_waits", "user-probe",
        ];
        let rules = Rule::all(SHOWS_ALL).unwrap();
        assert_eq!(takers(&rules).map(|script| script.name).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_clause_has_its_condition_in_every_language() {
        for script in takers(&Rule::all(SHOWS_ALL).unwrap()) {
            let rules = Rule::all(script.name).unwrap();
            for &kind in TracerKind::ALL {
                let text = with_condition(script, kind, "a\"*b*c");
                with_clauses(&text, kind, |clause| {
                    let probes = clause.probes(kind);
                    let said = format!("{}{}", clause.header, clause.body);
                    for rule in rules.iter().filter(|rule| probes.contains(&rule.probe)) {
                        assert!(said.contains("dyntrace_"), "{} for {kind}: {said}", script.name);
                        assert!(rule.tag.is_some() || rule.subject.is_some(), "{} for {kind}: {said}", script.name);
                    }
                    String::new()
                });
            }
            let remembers = script.bt.contains("process__") || script.bt.contains("efile_drv__");
            assert_eq!(script.bt.contains("max_map_keys = 16384;"), remembers, "{}", script.name);
        }
    }

    #[test]
    fn clauses_for_systemtap() {
        let expected = "\tif (!dyntrace_is(user_string2($arg3, \"\"))) next
\tdyntrace_tagged[pid(), $arg1, $arg2] = 1
\tif (!([pid(), $arg1, $arg2] in dyntrace_tagged)) next
\tif (!([pid(), $arg1, $arg2] in dyntrace_tagged)) next
\tif (!dyntrace_is(user_string2($arg3, \"\"))) next
\tdelete dyntrace_tagged[pid(), $arg1, $arg2]
function dyntrace_is:long(tag:string)
\tif (substr(tag, 0, 4) != \"req-\") return 0
\ttag = substr(tag, 4, strlen(tag))
\treturn 1
global dyntrace_tagged[16384]
";
        assert_eq!(added("efile_drv", TracerKind::Stap), expected);
    }

    #[test]
    fn processes_are_remembered_until_they_exit() {
        let expected = "\tif (strncmp(str(arg4), \"req-\", 4) != 0) { return; }
\t@dyntrace_tagged[pid, str(arg0)] = 1;
\tif (!has_key(@dyntrace_tagged, (pid, str(arg0)))) { return; }
\t_ = delete(@dyntrace_tagged, (pid, str(arg0)));
";
        assert_eq!(added("spawn-exit", TracerKind::Bpftrace), expected);
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
            assert!(text.contains(&format!("\n/({had}) && this->dyntrace_is/")), "{had}: {text}");
        }
    }
}
