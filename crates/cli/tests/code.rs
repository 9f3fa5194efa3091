//! `dyntrace code` on processes that load no code, and wrong use. Loading is tested where modules are built.
#![cfg(target_os = "linux")]

use std::process::{Command, Output};

fn code(arguments: &[&str]) -> (Option<i32>, String) {
    let output: Output = Command::new(env!("CARGO_BIN_EXE_dyntrace")).arg("code").args(arguments).output().unwrap();
    assert!(output.stdout.is_empty(), "{output:?}");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_process_that_loads_no_code_says_how_it_would() {
    dyntrace::recorder::control().unwrap();
    let own = std::process::id().to_string();
    for action in [&["list"][..], &["load", "x.so"], &["purge", "tax", "--soft"], &["history", "--json"]] {
        let (status, error) = code(&[&["-p", own.as_str()], action].concat());
        assert_eq!(status, Some(1), "{error}");
        assert!(error.contains("it loads no code: have it call dyntrace::code::allow("), "{error}");
    }
}

#[test]
fn wrong_use() {
    for (arguments, status, why) in [
        (&["list"][..], 2, "--pid"),
        (&["-p", "1"], 2, "requires a subcommand"),
        (&["-p", "1", "load"], 2, "<FILE>"),
        (&["-p", "1", "purge"], 2, "<MODULE>"),
        (&["-p", "4294967295", "list"], 65, "4294967295"),
    ] {
        let (code, error) = code(arguments);
        assert_eq!(code, Some(status), "{error}");
        assert!(error.contains(why), "{error}");
    }
}
