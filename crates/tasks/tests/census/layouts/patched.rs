//! Copies of tokio with replaced words, and a program that is built with each.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words of a file, and those that replace them.
type Edit = (&'static str, &'static str, &'static str);

const CORE: &str = "src/runtime/task/core.rs";
const RAW: &str = "src/runtime/task/raw.rs";

/// A word more in the header and a function more in its vtable, each before the others; and another name of the future's stage.
const MOVED: &[Edit] = &[
    (CORE, "pub(crate) struct Header {", "#[allow(dead_code)] pub(crate) struct Header { added: usize,"),
    (CORE, "            Header {\n", "            Header { added: 7,\n"),
    (
        RAW,
        "pub(super) struct Vtable {",
        "#[allow(dead_code)] pub(super) struct Vtable { added: unsafe fn(NonNull<Header>),",
    ),
    (RAW, "    &Vtable {", "    &Vtable { added: schedule::<S>,"),
    (CORE, "    Running(T),", "    Polled(T),"),
    (CORE, "Stage::Running(", "Stage::Polled("),
];

/// The links behind another word of the trailer.
const TRAILER: &[Edit] = &[
    (CORE, "pub(super) struct Trailer {", "#[allow(dead_code)] #[repr(C)] pub(super) struct Trailer { added: usize,"),
    (CORE, "        Trailer {\n", "        Trailer { added: 0,\n"),
];

/// The programs that are built with the copies.
pub struct Patched {
    folder: tempfile::TempDir,
}

impl Patched {
    /// Builds them, each with its own copy.
    pub fn build() -> Patched {
        let folder = tempfile::tempdir().unwrap();
        let of_cargo = source();
        let mut dependencies = String::new();
        let mut programs = String::new();
        for (number, (name, edits)) in [("moved", MOVED), ("trailer", TRAILER)].into_iter().enumerate() {
            let copy = folder.path().join(name);
            copy_folder(&of_cargo, &copy);
            edits.iter().for_each(|edit| replace(&copy, *edit));
            // A lock file tells packages of one name by their versions.
            let manifest = fs::read_to_string(copy.join("Cargo.toml")).unwrap();
            let version = manifest.lines().find(|line| line.starts_with("version = ")).unwrap().to_owned();
            let own = format!("version = \"1.9999.{number}\"");
            fs::write(copy.join("Cargo.toml"), manifest.replacen(&version, &own, 1)).unwrap();
            dependencies += &format!(
                "{name} = {{ package = \"tokio\", path = \"../{name}\", features = [\"rt\", \"sync\", \"time\"] }}\n"
            );
            programs += &format!("[[bin]]\nname = \"{name}\"\npath = \"{name}.rs\"\n");
            let program = format!("use {name} as tokio;\n{}", include_str!("known_tasks.rs").replace("//!", "//"));
            fs::create_dir_all(folder.path().join("programs")).unwrap();
            fs::write(folder.path().join(format!("programs/{name}.rs")), program).unwrap();
        }
        let manifest = format!(
            "[workspace]\n[package]\nname = \"programs\"\nversion = \"0.0.0\"\nedition = \"2024\"\n{programs}\
             [dependencies]\n{dependencies}[profile.dev]\ndebug = 2\nincremental = false\n"
        );
        fs::write(folder.path().join("programs/Cargo.toml"), manifest).unwrap();
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--quiet", "--manifest-path"]).arg(folder.path().join("programs/Cargo.toml"));
        cargo.arg("--target-dir").arg(folder.path().join("target"));
        // Settings of the build that runs this test.
        cargo.env_remove("CARGO_PROFILE_DEV_DEBUG").env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
        assert!(cargo.status().unwrap().success(), "cannot build programs with copies of tokio");
        Patched { folder }
    }

    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.path().join("target/debug").join(name)
    }
}

/// Returns the folder in which cargo has unpacked the tokio of this workspace.
fn source() -> PathBuf {
    let lock = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../Cargo.lock")).unwrap();
    let version = lock.split("name = \"tokio\"\nversion = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.unwrap_or_else(|| PathBuf::from(std::env::var_os("HOME").unwrap()).join(".cargo"));
    let registries = fs::read_dir(home.join("registry/src")).unwrap();
    let found = registries.map(|registry| registry.unwrap().path().join(format!("tokio-{version}")));
    found.into_iter().find(|folder| folder.exists()).expect("tokio's source in a registry's folder")
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        match entry.file_name().to_str() {
            Some("tests" | "benches" | "examples") => {}
            _ if entry.file_type().unwrap().is_dir() => copy_folder(&entry.path(), &to),
            _ => drop(fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// Replaces words of a file. Fails if it does not have them.
fn replace(folder: &Path, (file, words, by): Edit) {
    let path = folder.join(file);
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.contains(words), "{file} of tokio does not contain `{words}` any more: adapt the edit");
    fs::write(&path, text.replace(words, by)).unwrap();
}
