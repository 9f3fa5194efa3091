//! The text uses all public names of the types that dyntrace has.

#[path = "../common/tokio_names.rs"]
mod tokio_names;

use tokio_names::{public_names, source_of_tokio, uses};

#[test]
fn every_public_name_is_used() {
    let used = concat!(include_str!("signatures.rs"), include_str!("datagrams.rs"), include_str!("behaviour.rs"));
    let source = source_of_tokio().join("src/net");
    let tcp = ["listener", "socket", "split", "split_owned", "stream"].map(|file| format!("tcp/{file}.rs"));
    let unix = ["datagram/socket", "listener", "socket", "split", "split_owned", "stream"];
    let unix = unix.map(|file| format!("unix/{file}.rs"));
    let mut names = 0;
    for file in tcp.into_iter().chain(unix).chain(["lookup_host.rs".to_owned(), "udp.rs".to_owned()]) {
        for name in public_names(&source.join(&file)) {
            names += 1;
            assert!(uses(used, &name), "{name}, of {file}");
        }
    }
    assert!(names > 250, "only {names} names found");
}
