//! Compiles `provider.d` into the probe functions of `src/probes.rs`, picks the leaf of `src/sdt` for the target, and says what this
//! copy of the crate is made of.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::process::Command;
use std::{env, fs, io};

fn main() {
    dyntrace_build::compile("provider.d");
    println!("cargo::rustc-env=DYNTRACE_FINGERPRINT={}", fingerprint());
    println!(
        "cargo::rustc-check-cfg=cfg(sdt_leaf, values(\"linux_x86_64\", \"linux_x86\", \"linux_aarch64\", \"macos\", \"dof\", \"plain\", \"none\"))"
    );
    println!("cargo::rustc-cfg=sdt_leaf=\"{}\"", leaf());
    println!("cargo::rustc-check-cfg=cfg(dof)");
    if has_dof() {
        println!("cargo::rustc-cfg=dof");
    }
    println!("cargo::rustc-check-cfg=cfg(recorder)");
    println!("cargo::rustc-check-cfg=cfg(recorded)");
    if has_recorder() {
        println!("cargo::rustc-cfg=recorder");
        if is_recorded() {
            println!("cargo::rustc-cfg=recorded");
        }
    }
}

/// Whether there is a recorder: a file's pages in memory must be the file's at any instant, also those that it grows by. That holds on
/// these systems, and not on OpenBSD.
fn has_recorder() -> bool {
    let os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    ["linux", "freebsd", "macos", "illumos", "solaris", "netbsd"].contains(&os.as_str())
}

/// Whether probes also go to it. Loom and miri know nothing of an object file's sections.
fn is_recorded() -> bool {
    let set = |name: &str| env::var_os(name).is_some();
    set("CARGO_FEATURE_PROBES") && !set("CARGO_CFG_MIRI") && !set("CARGO_CFG_LOOM")
}

/// Whether the program describes its probes to DTrace in DOF: instead of notes, or beside them.
fn has_dof() -> bool {
    match leaf() {
        "dof" => true,
        "linux_x86_64" => env::var_os("CARGO_FEATURE_DOF").is_some(),
        _ => false,
    }
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

/// What two copies of this crate must have in common to know each other's types: a program has one, each of its modules another.
fn fingerprint() -> String {
    let of_target = |name: &str| env::var(name).unwrap_or_default();
    let features: BTreeSet<String> = env::vars()
        .filter_map(|(name, _)| Some(name.strip_prefix("CARGO_FEATURE_")?.to_lowercase()))
        // What it embeds for the command line is nobody's type.
        .filter(|feature| feature != "scripts" && feature != "default")
        .collect();
    let rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into())).arg("-vV").output();
    let rustc = rustc.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let line =
        |name: &str| rustc.lines().find_map(|line| line.strip_prefix(name)).unwrap_or("unknown").trim().to_owned();
    let mut text = DefaultHasher::new();
    for path in ["src", "provider.d", "Cargo.toml"] {
        println!("cargo::rerun-if-changed={path}");
        hash_files(Path::new(path), &mut text).unwrap_or_else(|error| panic!("reading {path}: {error}"));
    }
    format!(
        "dyntrace {} {:016x} ({}); rustc {} {}; {}, panic={} {}",
        env!("CARGO_PKG_VERSION"),
        text.finish(),
        Vec::from_iter(features).join(" "),
        line("release:"),
        line("commit-hash:"),
        of_target("TARGET"),
        of_target("CARGO_CFG_PANIC"),
        of_target("CARGO_CFG_SANITIZE"),
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
