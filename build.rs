//! Says whether there is a recorder, and computes the fingerprint of this copy of the crate for modules of code.

#[path = "build/linker.rs"]
mod linker;

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

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

fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}

/// A property of the target, not of the host, so that cross builds get their own.
fn of_target(name: &str) -> String {
    env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default()
}

/// Whether there is a recorder. It needs a unified page cache: mapped pages always equal the file, also where the file has grown. That
/// holds on these systems, and not on OpenBSD.
fn has_recorder() -> bool {
    let systems = ["linux", "freebsd", "macos", "illumos", "solaris", "netbsd"];
    is_set("CARGO_FEATURE_RECORDER") && systems.contains(&of_target("OS").as_str())
}

/// Whether probes are recorded. Loom and miri do not support an object file's sections.
fn is_recorded() -> bool {
    !is_set("CARGO_CFG_DYNTRACE_WITHOUT_PROBES") && !is_set("CARGO_CFG_MIRI") && !is_set("CARGO_CFG_LOOM")
}

/// The properties in which two copies of this crate must agree to share types: the program has one copy, each of its modules another.
fn fingerprint() -> String {
    let variable = |name: &str| env::var(name).unwrap_or_default();
    let features: BTreeSet<String> = env::vars()
        .filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase()))
        // It embeds files for the command line, which affect no type.
        .filter(|feature| feature != "scripts" && feature != "default")
        .collect();
    let rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output();
    let rustc = rustc.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let line =
        |name: &str| rustc.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").trim().to_owned();
    let mut text = DefaultHasher::new();
    for path in ["src", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={path}");
        hash_files(Path::new(path), &mut text).unwrap_or_else(|error| panic!("reading {path}: {error}"));
    }
    format!(
        "dyntrace {} {:016x} ({}{}); rustc {} {}; {}, panic={} {}",
        env!("CARGO_PKG_VERSION"),
        text.finish(),
        Vec::from_iter(features).join(" "),
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
