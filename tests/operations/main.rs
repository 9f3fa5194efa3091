//! What the recorder sees of operations.
#![cfg(target_os = "linux")]

mod closes;
mod inline;
mod listings;
#[path = "../common/missing.rs"]
mod missing;

use std::sync::Mutex;

use dyntrace::recorder::{Options, Session};
use dyntrace_trace::{Operation, Operations, Trace};

/// Acts, and looks at the operations that ended meanwhile. A session sees the whole program: one at a time.
fn recorded<R>(act: impl FnOnce() -> R, look: impl FnOnce(R, &[Operation<'_>])) {
    static ALONE: Mutex<()> = Mutex::new(());
    let _alone = ALONE.lock();
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(folder.path())).unwrap();
    let result = act();
    session.stop().unwrap();
    let trace = Trace::open(folder.path()).unwrap();
    let mut operations = Operations::default();
    let ended: Vec<_> = trace.events().filter_map(|event| operations.push(&event)).collect();
    assert_eq!(operations.unmatched(), 0);
    look(result, &ended);
}

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test)
}

/// A FIFO, for operations that last until its other end does something.
fn fifo(folder: &tempfile::TempDir) -> std::path::PathBuf {
    let path = folder.path().join("fifo");
    rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    path
}
