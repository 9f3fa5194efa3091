//! Says whether there is a recorder, and computes the fingerprint of this copy of the crate for modules of code.

#[path = "build/common.rs"]
mod common;
#[path = "build/linker.rs"]
mod linker;

use std::collections::BTreeSet;
use std::env;
use std::process::Command;

use common::{features, hash, is_recorded, is_set, of_target};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    if of_target("OS") == "linux" && linker::takes_separate_code() {
        // As dyntrace_build::link_for_tracers, for this package's tests and examples.
        println!("cargo::rustc-link-arg=-Wl,-z,separate-code");
    }
    println!("cargo::rustc-check-cfg=cfg(recorder)");
    println!("cargo::rustc-check-cfg=cfg(recorded)");
    if has_recorder() {
        println!("cargo::rustc-cfg=recorder");
        if is_recorded() {
            println!("cargo::rustc-cfg=recorded");
        }
    }
    if is_set("CARGO_FEATURE_CODE") {
        println!("cargo::rustc-env=DYNTRACE_FINGERPRINT={}", fingerprint());
    }
}

/// Whether there is a recorder. It needs a unified page cache: mapped pages always equal the file, also where the file has grown. That
/// holds on these systems, and not on OpenBSD.
fn has_recorder() -> bool {
    let systems = ["linux", "freebsd", "macos", "illumos", "solaris", "netbsd"];
    is_set("CARGO_FEATURE_RECORDER") && systems.contains(&of_target("OS").as_str())
}

/// The properties in which two copies of this crate must agree to share types: the program has one copy, each of its modules another.
fn fingerprint() -> String {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    // `scripts` embeds files for the command line, which affect no type.
    let features = features().into_iter().map(|feature| feature.to_lowercase());
    let features: Vec<_> = features.filter(|feature| feature != "scripts" && feature != "default").collect();
    let rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output();
    let rustc = rustc.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let line =
        |name: &str| rustc.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").trim().to_owned();
    format!(
        "dyntrace {} {:016x} ({}{}); rustc {} {}; {}, panic={} {}",
        env!("CARGO_PKG_VERSION"),
        hash(&BTreeSet::new(), &["src", "Cargo.toml"]),
        features.join(" "),
        if is_set("CARGO_CFG_DYNTRACE_WITHOUT_PROBES") { ", without probes" } else { "" },
        line("release:"),
        line("commit-hash:"),
        variable("TARGET"),
        variable("CARGO_CFG_PANIC"),
        variable("CARGO_CFG_SANITIZE"),
    )
    .trim_end()
    .to_owned()
}
