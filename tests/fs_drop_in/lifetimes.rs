//! Arguments live as long as with tokio, for each function that takes one.

use std::path::{Path, PathBuf};

use crate::of_dyntrace::{Argument, Log, prepare};
use crate::{of_dyntrace, of_tokio};

fn fates(fates: impl AsyncFnOnce(&Path) -> Vec<String>) -> Vec<String> {
    let place = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(fates(place.path()))
}

#[test]
fn arguments_live_as_long_as_with_tokio() {
    let (ours, theirs) = (fates(of_dyntrace::fates_of_arguments), fates(of_tokio::fates_of_arguments));
    assert_eq!(ours.len(), theirs.len());
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert_eq!(ours, theirs);
        assert!(!ours.contains("Err("), "{ours}");
    }
}

/// Covers functions that only dyntrace has, and the contents argument: tokio copies and drops it before it writes.
#[tokio::test]
async fn arguments_live_until_our_own_operations_end() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("folder");
    prepare(&folder);
    let log = Log::default();
    let argument = |name: &str| Argument::new(folder.join(name), &log);
    let mut options = dyntrace::fs::OpenOptions::new();
    options.read(true).write(true).create(true);
    let unsupported = dyntrace::fs::alt_name(argument("file")).await.unwrap_err();
    assert_eq!(unsupported.raw_os_error(), Some(libc::ENOTSUP));
    dyntrace::fs::chown(argument("symlink"), None, None).await.unwrap_err();
    std::fs::write(folder.join("file"), "").unwrap();
    dyntrace::fs::chown(argument("file"), None, None).await.unwrap();
    options.open_with(dyntrace::efile::Driver::global(), argument("new")).await.unwrap();
    let before = std::env::current_dir().unwrap();
    dyntrace::fs::set_current_dir(argument("directory")).await.unwrap();
    std::env::set_current_dir(before).unwrap();
    // Dropping the contents removes the file that the call wrote.
    dyntrace::fs::write(folder.join("written"), argument("written")).await.unwrap();
    let dropped = log.lock().unwrap().iter().filter(|line| line.contains("dropped")).cloned().collect::<Vec<_>>();
    let there =
        ["file", "symlink", "file", "new", "directory", "written"].map(|name| format!("{name} dropped, there: true"));
    assert_eq!(dropped, there);
}

/// Fails if a public function takes an argument by value and is in neither table.
#[test]
fn each_function_is_in_a_table() {
    let tables = concat!(include_str!("arguments.rs"), include_str!("lifetimes.rs"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/files/src/fs");
    let mut found = 0;
    for file in sources(&source) {
        let text = std::fs::read_to_string(&file).unwrap();
        let stem = file.strip_prefix(&source).unwrap().to_str().unwrap();
        for signature in text.split("\n").flat_map(|line| line.trim_start().strip_prefix("pub ")) {
            let Some((_, signature)) = signature.split_once("fn ") else { continue };
            let takes_any =
                signature.contains("impl ") || signature.contains(": AsRef") || signature.contains(": Into");
            // A switch, which no operation holds.
            let takes_a_switch = signature.contains("inline: impl Into<Inline>");
            if !takes_any || takes_a_switch {
                continue;
            }
            found += 1;
            let name = signature.split(['(', '<']).next().unwrap();
            let receiver = match stem {
                "file/open_file.rs" => "File::",
                "open_options.rs" => "options.",
                "dir_builder.rs" => "builder.",
                _ => "fs::",
            };
            let row = |open: &str| format!("{receiver}{name}({open}");
            let is_there = tables.contains(&row("argument("))
                || tables.contains(&row("dyntrace::efile::Driver::global(), argument("));
            assert!(
                is_there,
                "`{name}` of src/fs/{stem} takes an argument by value: add `{}\"file\"))` to a table",
                row("argument(")
            );
        }
    }
    assert!(found >= 28, "only {found} functions found");
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}
