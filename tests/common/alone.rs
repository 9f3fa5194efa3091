//! A test that has a program of its own, where the table of tasks is the whole program's.

use std::env;
use std::process::Command;

const CHILD: &str = "DYNTRACE_TEST_CHILD";

/// Runs the test `child` of this program in another one, with a runtime folder of its own. It must print `done`.
pub fn run_child(done: &str) {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap());
    child.args(["--exact", "child", "--nocapture"]).env(CHILD, "1").env("XDG_RUNTIME_DIR", folder.path());
    let output = child.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains(done), "{said}{}", String::from_utf8_lossy(&output.stderr));
}

/// Whether this is that program.
pub fn is_child() -> bool {
    env::var_os(CHILD).is_some()
}
