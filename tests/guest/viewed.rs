//! The output of `dyntrace view` for a trace with calls in an unloaded module.

use std::path::Path;
use std::process::Command;

use dyntrace::code::{self, Purged};
use dyntrace::recorder;
use dyntrace::trace::{Limits, Session};
use tempfile::TempDir;

use crate::command::dyntrace;
use crate::support::{Turn, export, load};

#[tokio::test]
async fn places_in_a_module_that_is_gone() {
    let _turn = Turn::take().await;
    let Some(dyntrace) = dyntrace() else { return };
    let Recorded { folder, recording, calls } = Recorded::begin();
    load("v1").await;
    calls.set("shelf::weigh do caller").await.unwrap();
    export::<fn(u32) -> u32>("weighed").call(7).unwrap();
    code::delete("shelf").await.unwrap();
    assert_eq!(code::purge("shelf").await.unwrap(), Purged::Unloaded);
    load("v2").await;
    calls.close().await;
    recording.stop().unwrap();

    let shown = view(&dyntrace, folder.path());
    let call = shown.lines().find(|line| line.contains("shelf::weigh")).unwrap_or_else(|| panic!("{shown}"));
    assert!(call.contains("shelf::weighed") && call.contains(" in shelf 1\""), "{call}");
}

#[inline(never)]
fn buys(number: u32) -> u32 {
    export::<fn(u32) -> u32>("weighed").call(number).unwrap() + 1
}

/// Stacks show no function of this crate between an export and its caller, also on a thread new to modules, which takes another path.
#[tokio::test]
async fn the_caller_of_an_export_is_the_function_that_called_it() {
    let _turn = Turn::take().await;
    let Some(dyntrace) = dyntrace() else { return };
    let Recorded { folder, recording, calls } = Recorded::begin();
    load("v1").await;
    calls.set("export shelf::weighed do caller").await.unwrap();
    buys(1);
    std::thread::spawn(|| buys(2)).join().unwrap();
    calls.close().await;
    recording.stop().unwrap();

    let shown = view(&dyntrace, folder.path());
    let calls: Vec<_> = shown.lines().filter(|line| line.contains("export shelf::weighed")).collect();
    assert_eq!(calls.len(), 2, "{shown}");
    for call in calls {
        assert!(call.contains("viewed::buys") && !call.contains("__dyntrace"), "{call}");
    }
}

/// Starts a recording, and a session whose calls are recorded.
struct Recorded {
    folder: TempDir,
    recording: recorder::Session,
    calls: Session,
}

impl Recorded {
    fn begin() -> Recorded {
        let folder = tempfile::tempdir().unwrap();
        let recording = recorder::Session::start(recorder::Options::new(folder.path())).unwrap();
        Recorded { folder, recording, calls: Session::to_probes(Limits::default()).unwrap() }
    }
}

/// Returns the output of `dyntrace view` for a trace.
fn view(dyntrace: &Path, trace: &Path) -> String {
    let output = Command::new(dyntrace).arg("view").arg(trace).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}
