//! Modules: copies of one library, each with a name of its own.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use dyntrace::code::{self, Policy, Prepared};
use tempfile::TempDir;

/// The name in the copied library.
const NAME: &str = "module_0000";

/// A folder of modules, and the library from which they are copied.
pub struct Made {
    directory: TempDir,
    library: Vec<u8>,
}

/// Finds the library beside the program.
pub fn library() -> PathBuf {
    std::env::current_exe().expect("the program's path").with_file_name("libbench_module.so")
}

impl Made {
    /// Allows modules from the folder. They have no debug information, which would be most of their size.
    pub fn new() -> Made {
        let directory = tempfile::tempdir().expect("a folder for modules");
        let small = directory.path().join("small.so");
        let stripped = Command::new("strip").arg("--strip-debug").arg("-o").args([&small, &library()]).status();
        assert!(stripped.is_ok_and(|status| status.success()), "strip, of binutils, is needed");
        Made::of(&small, directory)
    }

    /// The same with debug information.
    pub fn with_lines() -> Made {
        Made::of(&library(), tempfile::tempdir().expect("a folder for modules"))
    }

    fn of(library: &Path, directory: TempDir) -> Made {
        code::allow(Policy::new().directory(directory.path())).expect("a folder of one's own");
        Made { library: fs::read(library).expect("the library beside the program"), directory }
    }

    /// Prepares the module with this number.
    pub async fn prepared(&self, number: usize) -> Prepared {
        code::prepare(self.file(number)).await.expect("a module that can be loaded")
    }

    fn file(&self, number: usize) -> PathBuf {
        let path = self.directory.path().join(format!("{number}.so"));
        if !path.exists() {
            fs::write(&path, self.renamed(number)).expect("room for modules");
        }
        path
    }

    fn renamed(&self, number: usize) -> Vec<u8> {
        let (old, new) = (NAME.as_bytes(), name(number));
        let mut bytes = self.library.clone();
        let mut from = 0;
        while let Some(at) = bytes[from..].windows(old.len()).position(|window| window == old) {
            from += at + old.len();
            bytes[from - old.len()..from].copy_from_slice(new.as_bytes());
        }
        assert!(from > 0, "the library says its name");
        bytes
    }
}

pub fn name(number: usize) -> String {
    format!("module_{number:04}")
}

/// Deletes a module and unloads it.
pub async fn remove(number: usize) {
    let name = name(number);
    code::delete(&name).await.expect("it is current");
    assert_eq!(code::purge(&name).await.expect("nobody is inside"), code::Purged::Unloaded);
}
