//! The library that a test was built with, for programs that it compiles without cargo.

use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns the folder of the tests' libraries.
pub fn dependencies() -> PathBuf {
    env::current_exe().unwrap().parent().unwrap().to_owned()
}

/// Returns the last library built before this program, which is linked with it. Later ones belong to other builds.
pub fn dyntrace() -> PathBuf {
    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let linked = modified(&env::current_exe().unwrap());
    let entries = fs::read_dir(dependencies()).unwrap().map(|entry| entry.unwrap());
    let is_library = |name: &str| name.starts_with("libdyntrace-") && name.ends_with(".rlib");
    let libraries = entries.filter(|entry| is_library(&entry.file_name().to_string_lossy())).map(|entry| entry.path());
    libraries.filter(|path| modified(path) <= linked).max_by_key(|path| modified(path)).unwrap()
}
