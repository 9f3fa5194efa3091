//! The examples that tests run.

use std::path::PathBuf;
use std::process::Command;

/// Returns the path of an example of any package, up to date, in the profile of this test.
pub fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let profile = test.ancestors().nth(2).unwrap();
    let release = if profile.ends_with("release") { &["--release"][..] } else { &[] };
    // With the features that `cargo test --workspace` has: for others Cargo would build the library again.
    let build = ["build", "--quiet", "--workspace", "--example", name];
    assert!(Command::new(env!("CARGO")).args(build).args(release).status().unwrap().success(), "cannot build {name}");
    profile.join("examples").join(name)
}
