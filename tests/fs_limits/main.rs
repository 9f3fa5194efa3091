//! Limits of the process and the machine. Each test runs in a process of its own.

use std::io;
use std::path::Path;
use std::process::Command;

mod allowed;
#[cfg(target_os = "linux")]
mod asked;
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod broken_disk;
mod fork;
#[path = "../common/forked.rs"]
mod forked;

#[cfg(target_os = "linux")]
mod full_disk;
#[path = "../common/missing.rs"]
mod missing;
mod sizes;

const INSIDE: &str = "DYNTRACE_TEST_INSIDE";

/// Runs the test of this name again in a process changed by `prepare`; returns true in that process.
fn inside(test: &str, prepare: impl FnOnce(&Path) -> Command) -> bool {
    if std::env::var_os(INSIDE).is_some() {
        return true;
    }
    let program = std::env::current_exe().unwrap();
    let output = prepare(&program).args(["--exact", test, "--nocapture"]).env(INSIDE, "1").output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{shown}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(shown.contains("1 passed"), "{shown}");
    false
}

fn errno<T>(answer: io::Result<T>) -> Option<i32> {
    answer.err().and_then(|error| error.raw_os_error())
}

fn run<T>(test: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let answer = runtime.block_on(test);
    // Its drop would wait for accepted writes, some of which wait for a reader.
    runtime.shutdown_background();
    answer
}
