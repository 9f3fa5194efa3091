//! Shared by the tests of modules.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyntrace::code::{self, Policy};
use tempfile::TempDir;
use tokio::sync::{Mutex, MutexGuard};

/// Modules belong to the whole process, so tests take turns.
static TURN: Mutex<()> = Mutex::const_new(());

/// A test's turn, with a directory of its own.
pub struct Turn {
    pub place: TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Turn {
    /// Waits for the turn. Then no module is current, and modules in the directory and those built by cargo may be loaded.
    pub async fn take() -> Turn {
        let turn = TURN.lock().await;
        let place = tempfile::tempdir().unwrap();
        for module in code::list() {
            clear(&module.name).await;
        }
        let turn = Turn { place, _turn: turn };
        code::allow(turn.policy()).unwrap();
        turn
    }

    /// The policy in force.
    pub fn policy(&self) -> Policy {
        let copies = self.path("copies");
        fs::create_dir_all(&copies).unwrap();
        let policy = Policy::new().directory(self.place.path()).directory(built()).copies_in(copies);
        policy.patience(Duration::from_secs(60))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.place.path().join(name)
    }

    /// A modified copy of a module.
    pub fn changed(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let mut bytes = fs::read(module(name)).unwrap();
        change(&mut bytes);
        let path = self.path(&format!("lib{name}.so"));
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The existing private copies.
    pub fn copies(&self) -> Vec<PathBuf> {
        let below = |folder: PathBuf| fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
        below(self.path("copies")).flat_map(below).flat_map(below).collect()
    }
}

/// Deletes and purges a module.
pub async fn clear(module: &str) {
    code::purge(module).await.unwrap();
    if code::delete(module).await.is_ok() {
        code::purge(module).await.unwrap();
    }
}

/// The folder where cargo puts this package's modules, above the tests' folder at a depth that depends on cargo's version.
pub fn built() -> PathBuf {
    let tests = env::current_exe().unwrap();
    tests.ancestors().map(|folder| folder.join("examples")).find(|folder| folder.is_dir()).expect("modules are built")
}

pub fn module(name: &str) -> PathBuf {
    let path = built().join(format!("lib{name}.so"));
    assert!(
        path.exists(),
        "{} is not there: `cargo build --examples` builds it, and so does `cargo test` where no test is named",
        path.display()
    );
    path
}

/// Prepares and finishes modules.
pub async fn load<const N: usize>(paths: [&Path; N]) -> Result<(), code::Error> {
    let mut prepared = Vec::new();
    for path in paths {
        prepared.push(code::prepare(path).await?);
    }
    code::finish(prepared).await
}
