//! The scripts under bpftrace.

use crate::answers::{self, FAILED_RENAME, REQUESTS, SIZES};
use crate::drivers;
use crate::events::{self, Order};
use crate::hostile;
use crate::machine::{self, turn};
use crate::programs::{
    CHECKOUT, CONNECTIONS, INLINE, MESSAGES, ORDERS, STORMS, USER_PROBES, done, example, orders, renamed, traced,
    traced_by_own,
};

#[test]
fn every_operation_of_a_storm() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    for storm in STORMS {
        let (trace, said) = traced("bpftrace", "efile_drv", "file_storm", storm);
        events::check(&trace, &done(&said), Order::OfTime, events::port);
    }
}

/// The calling threads answer cached reads and look-ups, as in other programs.
#[test]
fn operations_that_the_calling_thread_answers() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let (trace, said) = traced("bpftrace", "efile_drv", "file_storm", INLINE);
    events::check(&trace, &done(&said), Order::OfTime, events::port);
    let (trace, said) = traced("bpftrace", "efile_latency", "file_storm", INLINE);
    answers::latency(&trace, &done(&said));
}

#[test]
fn failed_operations() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    assert_eq!(traced("bpftrace", "efile_errors", "rename_tagged", &[]).0, FAILED_RENAME);
    for storm in STORMS {
        let (trace, said) = traced("bpftrace", "efile_errors", "file_storm", storm);
        answers::errors(&trace, &done(&said));
    }
}

#[test]
fn where_time_goes() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    // `beside` tests the other storm.
    let (trace, said) = traced("bpftrace", "efile_latency", "file_storm", STORMS[0]);
    answers::latency(&trace, &done(&said));
}

#[test]
fn commands_of_each_user_tag() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let (trace, said) = traced("bpftrace", "efile_by_tag", "file_storm", STORMS[0]);
    answers::by_tag(&trace, &done(&said), SIZES[0]);
}

/// With more rows than the script's maps have.
#[test]
fn commands_of_each_of_many_user_tags() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let many = ["--tasks", "4000", "--operations", "1", "--mix", "read"];
    let (trace, said) = traced("bpftrace", "efile_by_tag", "file_storm", &many);
    let done = done(&said);
    assert!(done.len() * 4000 > 16384, "too few rows to test: {said}");
    answers::by_tag(&trace, &done, &[("READ", 8), ("WRITE_FILE", 19)]);

    // Without `dyntrace run` it says how many it has not counted.
    let script = machine::workspace().join("bt-scripts/efile_by_tag.bt");
    let program = example("file_storm");
    let mut bare = machine::command("bpftrace");
    bare.arg("-q").arg("-c").arg(format!("{} {}", program.display(), many.join(" "))).arg(script).arg(program);
    let output = machine::run(&mut bare);
    let (out, said) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let rows =
        out.lines().filter_map(|line| line.split_once(" req-")?.0.split_whitespace().nth(1)?.parse::<u64>().ok());
    let (_, uncounted) = said.split_once("no room for more rows: ").unwrap_or_else(|| panic!("{said}"));
    let uncounted: u64 = uncounted.split(' ').next().and_then(|count| count.parse().ok()).expect("a count");
    assert_eq!(rows.sum::<u64>() + uncounted, done.values().map(|(ok, failed)| ok + failed).sum::<u64>(), "{said}");
}

/// The script counts entries that have no room in the maps as lost, and makes no figure of them.
#[test]
fn more_in_flight_than_the_maps_hold() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let table = |keys: &str, script: &str, program: &str, arguments: &[&str]| {
        let mut run = machine::command(env!("CARGO_BIN_EXE_dyntrace"));
        let folder = tempfile::tempdir().expect("a directory for the trace");
        let trace = folder.path().join("trace");
        run.args(["run", "--tracer", "bpftrace", script, "-o"])
            .arg(&trace)
            .arg("--")
            .arg(example(program))
            .args(arguments);
        let output = run.env("BPFTRACE_MAX_MAP_KEYS", keys).output().expect("dyntrace starts");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(3), "{said}");
        assert!(said.contains("bpftrace had no room for ") && said.matches("WARNING: Map full").count() < 20, "{said}");
        std::fs::read_to_string(&trace).expect("dyntrace writes the trace")
    };
    // Columns of times in microseconds: the time since the machine began is longer.
    let longest = |table: &str, row: &str, column: usize| {
        let rows = table.lines().filter(|line| line.contains(row));
        rows.map(|line| answers::words(line)[column].parse::<u64>().expect("a number")).max().expect("a row")
    };
    let up = std::fs::read_to_string("/proc/uptime").expect("seconds");
    let up = up.split('.').next().and_then(|seconds| seconds.parse::<u64>().ok()).expect("a number") * 1_000_000;
    let files = ["/etc/hostname"; 200];
    let messages = table("6", "message_latency", "pipeline", &files);
    assert!(longest(&messages, " <0.", 5) < up, "{messages}");
    let operations = ["--tasks", "100", "--operations", "1", "--mix", "read"];
    let phases = table("64", "efile_latency", "file_storm", &operations);
    assert!(longest(&phases, " in queue ", 4) < up, "{phases}");
}

