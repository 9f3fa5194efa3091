//! The text uses all public names of the types that dyntrace has.

#[path = "../common/tokio_names.rs"]
mod tokio_names;

use tokio_names::{public_names, source_of_tokio, uses};

#[test]
fn every_public_name_is_used() {
    let used = concat!(
        include_str!("signatures.rs"),
        include_str!("behaviour.rs"),
        include_str!("rwlock.rs"),
        include_str!("cells.rs"),
        include_str!("channels.rs"),
        include_str!("tasks.rs")
    );
    let source = source_of_tokio().join("src");
    let mut names = 0;
    let guards = ["owned_read_guard", "owned_write_guard", "owned_write_guard_mapped", "read_guard", "write_guard"];
    let guards = guards.into_iter().chain(["write_guard_mapped"]).map(|name| format!("sync/rwlock/{name}.rs"));
    let resources = ["barrier", "broadcast", "mutex", "notify", "once_cell", "oneshot", "rwlock", "semaphore"];
    for file in resources
        .into_iter()
        .chain(["set_once", "watch"])
        .map(|name| format!("sync/{name}.rs"))
        .chain(guards)
        .chain(["sleep", "timeout", "interval"].map(|name| format!("time/{name}.rs")))
        .chain(["runtime/task/join.rs", "task/join_set.rs"].map(str::to_owned))
    {
        for name in public_names(&source.join(&file)) {
            names += 1;
            assert!(uses(used, &name), "{name}, of {file}");
        }
    }
    assert!(names > 220, "only {names} names found");
}
