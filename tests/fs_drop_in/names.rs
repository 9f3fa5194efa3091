//! `signatures.rs` uses all public names of `tokio::fs`, which are read from its source.

#[path = "../common/tokio_names.rs"]
mod tokio_names;

use tokio_names::{public_names, source_of_tokio, uses};

#[test]
fn every_public_name_is_used() {
    const OF_OTHER_SYSTEMS: &[&str] = &[
        "access_mode", "attributes", "security_qos_flags", "share_mode", // Windows
        "symlink_dir", "symlink_file", // Windows
        "set_created",  // Windows and Apple's
    ];
    let used = include_str!("signatures.rs");
    let mut names = 0;
    for file in std::fs::read_dir(source_of_tokio().join("src/fs")).unwrap() {
        let path = file.unwrap().path();
        if path.is_dir() || path.ends_with("mocks.rs") {
            continue;
        }
        for name in public_names(&path) {
            names += 1;
            assert!(uses(used, &name) || OF_OTHER_SYSTEMS.contains(&&*name), "{name}, of {}", path.display());
        }
    }
    assert!(names > 50, "only {names} names found");
}
