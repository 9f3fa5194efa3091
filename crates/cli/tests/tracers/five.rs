//! The D scripts where DTrace gives a script five arguments, as on macOS on Apple silicon.
//!
//! DTrace on Linux replaces that kernel: each script runs with 0 for the arguments that it would not get there, and with conditions about
//! the system that are true there. On Linux the compiler chooses the registers of a probe's arguments: those in the program's notes
//! replace Apple's, or none does.

use std::collections::BTreeMap;

use crate::answers::FAILED_RENAME;
use crate::machine::{self, turn};
use crate::programs::{CONNECTIONS, MESSAGES, USER_PROBES, example, renamed, traced};
use crate::waits;

/// The text before a clause of a script.
const CLAUSE: &str = "dyntrace$target:::";

/// The lines of `efile_drv` on `rename_tagged`, of five arguments.
const RENAMED: &str = "\
efile_drv enter tag={1,1} user tag some-user-tag | RENAME (12) | args: old-name ? , ? ? (port ?)
async I/O worker tag={1,1} | RENAME (12) | efile_drv-int_entry
async I/O worker tag={1,1} | RENAME (12) | efile_drv-int_return
efile_drv return tag={1,1} user tag some-user-tag | RENAME (12) | errno ?
";

/// The line of `efile_errors` on `rename_tagged`, of five arguments.
const FAILED: &str = "\
efile_drv error tag={1,1} user tag some-user-tag | RENAME (12) | ? (?) | args: old-name ? , ? ?
";

/// The lines of `messages` on `every_event`, of five arguments.
const MESSAGES_OF_FIVE: &str = "\
send:    <0.1.0> label 1 token {2,?} -> <0.2.0>: 4000000000 words
send:    <0.1.0> label -1 token {?,?} -> <0.2.0> at node@host: 5 words
queued:  <0.2.0> label 1 token {2,?}: 5 words, queue len 1
receive: <0.2.0> label 0 token {0,?}: 5 words, queue len 0
";

/// The lines of `user-probe` on `every_event`, of five arguments.
const USER_PROBES_OF_FIVE: &str = "\
user_trace s1 | hello, world
user_trace s1 | 
user_trace i4s4 <0.1.0> user tag  | 0 0 0 ? | ? | ? | ? | ?
user_trace i4s4 <0.1.0> user tag req-1 | 1 -2 9223372036854775807 ? | ? | ? | ? | ?
";

/// The content of the registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Registers {
    /// Not the arguments.
    Unknown,
    /// The arguments.
    Arguments,
}

/// `text` with `with` instead of the word `word`.
fn replace_word(text: &str, word: &str, with: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut replaced = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(word) {
        let (before, after) = (&rest[..at], &rest[at + word.len()..]);
        let stands_alone = !before.ends_with(is_part) && !after.starts_with(is_part);
        replaced += before;
        replaced += if stands_alone { with } else { word };
        rest = after;
    }
    replaced + rest
}

/// A D expression for each argument of each probe of `program`, by the register in its note.
fn registers(program: &str) -> BTreeMap<String, Vec<String>> {
    let notes = machine::stdout(machine::command("readelf").arg("-nW").arg(example(program)));
    let after = |line: &str, label: &str| line.trim().strip_prefix(label).map(|rest| rest.trim().to_owned());
    let mut registers = BTreeMap::new();
    let mut probe = String::new();
    for line in notes.lines() {
        if let Some(name) = after(line, "Name:") {
            probe = name.replace("__", "-");
        } else if let Some(operands) = after(line, "Arguments:") {
            registers.insert(probe.clone(), operands.split_whitespace().map(register).collect());
        }
    }
    registers
}

/// The value of an operand such as `-4@%edi`. The upper half of the register is undefined.
fn register(operand: &str) -> String {
    let (size, name) = operand.split_once("@%").expect("an argument in a register");
    let number = name.strip_prefix('r').map(|name| name.trim_end_matches('d'));
    let whole = match number {
        Some(number) if number.parse::<u8>().is_ok() => format!("R{number}"),
        _ => format!("R{}", name[1..].to_uppercase()),
    };
    let cast = match size {
        "-4" => "(int64_t)(int)",
        "4" => "(int64_t)(uint32_t)",
        _ => "(int64_t)",
    };
    format!("({cast}uregs[R_{whole}])")
}

