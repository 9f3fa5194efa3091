//! Processes that are killed, full disks and noexec mounts, in processes of their own.

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use dyntrace::code::{self, Error, LoadError};

use crate::support::{Turn, load, module};

const PLACE: &str = "DYNTRACE_TEST_COPIES";

/// Runs the test of this name again in a process, with a directory for copies.
fn again(test: &str, place: &std::path::Path) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env(PLACE, place);
    command
}

/// The folders of processes in that directory.
fn folders(place: &std::path::Path) -> Vec<PathBuf> {
    let users = fs::read_dir(place).unwrap().next().unwrap().unwrap().path();
    fs::read_dir(users).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[tokio::test]
async fn the_next_process_removes_copies_of_a_killed_one() {
    if let Some(place) = env::var_os(PLACE) {
        let turn = Turn::take().await;
        code::allow(turn.policy().copies_in(place)).unwrap();
        load([&module("pricing_1")]).await.unwrap();
        println!("loaded");
        // Until it is killed.
        return std::future::pending().await;
    }
    let place = tempfile::tempdir().unwrap();
    let mut last = None;
    for _ in 0..3 {
        let mut child = again("kill::the_next_process_removes_copies_of_a_killed_one", place.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        assert!(lines.map_while(Result::ok).any(|line| line.ends_with("loaded")));
        let folders = folders(place.path());
        assert_eq!(folders.len(), 1, "{folders:?}");
        assert_ne!(Some(&folders), last.as_ref());
        assert_eq!(fs::read_dir(&folders[0]).unwrap().count(), 1);
        last = Some(folders);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}

#[tokio::test]
async fn a_disk_that_is_full() {
    if let Some(place) = env::var_os(PLACE) {
        let turn = Turn::take().await;
        code::allow(turn.policy().copies_in(&place)).unwrap();
        let Err(Error::Load(error)) = code::prepare(module("pricing_1")).await else { panic!("there is no room") };
        assert!(matches!(&error, LoadError::System { doing, .. } if doing.starts_with("copy")), "{error}");
        let left = folders(place.as_ref());
        assert_eq!(fs::read_dir(&left[0]).unwrap().count(), 0);
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let test = again("kill::a_disk_that_is_full", place.path());
    // Larger files give errors instead of a signal.
    let shell = "trap '' XFSZ && ulimit -f 1000 && exec \"$@\"";
    let mut limited = Command::new("sh");
    limited.args(["-c", shell, "sh"]).arg(test.get_program()).args(test.get_args()).env(PLACE, place.path());
    let output = limited.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[tokio::test]
async fn a_disk_that_nothing_may_run_from() {
    if let Some(place) = env::var_os(PLACE) {
        let turn = Turn::take().await;
        code::allow(turn.policy().copies_in(&place)).unwrap();
        let Err(Error::Load(error)) = code::prepare(module("pricing_1")).await else { panic!("it may not be mapped") };
        assert!(matches!(&error, LoadError::Linker { why, .. } if why.contains("noexec")), "{error}");
        assert_eq!(fs::read_dir(&folders(place.as_ref())[0]).unwrap().count(), 0);
        return;
    }
    let place = tempfile::tempdir().unwrap();
    let mount = format!("mount -t tmpfs -o noexec,size=1g none '{}' && exec \"$@\"", place.path().display());
    let on_disk = |program: &std::ffi::OsStr| {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--map-root-user", "sh", "-c", &mount, "sh"]).arg(program);
        command.env(PLACE, place.path());
        command
    };
    let trial = on_disk("true".as_ref()).output();
    if !trial.as_ref().is_ok_and(|trial| trial.status.success()) {
        return crate::missing::skip("mounts", &format!("no file system can be mounted here: {trial:?}"));
    }
    let test = again("kill::a_disk_that_nothing_may_run_from", place.path());
    let output = on_disk(test.get_program()).args(test.get_args()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
