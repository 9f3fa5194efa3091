//! Reads the public names of tokio in its source, so that tests notice names that dyntrace's counterpart lacks.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder with the source of the tokio that this test is built with.
pub fn source_of_tokio() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        // For one platform: a machine that has built only this lacks the sources for others.
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform=x86_64-unknown-linux-gnu"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let tokio = metadata["packages"].as_array().unwrap().iter().find(|package| package["name"] == "tokio").unwrap();
    Path::new(tokio["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// Returns the public names of a file: `pub fn name(`, `pub async fn name<`, `pub struct Name`.
pub fn public_names(file: &Path) -> Vec<String> {
    let public_name = |line: &str| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let rest = rest.strip_prefix("async ").unwrap_or(rest);
        let rest = rest.strip_prefix("fn ").or_else(|| rest.strip_prefix("struct "))?;
        rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
    };
    std::fs::read_to_string(file).unwrap().lines().filter_map(public_name).collect()
}

/// Whether a text contains the name as a word.
pub fn uses(text: &str, name: &str) -> bool {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name)
}
