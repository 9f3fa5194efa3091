//! Nothing of `tokio::fs` is forgotten: its public names, read in its source, are all used by `signatures.rs`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where cargo has the source of the tokio that this test is built with.
fn source_of_tokio() -> PathBuf {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version=1", "--offline"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let tokio = metadata["packages"].as_array().unwrap().iter().find(|package| package["name"] == "tokio").unwrap();
    Path::new(tokio["manifest_path"].as_str().unwrap()).parent().unwrap().to_owned()
}

/// What a line of source makes public: `pub fn name(`, `pub async fn name<`, `pub struct Name`.
fn public_name(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub ")?;
    let rest = rest.strip_prefix("async ").unwrap_or(rest);
    let rest = rest.strip_prefix("fn ").or_else(|| rest.strip_prefix("struct "))?;
    rest.split(|c: char| !c.is_alphanumeric() && c != '_').next()
}

#[test]
fn every_public_name_is_used() {
    const OF_OTHER_SYSTEMS: &[&str] = &[
        "access_mode",
        "attributes",
        "security_qos_flags",
        "share_mode", // Windows
        "symlink_dir",
        "symlink_file", // Windows
        "set_created",  // Windows and Apple's
    ];
    let used = include_str!("signatures.rs");
    let is_used = |name: &str| used.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == name);
    let mut names = 0;
    for file in std::fs::read_dir(source_of_tokio().join("src/fs")).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() || path.ends_with("mocks.rs") {
            continue;
        }
        for name in std::fs::read_to_string(&path).unwrap().lines().filter_map(public_name) {
            names += 1;
            assert!(is_used(name) || OF_OTHER_SYSTEMS.contains(&name), "{name}, of {}", path.display());
        }
    }
    assert!(names > 50, "only {names} names found");
}
