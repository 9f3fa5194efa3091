//! Traced functions of libraries that are loaded and unloaded. They share one dyntrace with the program, as a dynamic library. cargo
//! does not build that from workspace members, so they are compiled here, against the library that this test was built with.
#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

#[path = "../common/library.rs"]
mod library;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use library::{dependencies, dyntrace};

/// Compiles a file beside this one, with `as_dyntrace` as its crate `dyntrace`.
fn compile(directory: &Path, name: &str, kind: &str, as_dyntrace: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/later").join(name).with_extension("rs");
    let mut rustc = Command::new("rustc");
    if cfg!(feature = "code") {
        rustc.args(["--cfg", "feature=\"code\""]);
    }
    rustc.args(["--edition", "2024", "-C", "prefer-dynamic", "--crate-type", kind]).arg(source);
    rustc.arg("--extern").arg(format!("dyntrace={}", as_dyntrace.display()));
    for place in [dependencies(), directory.to_owned()] {
        rustc.arg("-L").arg(format!("dependency={}", place.display()));
    }
    assert!(rustc.arg("--out-dir").arg(directory).status().unwrap().success(), "{name}");
}

#[test]
fn functions_of_libraries_come_and_go() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    compile(directory, "shared", "dylib", &dyntrace());
    let shared = directory.join("libshared.so");
    compile(directory, "library", "cdylib", &shared);
    compile(directory, "nothing_called", "cdylib", &shared);
    compile(directory, "program", "bin", &shared);
    fs::copy(directory.join("liblibrary.so"), directory.join("libother.so")).unwrap();

    let print = Command::new("rustc").args(["--print", "target-libdir"]).stderr(Stdio::inherit()).output().unwrap();
    let standard = PathBuf::from(String::from_utf8(print.stdout).unwrap().trim_end());
    let run = |how: Option<&str>| {
        let mut program = Command::new(directory.join("program"));
        program.env("LD_LIBRARY_PATH", env::join_paths([directory, &standard]).unwrap());
        let status = program.arg(directory).args(how).status().unwrap();
        assert!(status.success(), "{how:?}: {status}");
    };
    run(None);
    if cfg!(feature = "code") {
        run(Some("exit in a view"));
        run(Some("exit while another thread is in a view"));
    }
}
