//! Says whether probes are recorded, and hashes the sources for modules of code.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::{env, fs, io};

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(recorded)");
    let is_set = |name: &str| env::var_os(name).is_some();
    // Without probes, and under loom and miri, nothing starts a table of tasks.
    let without = ["CARGO_CFG_DYNTRACE_WITHOUT_PROBES", "CARGO_CFG_MIRI", "CARGO_CFG_LOOM"];
    let is_linux = env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux");
    if is_linux && is_set("CARGO_FEATURE_RECORDER") && !without.into_iter().any(is_set) {
        println!("cargo::rustc-cfg=recorded");
    }
    if is_set("CARGO_FEATURE_MODULES") {
        println!("cargo::rerun-if-changed=src");
        let mut sources = DefaultHasher::new();
        // Types may differ with the features, which another package can turn on.
        let features: BTreeSet<_> = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        features.iter().filter(|name| name.starts_with("CARGO_FEATURE_")).for_each(|name| name.hash(&mut sources));
        hash_files(Path::new("src"), &mut sources).unwrap_or_else(|error| panic!("reading src: {error}"));
        println!("cargo::rustc-env=DYNTRACE_PROCESSES_SOURCES={:016x}", sources.finish());
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
