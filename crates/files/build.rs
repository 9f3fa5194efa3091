//! Says whether probes are recorded.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(recorded)");
    let is_set = |name: &str| env::var_os(name).is_some();
    // As the build script of dyntrace-probes.
    let systems = ["linux", "freebsd", "macos", "illumos", "solaris", "netbsd"];
    let has_rings = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| systems.contains(&&*system));
    let without = ["CARGO_CFG_DYNTRACE_WITHOUT_PROBES", "CARGO_CFG_MIRI", "CARGO_CFG_LOOM"];
    if is_set("CARGO_FEATURE_RECORDER") && has_rings && !without.into_iter().any(is_set) {
        println!("cargo::rustc-cfg=recorded");
    }
}
