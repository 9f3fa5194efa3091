//! Running programs, and their last events.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Stdio};
use std::thread;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::page;
use crate::place::{Firing, Place, Ran, send, wait_for_session};
use crate::{missing, program};

#[test]
fn a_running_process_until_an_interrupt() {
    let place = Place::new();
    let mut firing = place.controlled();
    firing.fire();
    let pid = firing.pid();
    let recording =
        place.dyntrace(&["record", "--json", "-o", "trace", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    firing.fire();
    send(&recording, Signal::SIGINT);
    let summary = Ran::of(recording.wait_with_output().unwrap()).summary();
    assert_eq!((&summary["events"], &summary["threads"]), (&100.into(), &1.into()));
    firing.fire();
    assert_eq!(place.events("trace").len(), 100, "the session has ended");
}

#[test]
fn a_recording_ends_after_its_time() {
    let place = Place::new();
    let firing = place.controlled();
    place.run(&["record", "-o", "trace", "-p", &firing.pid(), "--for", "1ms"]).says(0, "");
    place.run(&["export", "-p", &firing.pid(), "--for", "1ms"]).says(0, "");
    place.run(&["record", "--for", "1s", "--", "true"]).says(2, "cannot be used with");
}

/// The process opens its control socket at its first operation, message, poll of a task or event after the request, which a later command finds, too.
#[test]
fn a_running_process_that_was_not_prepared() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "without it the kernel may refuse the memory of another process");
    }
    let roles = [
        ("operate", "dyntrace:efile_drv-entry"),
        ("send", "dyntrace:message-send"),
        ("poll", "dyntrace:process-spawn"),
        ("serve", "dyntrace:user_trace-i4s4"),
    ];
    for (role, probe) in roles {
        let place = Place::new();
        let mut command = program(role);
        place.put(&mut command);
        let mut firing = Firing::start(&mut command);
        let pid = firing.pid();
        firing.fire();
        place.run(&["status", "-p", &pid]).says(65, "has no control socket");
        let recording = place.dyntrace(&["record", "-o", "trace", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
        while !place.run(&["status", "-p", &pid]).out.contains("1 session") {
            firing.fire();
        }
        firing.fire();
        send(&recording, Signal::SIGINT);
        Ran::of(recording.wait_with_output().unwrap()).says(0, "");
        let events = place.events("trace");
        assert!(events.iter().any(|event| event["probe"] == probe), "{role}: {events:?}");
        assert!(place.run(&["status", "-p", &pid]).out.contains("records nothing"));
    }
}

/// As by a cleaner of old files. The second time, a session records the events, and its command is still connected.
#[test]
fn a_socket_that_is_removed_is_opened_again() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "without it the kernel may refuse the memory of another process");
    }
    let place = Place::new();
    let mut firing = place.controlled();
    let pid = firing.pid();
    let record = |trace| {
        fs::remove_dir_all(place.path("run/dyntrace")).unwrap();
        place.dyntrace(&["record", "-o", trace, "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap()
    };
    let mut is = |recording: &mut Child, what| {
        while !place.run(&["status", "-p", &pid]).out.contains(what) {
            assert_eq!(recording.try_wait().unwrap(), None, "it goes on");
            firing.fire();
        }
        firing.fire();
    };
    let mut first = record("first");
    is(&mut first, "1 session");
    let mut second = record("second");
    is(&mut second, "2 sessions");
    for (recording, trace) in [(first, "first"), (second, "second")] {
        send(&recording, Signal::SIGINT);
        Ran::of(recording.wait_with_output().unwrap()).says(0, "");
        assert!(!place.events(trace).is_empty(), "{trace}");
    }
    let servers = || {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let names = threads.filter_map(|thread| fs::read_to_string(thread.unwrap().path().join("comm")).ok());
        names.filter(|name| name.starts_with("dyntrace-contro")).count()
    };
    while servers() > 1 {
        thread::yield_now();
    }
    place.run(&["status", "-p", &pid]).says(0, "");
}

#[test]
fn a_running_process_until_it_is_killed() {
    let place = Place::new();
    let mut firing = place.controlled();
    let pid = firing.pid();
    let recording = place.dyntrace(&["record", "--json", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    let mut fields = page::Fields::new(&[]);
    fields.add(&serde_json::from_str(&place.run(&["status", "-p", &pid, "--json"]).out).unwrap());
    fields.are_those_below("dyntrace status --json");
    firing.fire();
    drop(firing);
    let summary = Ran::of(recording.wait_with_output().unwrap()).summary();
    assert_eq!((&summary["events"], &summary["lost"]), (&100.into(), &0.into()));
}

#[test]
fn a_killed_dyntrace_leaves_no_session() {
    let place = Place::new();
    let firing = place.controlled();
    let pid = firing.pid();
    let mut recording = place.dyntrace(&["record", "-p", &pid]).stderr(Stdio::null()).spawn().unwrap();
    wait_for_session(&place, &pid);
    recording.kill().unwrap();
    assert_eq!(recording.wait().unwrap().signal(), Some(9));
    while !place.run(&["status", "-p", &pid]).out.contains("records nothing") {}
}

#[test]
fn the_last_events_meanwhile_and_after_a_crash() {
    let place = Place::new();
    let mut command = place.recording(&["--overwrite", "--size", "64K", "-o", "trace"], "serve");
    let mut firing = Firing::start(command.stderr(Stdio::piped()));
    for _ in 0..50 {
        firing.fire();
    }
    let status = place.run(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status.out).unwrap();
    let pid = status[0]["pid"].to_string();
    let summary = place.run(&["snapshot", "-p", &pid, "-o", "last", "--json"]).summary();
    let kept = summary["events"].as_u64().unwrap();
    assert!(kept > 100 && kept < 5000, "{summary}");
    assert_eq!(place.events("last").last().unwrap()["i2"], 99);

    kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGSTOP).unwrap();
    let recovered = place.run(&["recover", "trace", "-o", "recovered", "--json"]).summary();
    assert_eq!(recovered["events"], kept);
    place.run(&["recover", "trace", "-o", "recovered"]).says(2, "not an empty folder");
    place.run(&["recover", "run", "-o", "more"]).says(66, "no trace in");
    kill(Pid::from_raw(pid.parse().unwrap()), Signal::SIGKILL).unwrap();

    assert_eq!(firing.child.wait().unwrap().code(), Some(128 + 9));
    assert_eq!(place.events("trace").len() as u64, kept, "record has made a plain trace of it");
}

#[test]
fn circular_files_are_read_by_every_command_without_recovery() {
    let place = Place::new();
    let recorded = |role: &str, trace: &str| {
        let mut command = program(role);
        place.put(command.env("DYNTRACE", format!("record:{trace},mode=overwrite,size=64K")));
        command
    };
    let mut running = Firing::start(&mut recorded("operate", "killed"));
    for _ in 0..3 {
        running.fire();
    }
    let events = place.events("killed").len() as u64;
    assert!(events >= 6, "while it runs: {events}");
    drop(running);
    let recovered = place.run(&["recover", "killed", "-o", "recovered", "--json"]).summary();
    assert_eq!((recovered["events"].as_u64(), place.events("killed").len() as u64), (Some(events), events));
    let diff: Value = serde_json::from_str(&place.run(&["diff", "killed", "recovered", "--json"]).out).unwrap();
    assert_eq!(diff["a"]["events"], diff["b"]["events"]);
    let operations = |trace: &str| place.run(&["top", "-r", trace, "--json"]).out.matches("FSTAT").count();
    assert_eq!((operations("killed"), operations("recovered")), (1, 1));
    place.run(&["report", "killed", "-o", "page.html"]).says(0, "");
    assert!(fs::read_to_string(place.path("page.html")).unwrap().contains("FSTAT"));
    place.run(&["convert", "killed", "--to", "csv", "-o", "csv"]).says(0, "");
    assert_eq!(fs::read_to_string(place.path("csv/dyntrace.efile_drv-return.csv")).unwrap().lines().count(), 1 + 3);

    // After a normal end.
    assert!(recorded("fire 100", "ended").stdout(Stdio::null()).status().unwrap().success());
    assert_eq!(place.events("ended").len(), 300);
    assert!(place.path("ended").read_dir().unwrap().all(|process| process.unwrap().path().join(".rings").exists()));
    // A recording without an event is not shown as a complete one.
    assert!(recorded("exit 0", "empty").stdout(Stdio::null()).status().unwrap().success());
    for arguments in [
        &["view", "empty"][..],
        &["report", "empty", "-o", "page.html"],
        &["diff", "ended", "empty"],
        &["top", "-r", "empty", "--once"],
        &["convert", "empty", "--to", "csv", "-o", "no-csv"],
        &["convert", "empty", "--to", "parquet", "--partition", "host,date,hour", "--final", "-o", "fleet"],
    ] {
        place.run(arguments).says(5, "empty has no event: the recording was not ended, so it is not known whether");
    }
}

#[test]
fn a_trace_that_is_removed_meanwhile_is_told() {
    let place = Place::new();
    let mut firing = place.controlled();
    let pid = firing.pid();
    let recording =
        place.dyntrace(&["record", "--overwrite", "-o", "trace", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    firing.fire();
    assert!(!place.run(&["status", "-p", &pid]).out.contains("removed"));
    let metrics = || place.run(&["metrics", "-p", &pid]).out;
    assert!(metrics().contains("dyntrace_recorder_files_removed{session=\"1\"} 0\n"));
    fs::remove_dir_all(place.path("trace")).unwrap();
    let status = place.run(&["status", "-p", &pid]).out;
    assert!(status.contains("files were removed from") && status.contains("/trace/"), "{status}");
    assert!(metrics().contains("dyntrace_recorder_files_removed{session=\"1\"} 1\n"), "{}", metrics());
    let snapshot = place.run(&["snapshot", "-o", "last", "-p", &pid]);
    snapshot.says(1, "/process, a file of the trace that is recorded: No such file");
    snapshot.says(1, "/trace/");
    send(&recording, Signal::SIGINT);
    let ended = Ran::of(recording.wait_with_output().unwrap());
    assert_ne!(ended.status, Some(0), "{ended:?}");
}

#[test]
fn the_last_events_before_a_panic() {
    let place = Place::new();
    let ran = place.record(&["--overwrite", "--slower", "1h"], "exit 0");
    ran.says(2, "expected a time in ns, us, ms or s");
    let ran = place.record(&["--overwrite", "--on-panic", "--slower", "600s", "-o", "trace"], "panic");
    // The test harness catches the panic, and prints it.
    ran.says(101, "\n1 snapshot: trace-snapshots/record-");
    let snapshot = ran.err.trim_end().rsplit(' ').next().unwrap().to_owned();
    assert!(snapshot.ends_with("-1-panic"), "{ran:?}");
    assert_eq!(place.events(&snapshot).last().unwrap()["i2"], 99);
    assert!(!place.record(&["--overwrite", "--on-panic", "-o", "another"], "exit 0").err.contains("snapshot"));
    assert!(!place.path("another-snapshots").exists(), "what was made for nothing is removed");
}

#[test]
fn a_filter_that_changes() {
    let place = Place::new();
    let mut firing = place.controlled();
    let pid = firing.pid();
    place.run(&["filter", "-p", &pid]).says(65, "records nothing: start dyntrace record -p");
    let recording =
        place.dyntrace(&["record", "--json", "-o", "trace", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    for (filter, is_recorded) in [
        (&["--tag", "other-*"][..], false),
        (&["--tag", "req-?", "--failed"], true),
        (&["--probes", "efile_drv__*,aio_pool-add"], false),
        (&[], true),
    ] {
        place.run(&[&["filter", "-p", &pid], filter].concat()).says(0, "");
        let before = place.events("trace").len();
        firing.fire();
        let recorded = place.events("trace").len() - before;
        assert_eq!(recorded, if is_recorded { 100 } else { 0 }, "{filter:?}");
    }
    let second = place.dyntrace(&["record", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    while !place.run(&["status", "-p", &pid]).out.contains("2 sessions") {}
    place.run(&["filter", "-p", &pid]).says(2, "several such sessions: choose one of [");
    place.run(&["filter", "-p", &pid, "--session", "4711"]).says(1, "there is no session 4711");
    place.run(&["filter", "-p", &pid, "--session", "1", "--failed"]).says(0, "");
    for recording in [recording, second] {
        send(&recording, Signal::SIGINT);
        assert!(recording.wait_with_output().unwrap().status.success());
    }
}
