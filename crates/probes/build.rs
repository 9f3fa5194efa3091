//! Picks the leaf of `src/sdt` for the target, says whether there are rings, and hashes the sources for modules of code.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::{env, fs, io};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
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
        println!("cargo::rerun-if-changed=src");
        let mut sources = DefaultHasher::new();
        // Types may differ with the features, which another package can turn on.
        let features: BTreeSet<_> = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        features.iter().filter(|name| name.starts_with("CARGO_FEATURE_")).for_each(|name| name.hash(&mut sources));
        hash_files(Path::new("src"), &mut sources).unwrap_or_else(|error| panic!("reading src: {error}"));
        println!("cargo::rustc-env=DYNTRACE_PROBES_SOURCES={:016x}", sources.finish());
    }
}

/// Names and contents of all files there, in the order of their names.
fn hash_files(path: &Path, into: &mut DefaultHasher) -> io::Result<()> {
    if path.is_dir() {
        let entries: io::Result<BTreeSet<_>> = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect();
        return entries?.iter().try_for_each(|entry| hash_files(entry, into));
    }
    path.hash(into);
    fs::read(path)?.hash(into);
    Ok(())
}

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}

/// A property of the target, not of the host, so that cross builds get their own.
fn of_target(name: &str) -> String {
    env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default()
}

/// Whether there are rings. They need a unified page cache: mapped pages always equal the file, also where the file has grown. That
/// holds on these systems, and not on OpenBSD.
fn has_rings() -> bool {
    let systems = ["linux", "freebsd", "macos", "illumos", "solaris", "netbsd"];
    is_set("CARGO_FEATURE_RINGS") && systems.contains(&of_target("OS").as_str())
}

/// Whether probes are recorded. Loom and miri do not support an object file's sections.
fn is_recorded() -> bool {
    !is_set("CARGO_CFG_DYNTRACE_WITHOUT_PROBES") && !is_set("CARGO_CFG_MIRI") && !is_set("CARGO_CFG_LOOM")
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
