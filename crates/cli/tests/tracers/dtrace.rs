//! The scripts and the definition of the probes under DTrace 2.

use std::thread;

use crate::answers::{self, FAILED_RENAME, REQUESTS, SIZES};
use crate::drivers;
use crate::events::{self, Order};
use crate::hostile;
use crate::machine::{self, tracers, turn};
use crate::pool;
use crate::programs::{
    CONNECTIONS, INLINE, MESSAGES, ORDERS, STORMS, USER_PROBES, done, example, orders, renamed, traced, traced_by_own,
};
use crate::waits;

/// DTrace writes a buffer for each processor.
fn sorted(lines: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = lines.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn every_operation_of_a_storm() {
    let Some(_turn) = turn("dtrace", true) else { return };
    for storm in STORMS {
        let (trace, said) = traced("dtrace", "efile_drv", "file_storm", storm);
        events::check(&trace, &done(&said), Order::PerProcessor, |port| port == "?");
    }
}

/// The calling threads answer cached reads and look-ups, as in other programs.
#[test]
fn operations_that_the_calling_thread_answers() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let (trace, said) = traced("dtrace", "efile_drv", "file_storm", INLINE);
    events::check(&trace, &done(&said), Order::PerProcessor, |port| port == "?");
    let (trace, said) = traced("dtrace", "efile_latency", "file_storm", INLINE);
    answers::latency(&trace, &done(&said));
}

#[test]
fn failed_operations() {
    let Some(_turn) = turn("dtrace", true) else { return };
    assert_eq!(traced("dtrace", "efile_errors", "rename_tagged", &[]).0, FAILED_RENAME);
    for storm in STORMS {
        let (trace, said) = traced("dtrace", "efile_errors", "file_storm", storm);
        answers::errors(&trace, &done(&said));
    }
}

#[test]
fn where_time_goes() {
    let Some(_turn) = turn("dtrace", true) else { return };
    for storm in STORMS {
        let (trace, said) = traced("dtrace", "efile_latency", "file_storm", storm);
        answers::latency(&trace, &done(&said));
    }
}

#[test]
fn commands_of_each_user_tag() {
    let Some(_turn) = turn("dtrace", true) else { return };
    for (storm, sizes) in STORMS.into_iter().zip(SIZES) {
        let (trace, said) = traced("dtrace", "efile_by_tag", "file_storm", storm);
        answers::by_tag(&trace, &done(&said), sizes);
    }
}

#[test]
fn how_long_the_queues_are() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let (trace, said) = traced("dtrace", "aio_pool", "file_storm", STORMS[1]);
    pool::check(&trace, &done(&said));
}

/// The scripts make no figure of variables that DTrace has no room for, and `dyntrace run` counts these as lost.
#[test]
fn more_variables_than_dtrace_has_room_for() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let folder = tempfile::tempdir().expect("a directory for the script");
    let starved = |(name, room, program, arguments): (&str, &str, &str, &[&str])| {
        let script = dyntrace::scripts::find(name).expect("a shipped script").d;
        let (before, after) = script.split_once("dynvarsize=").expect("its option");
        let after = after.trim_start_matches(|c: char| c != '\n');
        let path = folder.path().join(format!("{name}.d"));
        std::fs::write(&path, format!("{before}dynvarsize={room}{after}")).expect("writing the script");
        let trace = folder.path().join(name);
        let mut run = machine::command(env!("CARGO_BIN_EXE_dyntrace"));
        run.args(["run", "--tracer", "dtrace"]).arg(&path).arg("-o").arg(&trace);
        let output = run.arg("--").arg(example(program)).args(arguments).output().expect("dyntrace starts");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(output.status.code() == Some(3) && said.contains("dtrace lost "), "{}: {said}", output.status);
        std::fs::read_to_string(&trace).expect("dyntrace writes the trace")
    };
    let many: &[&str] = &["--tasks", "500", "--operations", "1", "--mix", "read"];
    let runs = [
        ("efile_latency", "64k", "file_storm", many),
        ("task_waits", "20k", "known_waits", &[waits::COUNT] as &[&str]),
    ];
    // Both at once: each DTrace computes for seconds before it traces, on one processor.
    let [phases, waits] = thread::scope(|scope| {
        runs.map(|run| scope.spawn(move || starved(run))).map(|run| run.join().expect("what it lost"))
    });
    // A missing time reads as 0, and the time since then is that since the machine began, or nearly 2^64.
    let up = std::fs::read_to_string("/proc/uptime").expect("seconds");
    let up = up.split('.').next().and_then(|seconds| seconds.parse::<u64>().ok()).expect("a number") * 1_000_000;
    let means =
        phases.lines().filter_map(|line| answers::words(line.split_once(" in queue ")?.1)[1].parse::<u64>().ok());
    let means: Vec<u64> = means.collect();
    assert!(!means.is_empty() && means.iter().all(|mean| *mean < up), "{phases}");
    let unfollowed =
        waits.lines().find_map(|line| line.strip_prefix("waits: ")?.split(", ").nth(2)).expect("the counts");
    assert!(unfollowed != "0 not followed" && !waits.contains(" -"), "{waits}");
}

