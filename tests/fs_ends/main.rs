//! Accepted writes complete, however the runtime or the process ends. Each case is a child program; most run with `tokio::fs` and
//! with `dyntrace::fs`, and their outcomes are compared.
//!
//! Without libtest, as the children return from `main`.

mod children;
mod stuck;

use std::env;
use std::path::Path;
use std::process::{Command, Output};

use children::{End, SIZES};

/// The case of a child, and its folder.
const CASE: &str = "DYNTRACE_TEST_ENDS_CASE";
const FOLDER: &str = "DYNTRACE_TEST_ENDS_FOLDER";

fn main() {
    if let (Ok(case), Some(folder)) = (env::var(CASE), env::var_os(FOLDER)) {
        return child(&case, folder.as_ref());
    }
    // Like libtest: runs only tests named by the arguments.
    let wanted: Vec<String> = env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let tests: [(&str, fn()); 7] = [
        ("files_of_every_size_are_whole", files_of_every_size_are_whole),
        ("small_writes_are_whole_in_every_run", small_writes_are_whole_in_every_run),
        ("a_dropped_runtime_has_written", a_dropped_runtime_has_written),
        ("a_write_that_does_not_end_is_told_of", stuck::is_told_of),
        ("a_runtime_in_the_background_is_not_waited_for", stuck::background_does_not_wait),
        ("a_forked_child_waits_for_nothing_of_its_parent", stuck::forked_child_does_not_wait),
        ("exit_at_once_does_not_wait", stuck::exit_at_once_does_not_wait),
    ];
    for (name, test) in tests {
        if wanted.is_empty() || wanted.iter().any(|wanted| name.contains(wanted.as_str())) {
            println!("test {name} ...");
            test();
            println!("test {name} ... ok");
        }
    }
}

fn child(case: &str, folder: &Path) {
    match case.strip_prefix("stuck:") {
        Some(case) => stuck::child(case, folder),
        None => children::run(case, folder),
    }
}

/// Runs this program again, as a child.
fn run(case: &str, folder: &Path) -> Output {
    Command::new(env::current_exe().unwrap()).env(CASE, case).env(FOLDER, folder).output().unwrap()
}

/// Returns the lengths of a child's files.
fn written(case: &str) -> Vec<u64> {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let output = run(case, folder.path());
    assert!(output.status.success(), "{case}: {output:?}");
    assert!(output.stderr.is_empty(), "{case}: {output:?}");
    let mut files: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.iter().map(|file| file.metadata().unwrap().len()).collect()
}

fn both(case: &str, expected: &[u64]) {
    for library in ["tokio", "dyntrace"] {
        let case = format!("{library}:{case}");
        assert_eq!(written(&case), expected, "{case}");
    }
}

fn files_of_every_size_are_whole() {
    for runtime in ["current", "multi"] {
        for size in SIZES {
            // tokio guarantees nothing at `std::process::exit`.
            both(&format!("{runtime}:{}:{size}:20", End::Return.name()), &[size; 20]);
            let exit = format!("dyntrace:{runtime}:{}:{size}:20", End::Exit.name());
            assert_eq!(written(&exit), [size; 20], "{exit}");
        }
    }
}

fn small_writes_are_whole_in_every_run() {
    for _ in 0..200 {
        assert_eq!(written("dyntrace:current:eight:0:0"), [8 * 16]);
    }
    for _ in 0..20 {
        both("current:eight:0:0", &[8 * 16]);
        both("multi:eight:0:0", &[8 * 16]);
    }
}

/// The child itself checks, before it ends.
fn a_dropped_runtime_has_written() {
    for runtime in ["current", "multi"] {
        for place in ["root", "task"] {
            for _ in 0..10 {
                both(&format!("{runtime}:drop-{place}:2000000:5"), &[2_000_000; 5]);
            }
        }
    }
}
