//! Asks the program about small data sets.

mod answers;
mod data;
mod errors;
mod fleet;
mod hostile;
mod page_file;
mod report;
mod s3;
mod upload;

use std::path::Path;
use std::process::{Command, Output};

/// Runs the program with the folder and these arguments.
fn query(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_dyntrace-query")).arg(folder).args(arguments).output().unwrap()
}

/// Returns what the program prints, if it succeeds.
fn printed(folder: &Path, arguments: &[&str]) -> String {
    let output = query(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the rows of an answer.
fn rows(folder: &Path, sql: &str) -> serde_json::Value {
    serde_json::from_str(&printed(folder, &[sql, "--json"])).unwrap()
}
