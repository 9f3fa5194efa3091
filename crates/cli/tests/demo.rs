//! `dyntrace demo`: the main job by the recorder, with nothing installed.
#![cfg(target_os = "linux")]

use std::process::{Command, Output};

const RENAMED: &str = "\
efile_drv enter tag={1,1} user tag some-user-tag | RENAME (12) | args: old-name new-name , 0 0 (port #Port<0.1>)
async I/O worker tag={1,1} | RENAME (12) | efile_drv-int_entry
async I/O worker tag={1,1} | RENAME (12) | efile_drv-int_return
efile_drv return tag={1,1} user tag some-user-tag | RENAME (12) | errno 2
";

/// Its standard output; standard error must be empty.
fn shown(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!((status.code(), String::from_utf8(stderr).unwrap()), (Some(0), String::new()));
    String::from_utf8(stdout).unwrap()
}

#[test]
fn it_records_shows_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let demo = shown(Command::new(env!("CARGO_BIN_EXE_dyntrace")).arg("demo").env("TMPDIR", folder.path()));
    assert!(demo.contains(RENAMED), "{demo}");
    assert!(demo.contains("user_trace i4s4 <0.1.0> user tag req-2 | 5 0 0 0 | greeting | done |  | \n"), "{demo}");
    for (command, outcome) in [("RENAME", "ENOENT"), ("WRITE_FILE", "ok"), ("PREADV", "ok"), ("DELETE", "ok")] {
        let row = |line: &str| line.starts_with(&format!("{command} ")) && line.ends_with(outcome);
        assert!(demo.lines().any(row), "{command}: {demo}");
    }
    // The user's own folder stays, for the next command.
    let left: Vec<_> = folder.path().read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    let [own] = left.as_slice() else { panic!("{left:?}") };
    assert_eq!(
        (own.file_name().unwrap().to_str(), own.read_dir().unwrap().count()),
        (Some(format!("dyntrace-run-{}", nix::unistd::geteuid()).as_str()), 0)
    );
}

#[test]
fn the_trace_can_be_kept() {
    let folder = tempfile::tempdir().unwrap();
    let dyntrace = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyntrace"));
        command.current_dir(folder.path());
        command
    };
    let demo = shown(dyntrace().args(["demo", "-o", "kept"]));
    assert!(demo.contains("dyntrace view kept --failed --json"), "{demo}");
    assert_eq!(
        shown(dyntrace().args(["view", "kept", "--tag", "some-*", "--failed"])),
        RENAMED.lines().last().unwrap().to_owned() + "\n"
    );
}
