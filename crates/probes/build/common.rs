//! Questions of the build scripts of `dyntrace`, `dyntrace-probes` and `dyntrace-processes` to Cargo, and a hash of sources for modules
//! of code.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::{env, fs, io};

pub fn is_set(name: &str) -> bool {
    env::var_os(name).is_some()
}

/// A property of the target, not of the host, so that cross builds get their own.
pub fn of_target(name: &str) -> String {
    env::var(format!("CARGO_CFG_TARGET_{name}")).unwrap_or_default()
}

/// The package's features, as Cargo names them in variables.
pub fn features() -> BTreeSet<String> {
    let names = env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
    names.filter_map(|name| Some(name.strip_prefix("CARGO_FEATURE_")?.to_owned())).collect()
}

/// Whether probes are recorded. Loom and miri do not support an object file's sections.
pub fn is_recorded() -> bool {
    !is_set("CARGO_CFG_DYNTRACE_WITHOUT_PROBES") && !is_set("CARGO_CFG_MIRI") && !is_set("CARGO_CFG_LOOM")
}

/// A hash of the features and of all files there, and lets Cargo run the script again when one changes.
pub fn hash(features: &BTreeSet<String>, paths: &[&str]) -> u64 {
    let mut hash = DefaultHasher::new();
    features.hash(&mut hash);
    for path in paths {
        println!("cargo::rerun-if-changed={path}");
        hash_files(Path::new(path), &mut hash).unwrap_or_else(|error| panic!("reading {path}: {error}"));
    }
    hash.finish()
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
