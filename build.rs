//! Compiles `provider.d` into the probe functions of `src/probes.rs`, and picks the leaf of `src/sdt` for the target.

use std::env;

fn main() {
    dyntrace_build::compile("provider.d");
    println!(
        "cargo::rustc-check-cfg=cfg(sdt_leaf, values(\"linux_x86_64\", \"linux_x86\", \"linux_aarch64\", \"macos\", \"dof\", \"plain\", \"none\"))"
    );
    println!("cargo::rustc-cfg=sdt_leaf=\"{}\"", leaf());
    println!("cargo::rustc-check-cfg=cfg(recorded)");
    if is_recorded() {
        println!("cargo::rustc-cfg=recorded");
    }
}

/// Whether probes also go to the recorder. Loom and miri know nothing of an object file's sections.
fn is_recorded() -> bool {
    let set = |name: &str| env::var_os(name).is_some();
    env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux")
        && set("CARGO_FEATURE_PROBES")
        && !set("CARGO_CFG_MIRI")
        && !set("CARGO_CFG_LOOM")
}

/// The file of `src/sdt` that fires probes on the target. Cargo describes the target, not the host, so that cross builds
/// get their own leaf.
fn leaf() -> &'static str {
    let set = |name: &str| env::var_os(name).is_some();
    if !set("CARGO_FEATURE_PROBES") {
        return "none";
    }
    if set("CARGO_CFG_MIRI") || set("CARGO_CFG_LOOM") {
        return "plain";
    }
    let of_target = |name: &str| env::var(name).unwrap_or_default();
    match (of_target("CARGO_CFG_TARGET_OS").as_str(), of_target("CARGO_CFG_TARGET_ARCH").as_str()) {
        ("linux", "x86_64") => "linux_x86_64",
        ("linux", "x86") => "linux_x86",
        ("linux", "aarch64") => "linux_aarch64",
        ("macos", "x86_64" | "aarch64") => "macos",
        ("freebsd" | "illumos" | "solaris" | "netbsd", "x86_64") => "dof",
        _ => "plain",
    }
}
