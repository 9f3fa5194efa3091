//! The report for the user.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::index::Index;
use crate::request::RequestFiles;

/// Prints it as a table.
pub fn text(index: &Index, top: usize, output: Option<&Path>) -> String {
    let most = index.top(top);
    let width = most.iter().map(|usage| usage.term.len()).max().unwrap_or(0).max(4);
    let mut text = String::new();
    if !most.is_empty() {
        _ = writeln!(text, "{:width$}  {:>7}  {:>9}", "TERM", "FILES", "COUNT");
    }
    for usage in most {
        _ = writeln!(text, "{:width$}  {:>7}  {:>9}", usage.term, usage.files, usage.count);
    }
    _ = write!(text, "{} files, {} lines, {} terms", index.files.len(), lines(index), index.terms.len());
    _ = match output {
        Some(output) => writeln!(text, "; index: {output:?}"),
        None => writeln!(text),
    };
    text
}

/// Prints it as one line of JSON.
pub fn json(index: &Index, found: &[RequestFiles], top: usize, output: Option<&Path>) -> String {
    let lossy = |path: &PathBuf| path.to_string_lossy().into_owned();
    let requests = found.iter().map(|found| {
        let failed =
            found.failed.iter().map(|(path, error)| json!({ "path": lossy(path), "error": error.to_string() }));
        json!({
            "request": found.tag,
            "directory": lossy(&found.directory),
            "files": found.files.len(),
            "failed": failed.collect::<Vec<_>>(),
        })
    });
    let report = json!({
        "files": index.files.len(),
        "bytes": index.files.iter().map(|file| file.bytes).sum::<u64>(),
        "lines": lines(index),
        "terms": index.terms.len(),
        "top": index.top(top),
        "requests": requests.collect::<Vec<_>>(),
        "index": output.map(Path::to_string_lossy),
    });
    format!("{report}\n")
}

fn lines(index: &Index) -> u64 {
    index.files.iter().map(|file| file.lines).sum()
}
