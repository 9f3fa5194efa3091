//! Debug information is the same wherever it lies, and however it is packed.
#![cfg(target_os = "linux")]

mod program;

use std::path::Path;
use std::process::Command;

use dyntrace_tasks::polls::Functions;
use dyntrace_tasks::preview::Preview;

/// Runs a tool in a folder. `false` if it is not there, or does not know its arguments.
fn run(folder: &Path, tool: &str, arguments: &[&str]) -> bool {
    Command::new(tool).current_dir(folder).args(arguments).status().is_ok_and(|status| status.success())
}

/// Without the functions, which have the file's path.
fn preview(file: &Path) -> Preview {
    Preview { functions: Functions::default(), ..Preview::of(file).unwrap() }
}

#[test]
fn compressed_sections_say_the_same() {
    let example = program::example("chains_truth");
    let plain = preview(&example);
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(&example, folder.path().join("plain")).unwrap();
    for format in ["zlib", "zstd"] {
        if !run(folder.path(), "objcopy", &[&format!("--compress-debug-sections={format}"), "plain", format]) {
            println!("skipped: no objcopy that knows {format}");
            continue;
        }
        let compressed = folder.path().join(format);
        assert!(compressed.metadata().unwrap().len() < example.metadata().unwrap().len());
        assert_eq!(preview(&compressed), plain);
    }
}

#[test]
fn types_that_dwz_has_moved_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let names = ["chains_truth", "deadlock"];
    let plain = names.map(|name| preview(&program::example(name)));
    for name in names {
        std::fs::copy(program::example(name), folder.path().join(name)).unwrap();
    }
    if !run(folder.path(), "dwz", &["-m", "common.debug", "chains_truth", "deadlock"]) {
        println!("skipped: no dwz");
        return;
    }
    assert_eq!(names.map(|name| preview(&folder.path().join(name))), plain);
    let common = folder.path().join("common.debug");
    std::fs::remove_file(common).unwrap();
    let without = preview(&folder.path().join("deadlock"));
    assert!(without.notes[0].contains("common.debug: No such file"), "{without:?}");
    assert!(without.total() == plain[1].total() && without.chains < plain[1].chains, "{without:?}");
}
