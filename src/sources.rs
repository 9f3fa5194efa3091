//! The sources of this crate, for tests of rules that the compiler does not check.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns each file below `src`, by its path below that folder, without its tests.
pub fn product() -> Vec<(PathBuf, String)> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let (mut folders, mut files) = (vec![src.clone()], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_stem().is_some_and(|name| name == "tests") {
                continue;
            }
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = without_tests(&fs::read_to_string(&path).unwrap());
                files.push((path.strip_prefix(&src).unwrap().to_owned(), text));
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
