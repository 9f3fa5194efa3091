//! Says whether probes are recorded, and hashes the sources for modules of code.

#[path = "build/common.rs"]
mod common;

use common::{features, hash, is_recorded, is_set, of_target};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!("cargo::rustc-check-cfg=cfg(recorded)");
    // Without probes, and under loom and miri, nothing starts a table of tasks.
    if of_target("OS") == "linux" && is_set("CARGO_FEATURE_RECORDER") && is_recorded() {
        println!("cargo::rustc-cfg=recorded");
    }
    if is_set("CARGO_FEATURE_MODULES") {
        // Types may differ with the features, which another package can turn on.
        println!("cargo::rustc-env=DYNTRACE_PROCESSES_SOURCES={:016x}", hash(&features(), &["src"]));
    }
}
