//! The events that DTrace 2 saw in programs with DOF: the output of the guest of `ci/dof`, which runs this test.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::PathBuf;

use dyntrace::efile::Command;

use crate::answers::{self, SIZES};
use crate::events::{self, Order};
use crate::pool;
use crate::programs::{CONNECTIONS, Done, MESSAGES, USER_PROBES, done};

/// The folder with the output; `None`, after a note, if `ci/dof` does not run this test.
fn answers() -> Option<PathBuf> {
    let folder = env::var_os("DYNTRACE_DOF_ANSWERS").map(PathBuf::from);
    if folder.is_none() {
        crate::missing::skip("dof", "ci/dof makes the answers that this looks at");
    }
    folder
}

struct Answers(PathBuf);

impl Answers {
    fn of(&self, name: &str) -> String {
        let path = self.0.join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    fn sorted(&self, name: &str) -> Vec<String> {
        let mut lines: Vec<String> = self.of(name).lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    }

    fn number(&self, name: &str) -> u32 {
        self.of(name).trim().parse().unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

/// The lines without the empty ones that DTrace adds.
fn lines(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty()).map(|line| format!("{line}\n")).collect()
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn every_script_by_wildcard_before_and_after() {
    let Some(answers) = answers().map(Answers) else { return };
    for (when, sizes) in [("before", SIZES[0]), ("after", SIZES[1])] {
        let trace = |script: &str| lines(&answers.of(&format!("{when}-{script}.trace")));
        let done = done(&answers.of(&format!("storm-{when}.out")));
        events::check(&trace("efile_drv"), &done, Order::PerProcessor, |port| port == "?");
        answers::errors(&trace("efile_errors"), &done);
        answers::latency(&trace("efile_latency"), &done);
        answers::by_tag(&trace("efile_by_tag"), &done, sizes);
        pool::check(&trace("aio_pool"), &done);
        answers::message_latency(&trace("message_latency"), &answers.of(&format!("pipeline-{when}.out")));
        assert_eq!(sorted(&trace("messages")), sorted(MESSAGES), "{when}");
        assert_eq!(sorted(&trace("dist")), sorted(CONNECTIONS), "{when}");
        assert_eq!(sorted(&trace("user-probe")), sorted(USER_PROBES.trim_end()), "{when}");
        for script in dyntrace::scripts::ALL.iter().map(|script| script.name) {
            let said = answers.of(&format!("{when}-{script}.trace.err"));
            assert!(!said.contains("error") && !said.contains("drop"), "{when}, {script}: {said}");
        }
    }
}

/// The sites also have notes, which DTrace reads with -p: each firing still is one event. Its script reads the port from the stack.
#[test]
fn a_process_with_notes_and_dof_fires_once() {
    let Some(answers) = answers().map(Answers) else { return };
    let done = done(&answers.of("storm-by-process.out"));
    events::check(&lines(&answers.of("by-process.trace")), &done, Order::PerProcessor, events::port);
}

#[test]
fn two_processes_at_once() {
    let Some(answers) = answers().map(Answers) else { return };
    let trace = answers.of("two.trace");
    let processes = answers.of("two.processes");
    for (process, name) in processes.split_whitespace().zip(["first.out", "second.out"]) {
        let said = done(&answers.of(name));
        let of_command = |number: &str| {
            let number: i32 = number.parse().expect("the number of a command");
            let command = Command::ALL.iter().find(|command| command.number() == number);
            command.expect("a command of the table").name().to_owned()
        };
        let (mut returned, mut begun, mut ended) = (Done::new(), BTreeMap::new(), BTreeMap::new());
        for line in trace.lines() {
            match line.split_whitespace().collect::<Vec<_>>()[..] {
                ["return", pid, command, success, count] if pid == process => {
                    let both: &mut (u64, u64) = returned.entry(of_command(command)).or_default();
                    let count: u64 = count.parse().expect("a count");
                    if success == "1" { both.0 = count } else { both.1 = count }
                }
                ["int", pid, probe, command, count] if pid == process => {
                    let counts = if probe == "efile_drv-int_entry" { &mut begun } else { &mut ended };
                    counts.insert(of_command(command), count.parse::<u64>().expect("a count"));
                }
                _ => {}
            }
        }
        assert_eq!(returned, said, "{name}");
        let works: BTreeMap<String, u64> = said.into_iter().map(|(name, (ok, failed))| (name, ok + failed)).collect();
        assert_eq!((&begun, &ended), (&works, &works), "{name}");
    }
}

#[test]
fn the_probes_are_listed_with_their_types() {
    let Some(answers) = answers().map(Answers) else { return };
    let list = answers.of("list");
    let mut types: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut probe = "";
    for line in list.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        if let [number, provider, _, _, name] = words[..]
            && number.parse::<u32>().is_ok()
        {
            probe = name;
            if provider.starts_with("dyntrace") {
                assert!(types.insert(probe, Vec::new()).is_none(), "{probe} twice: {list}");
            }
        } else if let Some((_, ty)) = line.trim().strip_prefix("args[").and_then(|rest| rest.split_once("]: ")) {
            types.entry(probe).and_modify(|types| types.push(ty));
        }
    }
    let expected = defined();
    let all: Vec<&str> = expected.keys().map(String::as_str).collect();
    assert_eq!(types.keys().copied().collect::<Vec<_>>(), all, "{list}");
    for (probe, of_it) in types {
        let expected: Vec<String> = expected[probe].iter().take(of_it.len().max(10)).cloned().collect();
        assert_eq!(of_it, expected, "{probe}");
    }
    let second = format!("dof_v2{}", answers.number("program.process"));
    assert!(list.lines().any(|line| line.contains(&second) && line.ends_with("several-words-in-it")), "{list}");
}

/// The probes of provider.d, by their names in tools, and the types of their arguments.
fn defined() -> BTreeMap<String, Vec<String>> {
    let text = dyntrace::scripts::PROVIDER_D.lines().filter(|line| !line.trim_start().starts_with(['*', '/']));
    let text: String = text.collect::<Vec<_>>().join(" ");
    let probes = text.split("probe ").skip(1).map(|probe| probe.split(')').next().expect("the first part"));
    let of_probe = |probe: &str| {
        let (name, arguments) = probe.split_once('(').expect("arguments");
        let types = arguments.split(',').map(|argument| {
            let argument = argument.trim();
            let name = argument.rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_').expect("a type") + 1;
            argument[..name].trim().to_owned()
        });
        (name.replace("__", "-"), types.collect())
    };
    probes.map(of_probe).collect()
}

#[test]
fn one_program_step_by_step() {
    let Some(answers) = answers().map(Answers) else { return };
    let said = answers.of("program.out");
    let told: Vec<&str> = said.lines().map(|line| line.split(" child").next().expect("a part")).collect();
    let child = told.iter().find(|line| line.starts_with("child ") && !line.contains("ended")).expect("a child");
    let expected = [
        "status Registered",
        "status Registered",
        "elsewhere Ok(OtherThread)",
        "enabled false",
        "enabled true",
        "fired",
        "allowed",
        "loaded",
        "module Registered",
        "worked, enabled true",
        "unloaded true",
        "said after_unloading",
        "loaded",
        "module Registered",
        "worked, enabled true",
        child,
        "child ended 0",
        "said before_exec",
        "enabled false",
    ];
    assert_eq!(told, expected);

    let (least, most) = (i64::MIN, i64::MAX);
    let expected = format!(
        "entry -1 2 some-user-tag 12 old-name new-name -5 {most} 7 {least}\n\
         i4s4 <0.1.0> tag 1 -2 {most} {least} a b c d\n\
         second -7\n\
         s1 0-libdof_module.so from the module\n\
         s1 1-libdof_module.so from the module\n\
         s1 dof_program after_unloading\n\
         s1 dof_program before_exec"
    );
    // The child fired until DTrace saw it.
    let (in_child, fired): (Vec<String>, Vec<String>) =
        answers.sorted("program.trace").into_iter().partition(|line| line == "s1 dof_program from the child");
    assert_eq!(fired, sorted(&expected));
    assert!(!in_child.is_empty());

    let has_module = |name: &str| answers.of(name).contains("libdof_module.so");
    assert!(has_module("stash-loaded") && !has_module("stash-unloaded"), "the module's probes go with it");
    assert_eq!(answers.sorted("executed.trace"), ["s1 every_event ", "s1 every_event hello, world"]);
}

#[test]
fn programs_that_cannot_register_say_so_and_go_on() {
    let Some(answers) = answers().map(Answers) else { return };
    // EACCES.
    assert_eq!(answers.of("denied.out"), "status Refused(13)\n");
    assert_eq!(answers.of("gone.out"), "status NoDevice\n");
    // ENOTTY.
    assert_eq!(answers.of("refused.out"), "status Refused(25)\nenabled false\nsaid unheard\n");
}