/// The shipped script on a system with five arguments.
fn with_five(name: &str, program: &str, of: Registers) -> String {
    let script = std::fs::read_to_string(machine::workspace().join(format!("d-scripts/{name}.d"))).expect("a script");
    let mut parts = script.split(CLAUSE);
    let head = parts.next().unwrap_or_default();
    let inlines: Vec<(&str, &str)> = head
        .split(";\n")
        .filter_map(|statement| statement.rsplit_once("inline ")?.1.split_once(" = "))
        .map(|(declared, value)| (declared.split_once(' ').expect("a type and a name").1, value))
        .collect();
    let notes = registers(program);
    let mut changed = head.to_owned();
    for clause in parts {
        let probe = clause.split(|c: char| c.is_whitespace() || c == ',').next().unwrap_or_default();
        let mut clause = clause.to_owned();
        if of == Registers::Arguments
            && let Some(registers) = notes.get(probe)
        {
            // Probes differ in their registers, so each clause has its own text.
            for (word, value) in inlines.iter().rev() {
                clause = replace_word(&clause, word, &format!("({value})"));
            }
            for (number, register) in registers.iter().enumerate() {
                clause = clause.replace(&format!("uregs[{number}]"), register);
            }
        }
        changed += &(CLAUSE.to_owned() + &clause);
    }
    for beyond in 5..10 {
        changed = replace_word(&changed, &format!("arg{beyond}"), "0");
    }
    // The system is macOS, and not Linux.
    let (no, yes) = ("ECANCELED == 0", "ECANCELED == 125");
    changed.replace("ECANCELED == 125", no).replace("ECANCELED == 89", yes)
}

/// The trace of a shipped script, and the program's output.
fn trace(name: &str, program: &str, of: Registers) -> (String, String) {
    let folder = tempfile::tempdir().expect("a directory for the script");
    let path = folder.path().join(format!("{name}.d"));
    std::fs::write(&path, with_five(name, program, of)).expect("writing the script");
    traced("dtrace", &path.display().to_string(), program, &[])
}

/// Its lines, sorted, since DTrace writes a buffer for each processor.
fn lines(name: &str, program: &str, of: Registers) -> Vec<String> {
    sorted(&trace(name, program, of).0)
}

fn sorted(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    lines.sort_unstable();
    lines
}

#[test]
fn unavailable_values_are_marked() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let lines = |name, program| lines(name, program, Registers::Unknown);
    assert_eq!(lines("efile_drv", "rename_tagged"), sorted(RENAMED));
    assert_eq!(lines("efile_errors", "rename_tagged"), sorted(FAILED));
    assert_eq!(lines("messages", "every_event"), sorted(MESSAGES_OF_FIVE));
    assert_eq!(lines("user-probe", "every_event"), sorted(USER_PROBES_OF_FIVE));
    assert_eq!(lines("dist", "every_event"), sorted(CONNECTIONS));
    let by_tag = lines("efile_by_tag", "rename_tagged");
    assert!(by_tag.iter().any(|line| line.starts_with("command") && line.contains(" bytes: ? ")), "{by_tag:?}");
    // The ends of waits, without their places.
    let ends = lines("task_waits", "known_waits");
    let ends: Vec<_> = ends.iter().filter(|line| line.ends_with(" | ?")).collect();
    assert_eq!(ends.len(), 4, "{ends:?}");
    assert!(ends.iter().all(|line| line.contains(" -")), "{ends:?}");
}

#[test]
fn the_registers_have_the_rest() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let lines = |name, program| lines(name, program, Registers::Arguments);
    assert_eq!(lines("efile_drv", "rename_tagged"), sorted(&renamed("#Port<0.1>")));
    assert_eq!(lines("efile_errors", "rename_tagged"), sorted(FAILED_RENAME));
    assert_eq!(lines("messages", "every_event"), sorted(MESSAGES));
    assert_eq!(lines("user-probe", "every_event"), sorted(USER_PROBES));
    let by_tag = lines("efile_by_tag", "rename_tagged");
    assert!(by_tag.iter().any(|line| line.starts_with("command") && line.contains(" bytes ")), "{by_tag:?}");
    let (waits, said) = trace("task_waits", "known_waits", Registers::Arguments);
    waits::task_waits(&waits, &said);
}
