//! What `dyntrace view` says of a trace with calls in a module that is gone.

use std::env;
use std::process::Command;

use dyntrace::code::{self, Purged};
use dyntrace::recorder;
use dyntrace::trace::{Limits, Session};

use crate::missing;
use crate::support::{Turn, export, load};

#[tokio::test]
async fn places_in_a_module_that_is_gone() {
    let _turn = Turn::take().await;
    let dyntrace = env::current_exe().unwrap().ancestors().nth(2).unwrap().join("dyntrace");
    if !dyntrace.exists() {
        missing::skip("dyntrace", "not built: cargo build -p dyntrace-cli");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let recording = recorder::Session::start(recorder::Options::new(folder.path())).unwrap();
    let calls = Session::to_probes(Limits::default()).unwrap();
    load("v1").await;
    calls.pattern("shelf::weigh do caller").await.unwrap();
    export::<fn(u32) -> u32>("weighed").call(7).unwrap();
    code::delete("shelf").await.unwrap();
    assert_eq!(code::purge("shelf").await.unwrap(), Purged::Unloaded);
    load("v2").await;
    calls.close().await;
    recording.stop().unwrap();

    let output = Command::new(dyntrace).arg("view").arg(folder.path()).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let call = shown.lines().find(|line| line.contains("shelf::weigh")).unwrap_or_else(|| panic!("{shown}"));
    assert!(call.contains("shelf::weighed") && call.contains(" in shelf 1\""), "{call}");
}