#[test]
fn how_long_messages_wait() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let (trace, report) = traced("dtrace", "message_latency", "pipeline", &REQUESTS);
    answers::message_latency(&trace, &report);
}

#[test]
fn the_lines_to_the_letter() {
    let Some(_turn) = turn("dtrace", true) else { return };
    assert_eq!(sorted(&traced("dtrace", "efile_drv", "rename_tagged", &[]).0), sorted(&renamed("?")));
    assert_eq!(sorted(&traced("dtrace", "messages", "every_event", &[]).0), sorted(MESSAGES));
    assert_eq!(sorted(&traced("dtrace", "dist", "every_event", &[]).0), sorted(CONNECTIONS));
    assert_eq!(sorted(&traced("dtrace", "user-probe", "every_event", &[]).0), sorted(USER_PROBES));
    assert_eq!(sorted(&traced("dtrace", &orders("d"), "own_provider", &[]).0), sorted(ORDERS));
}

#[test]
fn the_example_drivers() {
    let Some(_turn) = turn("dtrace", true) else { return };
    drivers::check("dtrace", "d", events::port);
}

#[test]
fn hostile_names() {
    let Some(_turn) = turn("dtrace", true) else { return };
    // 511 bytes, the last of them half a character.
    hostile::check("dtrace", "?", &("ä".repeat(255) + r"\xc3"), |text| text[..511].to_owned());
}

/// DTrace compiles each clause for the process that it starts, and for any process.
#[test]
fn the_scripts_by_hand() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let folder = tempfile::tempdir().expect("a directory for the script");
    let both = folder.path().join("both.d");
    for script in dyntrace::scripts::ALL.iter() {
        let clauses = script.d.find("\ndyntrace$target").expect("a clause");
        let by_wildcard = script.d[clauses..].replace("dyntrace$target", "dyntrace*");
        std::fs::write(&both, script.d.to_owned() + &by_wildcard).expect("writing the script");
        // -Z: natively, no probe matches a wildcard.
        let mut dtrace = machine::command(tracers().join("dtrace"));
        machine::run(dtrace.args(["-e", "-Z", "-s"]).arg(&both).arg("-c").arg(example("every_event")));
    }
}

#[test]
fn a_script_of_ones_own_and_options() {
    let Some(_turn) = turn("dtrace", true) else { return };
    let text = "arg0 == 0 ? \"\" : copyinstr(arg0)";
    let script = &format!("dyntrace$target:::user_trace-s1 {{ printf(\"[%-14s]\\n\", {text}); }}");
    let own = |options: &[&str]| traced_by_own("dtrace", options, "own.d", script);
    assert_eq!(own(&["-q"]), "[hello, world  ]\n[              ]\n");
    assert_eq!(own(&["-x", "quiet"]), own(&["-q"]));
    let loud = own(&[]);
    assert!(loud.contains("FUNCTION:NAME") && loud.contains("user_trace-s1 [hello, world  ]\n"), "{loud}");
}

/// By DTrace's own compiler, and by SystemTap's program of the same name.
#[test]
fn provider_d_is_accepted() {
    for tool in ["dtrace", "stap"] {
        let Some(_turn) = turn(tool, true) else { continue };
        let dtrace = if tool == "dtrace" { tracers().join(tool) } else { "/usr/bin/dtrace".into() };
        let folder = tempfile::tempdir().expect("a directory for the header");
        let header = folder.path().join("provider.h");
        let definition = machine::workspace().join("provider.d");
        machine::run(machine::command(dtrace).args(["-h", "-s"]).arg(definition).arg("-o").arg(&header));
        let header = std::fs::read_to_string(header).expect("dtrace writes the header");
        assert!(header.contains("DYNTRACE_EFILE_DRV_ENTRY"), "{tool}: {header}");
    }
}
