//! Names and user tags that would harm a terminal or a trace: what a user sees of them.

use std::process::Output;

use crate::machine::command;
use crate::programs::example;

/// What `dyntrace run` shows of the program, whose five renames all fail, and that the program's exit status is kept.
/// `long` is how this tracer shows a name of 64 KiB.
pub fn check(tracer: &str, port: &str, long: &str) {
    let mut run = command(env!("CARGO_BIN_EXE_dyntrace"));
    run.args(["run", "--tracer", tracer, "efile_drv", "--"]).arg(example("hostile_names"));
    let Output { status, stdout, stderr } = run.output().expect("dyntrace starts");
    assert_eq!(status.code(), Some(7), "{tracer}: {}", String::from_utf8_lossy(&stderr));

    let forged = r"one\x0atwo >\x0aefile_drv return tag={1,1} user tag  | RENAME (12) | errno 0\x0a";
    let red = r"\x1b[31mred\x1b[m";
    let bell = r"\x07bell\x09tab\x0dreturn\x7f";
    // Tags are UTF-8 when they are made, and end within 511 bytes at a character.
    let long_tag = "ä".repeat(255);
    let names = [
        (forged, forged, 2),
        (red, red, 2),
        ("no \u{fffd}\u{fffd} UTF-8", r"no \xff\xfe UTF-8", 2),
        (bell, bell, 2),
        (&long_tag, long, 36),
    ];
    let mut expected = Vec::new();
    for (number, (tag, name, errno)) in (1..).zip(names) {
        let (id, tag) = (format!("tag={{1,{number}}}"), format!("user tag {tag} | RENAME (12)"));
        expected.extend([
            format!("efile_drv enter {id} {tag} | args: {name} {name} , 0 0 (port {port})"),
            format!("async I/O worker {id} | RENAME (12) | efile_drv-int_entry"),
            format!("async I/O worker {id} | RENAME (12) | efile_drv-int_return"),
            format!("efile_drv return {id} {tag} | errno {errno}"),
        ]);
    }
    let seen = String::from_utf8(stdout).expect("dyntrace prints UTF-8");
    let mut seen: Vec<&str> = seen.lines().collect();
    // DTrace writes one buffer for each processor.
    seen.sort_unstable();
    expected.sort_unstable();
    assert_eq!(seen, expected, "{tracer}");
}
