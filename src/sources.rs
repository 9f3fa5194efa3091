//! Rules for the sources of this crate and of those below, which the compiler does not check.

use std::fs;
use std::path::{Path, PathBuf};

/// Each file of these, by its path below the package, without its tests.
fn product() -> Vec<(PathBuf, String)> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = [
        "src",
        "crates/dist/src",
        "crates/files/src",
        "crates/probes/src",
        "crates/processes/src",
        "crates/resources/src",
    ];
    let mut folders = crates.map(|folder| package.join(folder)).to_vec();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // `efile::observe` is compiled for tests only.
            if path.file_stem().is_some_and(|name| name == "tests" || name == "observe") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = without_tests(&fs::read_to_string(&path).unwrap());
                files.push((path.strip_prefix(package).unwrap().to_owned(), text));
            }
        }
    }
    assert!(files.len() > 100, "{} files", files.len());
    files
}

/// Removes test modules. They begin and end at the left margin, as rustfmt formats them.
fn without_tests(text: &str) -> String {
    let mut product = String::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let begins = |next: &&str| next.contains("mod ") && next.ends_with('{');
        if line.starts_with("#[cfg(") && line.contains("test") && lines.peek().is_some_and(begins) {
            lines.find(|line| *line == "}");
        } else {
            product.push_str(line);
            product.push('\n');
        }
    }
    product
}

/// Any other reader would trust the environment of set-uid programs.
#[test]
fn no_other_room_reads_the_environment() {
    // Compiled for tests only. It reads `DYNTRACE_REQUIRE`.
    let synthetic = Path::new("src/recorder/synthetic.rs");
    let asks = ["env::var", "env::temp_dir", "vars_os(", "getenv("];
    let files = product().into_iter().filter(|(path, _)| path != synthetic && path != Path::new("src/sources.rs"));
    let found = files.filter(|(_, text)| asks.iter().any(|ask| text.contains(ask)));
    assert_eq!(found.map(|(path, _)| path).collect::<Vec<_>>(), [Path::new("crates/processes/src/environment.rs")]);
}

/// A forked child would wait for ever for a lock that another thread of its parent held.
#[test]
fn every_lock_of_the_process_is_held_over_forks_or_made_anew() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_lock = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("static ")
            && line.contains("Mutex<")
            && !["PerProcess<", "ZeroedByFork<", "MutexGuard<"].iter().any(|other| line.contains(other))
    };
    let mut locks = 0;
    for (path, text) in product() {
        let found: Vec<_> = text.lines().filter(is_lock).collect();
        locks += found.len();
        // Some rooms hold the locks of all their files in one place.
        let of_room = fs::read_to_string(package.join(path.with_file_name("locks.rs"))).unwrap_or_default();
        let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
        let is_held = text.contains("hold_across_forks!") || of_room.contains(&format!("{name}::"));
        assert!(found.is_empty() || is_held, "{}: {found:?}", path.display());
    }
    assert!(locks > 10, "{locks} locks");
}