#[test]
fn how_long_messages_wait() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let (trace, report) = traced("bpftrace", "message_latency", "pipeline", &REQUESTS);
    answers::message_latency(&trace, &report);
}

#[test]
fn a_script_of_ones_own_and_options() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let script = "usdt:$1:dyntrace:user_trace__s1 { printf(\"[%-14s]\\n\", str(arg0)); }";
    let own = |options: &[&str]| traced_by_own("bpftrace", options, "own.bt", script);
    assert_eq!(own(&[]).trim(), "[hello, world  ]\n[              ]");
    let json = own(&["-f", "json"]);
    assert!(json.contains(r#"{"type": "printf", "data": "[hello, world  ]\n"}"#), "{json}");
}

#[test]
fn the_lines_to_the_letter() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    assert_eq!(traced("bpftrace", "efile_drv", "rename_tagged", &[]).0, renamed("#Port<0.1>"));
    assert_eq!(traced("bpftrace", "messages", "every_event", &[]).0, MESSAGES);
    assert_eq!(traced("bpftrace", "dist", "every_event", &[]).0, CONNECTIONS);
    assert_eq!(traced("bpftrace", "user-probe", "every_event", &[]).0, USER_PROBES);
    assert_eq!(traced("bpftrace", "user-probe", "checkout", &[]).0, CHECKOUT);
    assert_eq!(traced("bpftrace", &orders("bt"), "own_provider", &[]).0, ORDERS);
}

#[test]
fn the_example_drivers() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    drivers::check("bpftrace", "bt", events::port);
}

#[test]
fn hostile_names() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    // 512 bytes, and a mark that there are more.
    hostile::check("bpftrace", "#Port<0.1>", &("ä".repeat(256) + ".."), |text| format!("{}..", &text[..512]));
}

#[test]
fn the_scripts_by_hand() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    for name in dyntrace::scripts::ALL.iter().map(|script| script.name) {
        let script = machine::workspace().join(format!("bt-scripts/{name}.bt"));
        machine::run(machine::command("bpftrace").arg("--dry-run").arg(script).arg(example("every_event")));
    }
}

/// Both kinds of site: a 5-byte one becomes a call, which pushes onto the stack.
#[test]
fn leaf_functions_keep_their_values() {
    let Some(_turn) = turn("bpftrace", true) else { return };
    let folder = tempfile::tempdir().expect("a directory for the script and the trace");
    let (script, trace) = (folder.path().join("hits.bt"), folder.path().join("trace"));
    std::fs::write(&script, "usdt:$1:red_zone:hit { @hits = count(); }").expect("a script to run");
    for program in [example("red_zone"), machine::workspace().join("target/nop5/release/red_zone")] {
        if !program.exists() {
            crate::missing::skip("red_zone", &format!("{} is not built: ci/ring3 builds it", program.display()));
            continue;
        }
        let mut command = machine::command(env!("CARGO_BIN_EXE_dyntrace"));
        command.args(["run", "--tracer", "bpftrace"]).arg(&script).arg("-o").arg(&trace).arg("--").arg(&program);
        assert_eq!(machine::stdout(&mut command), "20000 of 20000 kept\n", "{}", program.display());
        let trace = std::fs::read_to_string(&trace).expect("dyntrace writes the trace");
        assert!(trace.contains("@hits: 20000"), "{}: {trace}", program.display());
    }
}
