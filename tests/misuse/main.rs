//! Wrong uses do not compile, and the errors say why.
//!
//! For each program that must fail (`*_wrong.rs`) there is one that differs only in that point, compiles and runs (`*_right.rs`). The
//! tests of probes run also with `--cfg dyntrace_without_probes`: the errors must be the same. After a change of the compiler's messages,
//! `UPDATE_GOLDEN=1` updates the errors.
//!
//! The programs are compiled against the library that this test was built with. Cargo would build that and its dependencies again.

#![cfg(all(target_os = "linux", target_arch = "x86_64", target_env = "gnu"))]

#[path = "../common/library.rs"]
mod library;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::{env, fs};

/// Compiles a program below this folder.
fn compile(source: &Path, program: &Path) -> Output {
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "--crate-type", "bin", "-A", "dead_code"]);
    if cfg!(dyntrace_without_probes) {
        rustc.args(["--cfg", "dyntrace_without_probes"]);
    }
    rustc.arg("--extern").arg(format!("dyntrace={}", library::dyntrace().display()));
    rustc.arg("-L").arg(format!("dependency={}", library::dependencies().display()));
    rustc.arg("-o").arg(program).arg(source).output().unwrap()
}

/// Returns the compiler's messages without what changes with the library: its folder, its lines, how many digits their numbers have, and
/// how many types implement a trait.
fn told(output: &Output) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
    let messages = String::from_utf8(output.stderr.clone()).unwrap().replace(root, "");
    let mut told = String::new();
    for line in messages.lines() {
        let is_end = ["error: aborting due to", "For more information about", "Some errors have detailed"];
        if is_end.iter().any(|end| line.starts_with(end)) {
            continue;
        }
        let mut text = line.trim_start_matches(|c: char| c == ' ' || c.is_ascii_digit());
        told += if text == line { "" } else { "  " };
        if text.starts_with("--> ") && !text.contains("tests/misuse/") {
            text = text.split(':').next().unwrap();
        } else if text.starts_with("and ") && text.ends_with(" others") {
            text = "and others";
        }
        told += text;
        told += "\n";
    }
    told.trim_end().to_owned() + "\n"
}

/// Compiles the programs of a folder, and runs those that must compile.
fn hold(folder: &str) {
    let built = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    fs::create_dir_all(&built).unwrap();
    // As the compiler shall name them.
    let files = fs::read_dir(Path::new("tests/misuse").join(folder)).unwrap().map(|entry| entry.unwrap().path());
    let sources: Vec<PathBuf> = files.filter(|file| file.extension().is_some_and(|end| end == "rs")).collect();
    assert!(!sources.is_empty());
    for source in sources {
        let name = source.file_stem().unwrap().to_str().unwrap();
        let program = built.join(name);
        let output = compile(&source, &program);
        let told = told(&output);
        if name.ends_with("_right") {
            assert!(output.status.success(), "{name} does not compile: {told}");
            let status = Command::new(&program).status().unwrap();
            assert!(status.success(), "{name}: {status}");
            continue;
        }
        assert!(!output.status.success(), "{name} compiles");
        let golden = source.with_extension("stderr");
        if env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(golden, told).unwrap();
        } else {
            let expected = fs::read_to_string(&golden).unwrap();
            assert!(told == expected, "{} has\n{expected}\nand the compiler says\n{told}", golden.display());
        }
    }
}

/// Arguments of probes.
#[test]
fn probes() {
    hold("probes");
}

/// Compiler errors of a wrong `p!`.
#[test]
fn p_refuses() {
    hold("p_refuses");
}

/// Attributes and macros of other items.
#[test]
#[cfg_attr(dyntrace_without_probes, ignore = "they do not depend on probes")]
fn items() {
    hold("items");
}
