//! Compiles and loads the modules.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, channel};

use dyntrace::code::{self, Policy};
use dyntrace::trace::{Event, Limits, Session};
use tokio::sync::{Mutex, MutexGuard};

/// Modules belong to the whole program, so tests take turns.
static TURN: Mutex<()> = Mutex::const_new(());

/// A test's turn, which begins without modules.
pub struct Turn(#[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Turn {
    pub async fn take() -> Turn {
        let turn = TURN.lock().await;
        let folder = folder();
        code::allow(Policy::new().directory(folder).copies_in(folder)).unwrap();
        code::purge("shelf").await.ok();
        if code::delete("shelf").await.is_ok() {
            code::purge("shelf").await.unwrap();
        }
        Turn(turn)
    }
}

/// Returns the folder of the module's versions, which are compiled once.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest");
        fs::create_dir_all(&folder).unwrap();
        compile(&folder, "v1");
        compile(&folder, "v2");
        folder
    })
}

/// Compiles without cargo, as the module needs the library that this test is linked with, and is built twice from one source.
fn compile(folder: &Path, version: &str) {
    let dependencies = env::current_exe().unwrap().parent().unwrap().to_owned();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guest/shelf.rs");
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "shelf", "--cfg", version]);
    rustc.arg("--check-cfg=cfg(v1, v2)").arg(source);
    rustc.arg("--extern").arg(format!("dyntrace={}", dyntrace(&dependencies).display()));
    rustc.arg("-L").arg(format!("dependency={}", dependencies.display()));
    rustc.arg("-o").arg(folder.join(version).with_extension("so"));
    assert!(rustc.status().unwrap().success(), "{version}");
}

/// Returns the last library built before this program, which is linked with it. Later ones belong to other builds.
fn dyntrace(dependencies: &Path) -> PathBuf {
    let modified = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
    let linked = modified(&env::current_exe().unwrap());
    let entries = fs::read_dir(dependencies).unwrap().map(|entry| entry.unwrap());
    let is_library = |name: &str| name.starts_with("libdyntrace-") && name.ends_with(".rlib");
    let libraries = entries.filter(|entry| is_library(&entry.file_name().to_string_lossy())).map(|entry| entry.path());
    libraries.filter(|path| modified(path) <= linked).max_by_key(|path| modified(path)).unwrap()
}

/// Returns the file of a version.
pub fn file(version: &str) -> PathBuf {
    folder().join(version).with_extension("so")
}

/// Loads a version, or upgrades to it.
pub async fn load(version: &str) {
    let prepared = code::prepare(file(version)).await.unwrap_or_else(|error| panic!("{error}"));
    code::finish([prepared]).await.unwrap_or_else(|error| panic!("{error}"));
}

pub fn export<F: code::Signature>(name: &str) -> code::HandleOf<F> {
    code::lookup::<F>("shelf", name).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a session, and returns it with its events.
pub fn session() -> (Session, Receiver<Event>) {
    let (send, events) = channel();
    let session = Session::start(Limits::default(), move |event| _ = send.send(event.clone())).unwrap();
    (session, events)
}

/// Returns all events without times.
pub async fn end((session, events): (Session, Receiver<Event>)) -> Vec<String> {
    session.close().await;
    let shown = events.try_iter().map(|mut event| {
        (event.took, event.polled) = (None, None);
        event.to_string()
    });
    shown.collect()
}
