//! Names and user tags that would harm a terminal or a trace.

use std::process::Output;

use crate::machine::command;
use crate::programs::example;

/// A failed rename of `hostile_names`: the name in a script's output, as a user tag and as a path, and the error.
struct Renamed {
    tag: String,
    name: String,
    errno: i32,
}

/// All of them. `long` is this tracer's output for a name of 64 KiB, `cut` for `text` of 4096 bytes.
fn renamed(long: &str, cut: impl Fn(&str) -> String) -> Vec<Renamed> {
    let forged = r"one\x0atwo >\x0aefile_drv return tag={1,1} user tag  | RENAME (12) | errno 0\x0a";
    let red = r"\x1b[31mred\x1b[m";
    let bell = r"\x07bell\x09tab\x0dreturn\x7f";
    let quotes = r#""two" 'one' `back` \n %s%n ${HOME}"#;
    let whole = "x".repeat(4096);
    // Tags are valid UTF-8, cut at a character within 511 bytes.
    let names = [
        (forged, forged, 2),
        (red, red, 2),
        ("no \u{fffd}\u{fffd} UTF-8", r"no \xff\xfe UTF-8", 2),
        (bell, bell, 2),
        (&"ä".repeat(255), long, 36),
        (quotes, quotes, 2),
        (&whole[..511], &cut(&whole), 36),
    ];
    names.map(|(tag, name, errno)| Renamed { tag: tag.to_owned(), name: name.to_owned(), errno }).into()
}

/// The output of `dyntrace run`, which must return the program's exit status.
fn shown(tracer: &str, script: &str) -> String {
    let mut run = command(env!("CARGO_BIN_EXE_dyntrace"));
    run.args(["run", "--tracer", tracer, script, "--"]).arg(example("hostile_names"));
    let Output { status, stdout, stderr } = run.output().expect("dyntrace starts");
    assert_eq!(status.code(), Some(7), "{tracer}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("dyntrace prints UTF-8")
}

/// Every script of the file driver that shows names or tags. The tracer shows names like [`renamed`].
pub fn check(tracer: &str, port: &str, long: &str, cut: impl Fn(&str) -> String) {
    let all = renamed(long, cut);
    let mut lines = Vec::new();
    for (number, Renamed { tag, name, errno }) in (1..).zip(&all) {
        let (id, tag) = (format!("tag={{1,{number}}}"), format!("user tag {tag} | RENAME (12)"));
        lines.extend([
            format!("efile_drv enter {id} {tag} | args: {name} {name} , 0 0 (port {port})"),
            format!("async I/O worker {id} | RENAME (12) | efile_drv-int_entry"),
            format!("async I/O worker {id} | RENAME (12) | efile_drv-int_return"),
            format!("efile_drv return {id} {tag} | errno {errno}"),
        ]);
    }
    same_lines(tracer, &shown(tracer, "efile_drv"), lines);

    same_lines(tracer, &shown(tracer, "efile_errors"), errors(&all).collect());

    let table = shown(tracer, "efile_by_tag");
    let tags: Vec<&str> = table.lines().skip(1).map(tag_of_one_error).collect();
    same_lines(tracer, &tags.join("\n"), all.into_iter().map(|renamed| renamed.tag).collect());
}

/// `efile_errors` under SystemTap without `dyntrace run`, which would escape unprintable characters: nothing is lost.
pub fn check_raw(trace: &[u8]) {
    let trace: String =
        trace.utf8_chunks().flat_map(|chunk| [escaped(chunk.valid()), hexadecimal(chunk.invalid())]).collect();
    // 510 bytes, also of tags.
    let mut all = renamed(&"ä".repeat(255), |text| text[..510].to_owned());
    all.iter_mut().for_each(|renamed| renamed.tag.truncate(510));
    assert_eq!(trace, errors(&all).map(|line| line + r"\x0a").collect::<String>());
}

fn escaped(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { hexadecimal(&[c as u8]) } else { c.to_string() }).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect()
}

/// The lines of `efile_errors`.
fn errors(all: &[Renamed]) -> impl Iterator<Item = String> {
    (1..).zip(all).map(|(number, Renamed { tag, name, errno })| {
        let error = if *errno == 2 { "ENOENT" } else { "ENAMETOOLONG" };
        format!(
            "efile_drv error tag={{1,{number}}} user tag {tag} | RENAME (12) | {error} ({errno}) | args: {name} {name} , 0 0"
        )
    })
}

/// The tag at the end of a line of `efile_by_tag`, which may contain blanks.
fn tag_of_one_error(line: &str) -> &str {
    let (numbers, tag) = line.split_at_checked(63).unwrap_or_else(|| panic!("{line:?}"));
    let numbers: Vec<&str> = numbers.split_whitespace().collect();
    assert_eq!(numbers[..4], ["RENAME", "1", "1", "0"], "{line:?}");
    tag
}

/// In any order, since DTrace writes a buffer for each processor.
fn same_lines(tracer: &str, seen: &str, mut expected: Vec<String>) {
    let mut seen: Vec<&str> = seen.lines().collect();
    seen.sort_unstable();
    expected.sort_unstable();
    assert_eq!(seen, expected, "{tracer}");
}
