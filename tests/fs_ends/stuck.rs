//! A write that never ends, into a FIFO without a reader: which operations wait for it, and how long.

use std::fs::File as StdFile;
use std::io::{Read, Write};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use dyntrace::aio_pool::Pool;
use dyntrace::efile::Driver;
use dyntrace::fs::OpenOptions;
use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::io::AsyncWriteExt;
use tokio::runtime::{Builder, Runtime};

/// Longer than this test's limit: a child that waits this long fails it.
const FOR_EVER: Duration = Duration::from_secs(24 * 3600);

fn install(exit_timeout: Duration) {
    assert!(Driver::install(Driver::new(Pool::builder().exit_timeout(exit_timeout).build())).is_ok());
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Accepts a write that waits for a reader.
async fn write_for_ever(folder: &Path) {
    let mut fifo = OpenOptions::new().read(true).write(true).open(folder.join("fifo")).await.unwrap();
    fifo.write_all(&vec![7; 1 << 20]).await.unwrap();
}

pub fn child(case: &str, folder: &Path) {
    match case {
        "told" => {
            install(Duration::from_millis(100));
            let runtime = runtime();
            runtime.block_on(write_for_ever(folder));
            runtime.shutdown_background();
        }
        "background" => {
            install(FOR_EVER);
            for runtime in [runtime(), Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()] {
                runtime.block_on(write_for_ever(folder));
                runtime.shutdown_background();
            }
            exit_at_once();
        }
        "fork" => {
            install(FOR_EVER);
            runtime().block_on(async {
                write_for_ever(folder).await;
                fork(folder);
                exit_at_once();
            });
        }
        "at-once" => {
            install(FOR_EVER);
            runtime().block_on(async {
                write_for_ever(folder).await;
                exit_at_once();
            });
        }
        other => panic!("no child is called {other}"),
    }
}

fn exit_at_once() -> ! {
    // SAFETY: ends the process without running its code.
    unsafe { libc::_exit(0) }
}

/// The grandchild exits normally, and its parent waits for it.
fn fork(folder: &Path) {
    // SAFETY: the child only creates a file and exits.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        StdFile::create(folder.join("child")).unwrap().write_all(b"exits").unwrap();
        std::process::exit(7);
    }
    let mut status = 0;
    // SAFETY: the child made above; the status is valid for writes.
    assert_eq!(unsafe { libc::waitpid(pid, &raw mut status, 0) }, pid);
    assert_eq!(libc::WEXITSTATUS(status), 7);
}

fn run(case: &str) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let fifo = folder.path().join("fifo");
    mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    let output = super::run(&format!("stuck:{case}"), folder.path());
    assert!(output.status.success(), "{case}: {output:?}");
    (folder, output)
}

pub fn is_told_of() {
    let (_folder, output) = run("told");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains("the process exits before 1 accepted file operations"), "{text}");
}

pub fn background_does_not_wait() {
    let (_folder, output) = run("background");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

pub fn forked_child_does_not_wait() {
    let (folder, _) = run("fork");
    let mut text = String::new();
    StdFile::open(folder.path().join("child")).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, "exits");
}

pub fn exit_at_once_does_not_wait() {
    run("at-once");
}
