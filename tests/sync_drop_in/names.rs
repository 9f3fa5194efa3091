//! The text uses all public names of the types that dyntrace has.

#[path = "../common/tokio_names.rs"]
mod tokio_names;

use tokio_names::{public_names, source_of_tokio, uses};

#[test]
fn every_public_name_is_used() {
    let used = concat!(include_str!("signatures.rs"), include_str!("behaviour.rs"));
    let source = source_of_tokio().join("src");
    let mut names = 0;
    for file in ["mutex", "semaphore", "notify", "oneshot"]
        .map(|name| format!("sync/{name}.rs"))
        .into_iter()
        .chain(["sleep", "timeout", "interval"].map(|name| format!("time/{name}.rs")))
    {
        for name in public_names(&source.join(&file)) {
            names += 1;
            assert!(uses(used, &name), "{name}, of {file}");
        }
    }
    assert!(names > 80, "only {names} names found");
}
