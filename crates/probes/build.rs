//! Picks the leaf of `src/sdt` for the target, says whether there are rings, and hashes the sources for modules of code.

#[path = "build/common.rs"]
mod common;

use common::{features, hash, is_recorded, is_set, of_target};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=build");
    println!(
        "cargo::rustc-check-cfg=cfg(sdt_leaf, values(\"linux_x86_64\", \"linux_x86\", \"linux_aarch64\", \"macos\", \"dof\", \"plain\", \"none\"))"
    );
    println!("cargo::rustc-cfg=sdt_leaf=\"{}\"", leaf());
    println!("cargo::rustc-check-cfg=cfg(dof, rings, recorded)");
    let set = |name: &str, is: bool| {
        if is {
            println!("cargo::rustc-cfg={name}");
        }
    };
    set("dof", has_dof());
    set("rings", has_rings());
    set("recorded", has_rings() && is_recorded());
    if is_set("CARGO_FEATURE_MODULES") {
        // Types may differ with the features, which another package can turn on.
        println!("cargo::rustc-env=DYNTRACE_PROBES_SOURCES={:016x}", hash(&features(), &["src"]));
    }
}

/// Whether there are rings. They need a unified page cache: mapped pages always equal the file, also where the file has grown. That
/// holds on these systems, and not on OpenBSD.
fn has_rings() -> bool {
    let systems = ["linux", "freebsd", "macos", "illumos", "solaris", "netbsd"];
    is_set("CARGO_FEATURE_RINGS") && systems.contains(&of_target("OS").as_str())
}

/// Whether the program describes its probes to DTrace in DOF: instead of notes, or beside them.
fn has_dof() -> bool {
    match leaf() {
        "dof" => true,
        "linux_x86_64" => is_set("CARGO_FEATURE_DOF"),
        _ => false,
    }
}

/// The file of `src/sdt` that fires probes on the target.
fn leaf() -> &'static str {
    if is_set("CARGO_CFG_DYNTRACE_WITHOUT_PROBES") {
        return "none";
    }
    if is_set("CARGO_CFG_MIRI") || is_set("CARGO_CFG_LOOM") {
        return "plain";
    }
    match (of_target("OS").as_str(), of_target("ARCH").as_str()) {
        ("linux", "x86_64") => "linux_x86_64",
        ("linux", "x86") => "linux_x86",
        ("linux", "aarch64") => "linux_aarch64",
        ("macos", "x86_64" | "aarch64") => "macos",
        ("freebsd" | "illumos" | "solaris" | "netbsd", "x86_64") => "dof",
        _ => "plain",
    }
}
