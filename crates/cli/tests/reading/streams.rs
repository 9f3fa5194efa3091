//! Standard output and standard error that cannot be written: no command panics.

use std::fs::File;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::storm;

/// Where standard output goes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Out {
    Fine,
    Full,
    /// A pipe without a reader.
    Gone,
    Closed,
}

fn run(arguments: &[&str], folder: &Path, out: Out, err: Out) -> Output {
    let closed = match (out, err) {
        (Out::Closed, Out::Closed) => "exec \"$0\" \"$@\" >&- 2>&-",
        (Out::Closed, _) => "exec \"$0\" \"$@\" >&-",
        (_, Out::Closed) => "exec \"$0\" \"$@\" 2>&-",
        _ => "exec \"$0\" \"$@\"",
    };
    let to = |out| match out {
        Out::Fine | Out::Closed => Stdio::piped(),
        Out::Full => File::options().write(true).open("/dev/full").unwrap().into(),
        Out::Gone => io::pipe().unwrap().1.into(),
    };
    let mut command = Command::new("sh");
    command.args(["-c", closed, env!("CARGO_BIN_EXE_dyntrace")]).args(arguments);
    command.current_dir(folder).stdin(Stdio::null()).stdout(to(out)).stderr(to(err)).output().unwrap()
}

#[test]
fn no_command_panics_where_nobody_reads() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace");
    storm::write(&trace, 100, 3);
    // It also writes a line to standard error.
    std::fs::write(trace.join("ring-9"), "damaged").unwrap();
    let this = env!("CARGO_BIN_EXE_dyntrace");
    // The arguments, and whether the command must fail if standard output is full.
    let commands: [(&[&str], bool); 18] = [
        (&["view", "trace"], true),
        (&["view", "trace", "--json"], true),
        (&["view", "trace", "--csv"], true),
        (&["view", "trace", "--script", "efile_latency"], true),
        (&["recover", "trace", "-o", "OUT"], true),
        (&["recover", "trace", "-o", "OUT", "--json"], true),
        (&["diff", "trace", "trace"], true),
        (&["diff", "trace", "trace", "--json"], true),
        (&["report", "trace", "-o", "OUT"], false),
        (&["convert", "trace", "--to", "perfetto", "-o", "OUT"], false),
        (&["convert", "trace", "--to", "otlp", "-o", "OUT"], false),
        (&["status"], true),
        (&["status", "--json"], true),
        (&["list", this], false),
        (&["doctor"], true),
        (&["completions", "bash"], true),
        (&["demo"], true),
        (&["--help"], false),
    ];
    let mut number = 0;
    for (arguments, must_fail) in commands {
        let mut run = |out, err| {
            number += 1;
            let output = format!("out-{number}");
            let arguments: Vec<&str> =
                arguments.iter().map(|&word| if word == "OUT" { output.as_str() } else { word }).collect();
            let ran = run(&arguments, folder.path(), out, err);
            let said = String::from_utf8_lossy(&ran.stderr).into_owned();
            let code = ran.status.code();
            assert!(
                code.is_some_and(|code| code != 101) && !said.contains("panicked"),
                "{arguments:?} {out:?}: {ran:?}"
            );
            (code, said)
        };
        let (fine, _) = run(Out::Fine, Out::Fine);
        assert_eq!(run(Out::Closed, Out::Fine).0, fine, "{arguments:?}");
        assert_eq!(run(Out::Fine, Out::Gone).0, fine, "{arguments:?}");
        assert_eq!(run(Out::Fine, Out::Full).0, fine, "{arguments:?}");
        assert_eq!(run(Out::Fine, Out::Closed).0, fine, "{arguments:?}");
        let (full, said) = run(Out::Full, Out::Fine);
        let (gone, _) = run(Out::Gone, Out::Fine);
        if must_fail {
            assert_eq!((full, gone), (Some(1), Some(0)), "{arguments:?}: {said}");
            assert!(said.contains("No space left"), "{arguments:?}: {said}");
        }
        run(Out::Full, Out::Full);
        run(Out::Closed, Out::Closed);
    }
}
