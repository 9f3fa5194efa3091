//! `dyntrace run` with fake tracers: the choice of one, the exit status, forwarded signals, and files that must not be left.
#![cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod common;
#[path = "../../../tests/common/missing.rs"]
mod missing;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;

use common::{
    BPFTRACE, DTRACE, HEADER_GENERATOR, Machine, OLD_BPFTRACE, Ran, copy_program, may_trace, program, read_until, send,
};
use nix::sys::signal::{self, Signal};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::Pid;

/// The program in its role.
#[test]
fn role() {
    common::play();
}

#[test]
fn the_command_begins_traced_and_its_exit_status_is_kept() {
    if !may_trace() {
        return;
    }
    for (name, version) in [("bpftrace", BPFTRACE), ("dtrace", DTRACE)] {
        let ran = Machine::new().with(name, version, "follow").run("exit 3");
        assert_eq!(ran.status, Some(3), "{ran:?}");
        assert!(ran.out.contains("program: traced true"), "{ran:?}");
        assert!(ran.out.contains("tracer: attached") && ran.out.contains("tracer: end"), "{ran:?}");
        assert_eq!(ran.err, "");
    }
}

#[test]
fn a_command_that_a_signal_ends() {
    if may_trace() {
        let ran = Machine::new().with("bpftrace", BPFTRACE, "follow").run("die 9");
        assert_eq!(ran.status, Some(128 + 9), "{ran:?}");
        assert!(ran.out.contains("tracer: end"), "{ran:?}");
    }
}

#[test]
fn bpftrace_comes_first_and_an_old_one_is_passed_over_by_name() {
    if !may_trace() {
        return;
    }
    let both = Machine::new().with("bpftrace", BPFTRACE, "refuse").with("dtrace", DTRACE, "follow");
    both.run("exit 0").fails_with(70, "bpftrace ended");
    let ran = both.run_with("exit 0", &["--tracer", "dtrace"]);
    assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""));

    let ran = Machine::new().with("bpftrace", OLD_BPFTRACE, "refuse").with("dtrace", DTRACE, "follow").run("exit 0");
    ran.fails_with(0, "using dtrace, for bpftrace cannot be used");
    assert!(ran.err.contains("0.17.0") && ran.err.contains("reads the first six arguments"), "{ran:?}");

    // Asked for, it serves: this made-up one prints no event, and no count of them.
    let ran = Machine::new().with("bpftrace", OLD_BPFTRACE, "follow").run_with("exit 0", &["--tracer", "bpftrace"]);
    ran.fails_with(3, "is too old for the script: it prints the events");
    assert!(ran.err.contains("the end of the trace is lost"), "{ran:?}");
}

#[test]
fn no_tracer() {
    let asked = |kind| Machine::new().run_with("exit 0", &["--tracer", kind]);
    asked("bpftrace").fails_with(69, "bpftrace: not found in PATH");
    asked("stap").fails_with(69, "stap: not found in PATH");
    let ran = Machine::new().with("dtrace", HEADER_GENERATOR, "refuse").run_with("exit 0", &["--tracer", "dtrace"]);
    ran.fails_with(69, "SystemTap's generator of header files");
    let run = |arguments: &[&str]| Ran::of(Machine::new().dyntrace("exit 0", arguments).output().unwrap());
    let own = std::process::id().to_string();
    run(&["run", "user-probe", "-p", &own]).fails_with(69, "bpftrace: not found in PATH");
    let script = Machine::new();
    fs::write(script.path("own.bt"), "usdt:$1:dyntrace:user_trace__s1 { }").unwrap();
    run(&["run", script.path("own.bt").to_str().unwrap(), "--", &program()[0]])
        .fails_with(69, "no tracer here can run");
}

#[test]
fn polls_need_a_bpftrace() {
    let pid = std::process::id().to_string();
    let polls = |machine: &Machine| Ran::of(machine.dyntrace("", &["polls", "-p", &pid]).output().unwrap());
    polls(&Machine::new()).fails_with(69, "bpftrace: not found in PATH");
    // No other tracer takes its place.
    polls(&Machine::new().with("dtrace", DTRACE, "follow")).fails_with(69, "bpftrace: not found in PATH");
    if may_trace() {
        let old = Machine::new().with("bpftrace", "bpftrace v0.16.0", "follow");
        polls(&old).fails_with(69, "bpftrace 0.16.0 is too old for polls: 0.17.0 or newer is needed");
    }
    Ran::of(Machine::new().dyntrace("", &["polls", "-p", &pid, "--for", "1us"]).output().unwrap())
        .fails_with(2, "shorter than 1ms");
}

#[test]
fn the_recorder_takes_the_place_of_a_tracer() {
    let lines = "user_trace s1 | hello\n";
    let ran = Machine::new().run("exit 3");
    assert_eq!((ran.status, ran.err.as_str()), (Some(3), ""), "{ran:?}");
    assert!(ran.out.contains("program: traced true") && ran.out.ends_with(lines), "{ran:?}");

    let machine = Machine::new().with("bpftrace", OLD_BPFTRACE, "refuse");
    let ran = machine.run("die 9");
    assert_eq!(ran.status, Some(128 + 9), "{ran:?}");
    assert!(ran.out.ends_with(lines), "{ran:?}");
    assert!(ran.err.contains("using the recorder, for bpftrace cannot be used"), "{ran:?}");

    let trace = machine.path("trace");
    let ran = machine.run_with("exit 0", &["--tracer", "recorder", "-o", trace.to_str().unwrap()]);
    assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(!ran.out.contains("user_trace"), "{ran:?}");
    assert_eq!(fs::read_to_string(trace).unwrap(), lines);

    // Lines that cannot be printed are missing from the trace.
    let ran = machine.run_with("exit 0", &["--tracer", "recorder", "-o", "/dev/full"]);
    ran.fails_with(3, "No space left");
}

#[test]
fn a_command_that_records_itself_is_shown_live_and_gets_signals() {
    let machine = Machine::new();
    let mut run = machine.dyntrace("wait", &["run", "--tracer", "recorder", "user-probe", "--"]);
    let mut run = run.env("TMPDIR", machine.path(".")).args(program()).spawn().unwrap();
    read_until(&mut run, "user_trace s1 | hello");
    send(&run, Signal::SIGTERM);
    assert_eq!(run.wait().unwrap().code(), Some(128 + Signal::SIGTERM as i32));
    let left: Vec<_> = fs::read_dir(machine.path(".")).unwrap().map(|entry| entry.unwrap().path()).collect();
    let [own] = left.as_slice() else { panic!("{left:?}") };
    assert_eq!(fs::read_dir(own).unwrap().count(), 0, "the trace is removed");
}

#[test]
fn limits_of_the_recorder() {
    let machine = Machine::new();
    let run = |arguments: &[&str]| {
        let mut command = machine.dyntrace("exit 0", &["run", "--tracer", "recorder"]);
        Ran::of(command.args(arguments).output().unwrap())
    };
    let script = machine.path("own.bt");
    fs::write(&script, "usdt:$1:dyntrace:user_trace__s1 { }").unwrap();
    run(&[script.to_str().unwrap(), "--", &program()[0]]).fails_with(2, "it makes the lines of");
    let own = std::process::id().to_string();
    run(&["user-probe", "-p", &own]).fails_with(2, &format!("dyntrace record -p {own} -o trace"));
    run(&["user-probe", "--", "/bin/true"]).fails_with(65, "has no probes");
    run(&["--tracer-option=-q", "user-probe", "--", &program()[0]]).fails_with(2, "has no options of a tracer");
    run(&["user-probe", "-o", "/nonexistent/trace", "--", &program()[0]]).fails_with(1, "cannot write to");
}

#[test]
fn only_some_user_tags() {
    let machine = Machine::new();
    let run = |arguments: &[&str]| Ran::of(machine.dyntrace("exit 0", arguments).output().unwrap());
    let program = &program()[0];
    run(&["run", "messages", "--tag", "req-*", "--", program])
        .fails_with(2, "the events of messages have no user tag; scripts with user tags are blocking_pool,");
    let own = machine.path("own.bt");
    fs::write(&own, "usdt:$1:dyntrace:user_trace__s1 { }").unwrap();
    run(&["run", own.to_str().unwrap(), "--tag", "req-*", "--", program])
        .fails_with(2, "write the condition into the script");
    let pid = std::process::id().to_string();
    let ran = run(&["run", "efile_latency", "--tag", "req-*", "-p", &pid]);
    ran.fails_with(69, &format!("dyntrace record -p {pid} --tag 'req-*' -o trace"));

    // The program's only event has no user tag.
    let ran = machine.run_with("exit 0", &["--tracer", "recorder", "--tag", "*"]);
    assert_eq!((ran.status, ran.out.contains("user_trace"), ran.err.as_str()), (Some(0), false, ""), "{ran:?}");
    if may_trace() {
        // A glob that tracers cannot be given.
        let ran = Machine::new().with("bpftrace", BPFTRACE, "refuse").run_with("exit 0", &["--tag", "req-?"]);
        ran.fails_with(0, "using the recorder, for bpftrace cannot be used");
        assert!(ran.err.contains("cannot select by the user tag 'req-?': it has a ?"), "{ran:?}");
    }
}

#[test]
fn no_privileges() {
    if !may_trace() {
        return;
    }
    // Other users cannot read the build folder.
    let machine = Machine::new().with("bpftrace", BPFTRACE, "refuse");
    fs::set_permissions(machine.path("."), fs::Permissions::from_mode(0o755)).unwrap();
    for (from, to) in [(common::DYNTRACE, "dyntrace"), (&*program()[0], "program")] {
        copy_program(from.as_ref(), &machine.path(to));
    }
    let output = std::process::Command::new(machine.path("dyntrace"))
        .args(["run", "user-probe", "--"])
        .arg(machine.path("program"))
        .args(&program()[1..])
        .envs([("ROLE", "program"), ("ACT", "exit 0")])
        .env("PATH", machine.path("."))
        .uid(65534)
        .gid(65534)
        .output();
    let ran = Ran::of(output.unwrap());
    ran.fails_with(0, "using the recorder, for bpftrace cannot be used");
    assert!(ran.err.contains("tracing needs root") && ran.out.ends_with("user_trace s1 | hello\n"), "{ran:?}");
}

#[test]
fn wrong_use_is_reported_before_anything_starts() {
    let machine = Machine::new().with("bpftrace", BPFTRACE, "refuse");
    let run = |arguments: &[&str]| Ran::of(machine.dyntrace("exit 0", arguments).output().unwrap());
    run(&["run", "user-prob", "--", "/bin/true"]).fails_with(2, "did you mean user-probe?");
    run(&["run", "/nonexistent/x.bt", "--", "/bin/true"]).fails_with(2, "cannot read the script /nonexistent/x.bt");
    run(&["run", "user-probe"]).fails_with(2, "COMMAND");
    run(&["run", "--tracer-option=-q", "user-probe", "--", "/bin/true"]).fails_with(2, "--tracer <TRACER>");
    run(&["run", "user-probe", "--", "no-such-command"]).fails_with(127, "no such command in PATH");
    run(&["run", "user-probe", "--", "./no\x1b[2Jsuch"]).fails_with(127, r"./no\x1b[2Jsuch");
    run(&["run", "user-probe", "--", ""]).fails_with(127, "cannot run");
    run(&["run", "user-probe", "--", "/"]).fails_with(126, "it is a directory");
    run(&["run", "user-probe", "--", "/etc/passwd"]).fails_with(126, "it is not executable");
    run(&["run", "user-probe", "-p", "4194305"]).fails_with(65, "there is no process");
    if may_trace() {
        run(&["run", "user-probe", "--", "/bin/true"]).fails_with(65, "has no probes");
        let other = machine.path("other.bt");
        fs::write(&other, "usdt:$1:shop:sale { }").unwrap();
        run(&["run", other.to_str().unwrap(), "--", &program()[0]])
            .fails_with(65, "none of the probes that the script names");
        let script = machine.path("bpftrace");
        run(&["run", "user-probe", "--", script.to_str().unwrap()]).fails_with(65, "is a script for an interpreter");
        let fixed = machine.path("fixed.bt");
        fs::write(&fixed, "usdt:/bin/true:a:b { }").unwrap();
        run(&["run", fixed.to_str().unwrap(), "--", &program()[0]]).fails_with(2, "write usdt:$1:provider:probe");
        run(&["run", "--tracer", "dtrace", fixed.to_str().unwrap(), "--", &program()[0]])
            .fails_with(2, "is not written for dtrace");
    }
}

#[test]
fn errors_are_coloured_where_that_is_asked_for() {
    let machine = Machine::new();
    for (choice, begin) in
        [("auto", "dyntrace: "), ("always", "\x1b[1m\x1b[31mdyntrace:\x1b[0m "), ("never", "dyntrace: ")]
    {
        let ran = Ran::of(machine.dyntrace("", &["list", "/nonexistent", "--color", choice]).output().unwrap());
        assert!(ran.err.starts_with(begin), "{choice}: {ran:?}");
    }
}

#[test]
fn a_tracer_that_fails_at_once_leaves_no_command_behind() {
    if !may_trace() {
        return;
    }
    let machine = Machine::new().with("bpftrace", BPFTRACE, "refuse");
    let ran = machine.run_marked("exit 0");
    ran.fails_with(70, "the command was not started");
    assert!(ran.err.contains(r"tracer: no \x1b[2J such probe"), "{ran:?}");
    assert!(!machine.path("mark").exists(), "the command ran");
}

#[test]
fn a_tracer_that_breaks_off_fails_the_run_but_not_the_command() {
    if may_trace() {
        let machine = Machine::new().with("bpftrace", BPFTRACE, "break");
        machine.run_marked("exit 0").fails_with(70, "the trace is not whole");
        machine.run_marked("exit 5").fails_with(5, "the trace is not whole");
    }
}

#[test]
fn the_trace_cannot_drive_the_terminal() {
    if !may_trace() {
        return;
    }
    let machine = Machine::new().with("bpftrace", BPFTRACE, "hostile");
    let ran = machine.run("exit 0");
    assert!(ran.out.contains("tag \\x1b]0;owned\\x07 \\xff\\xfe café\n"), "{ran:?}");

    let file = machine.path("trace");
    let ran = machine.run_with("exit 0", &["-o", file.to_str().unwrap()]);
    assert!(!ran.out.contains("tracer:") && ran.out.contains("program:"), "{ran:?}");
    assert!(fs::read_to_string(file).unwrap().contains("tracer: end"));
}

#[test]
fn a_signal_to_dyntrace_is_for_the_command() {
    if !may_trace() {
        return;
    }
    let machine = Machine::new().with("bpftrace", BPFTRACE, "follow");
    for signal in [Signal::SIGTERM, Signal::SIGINT] {
        let mut run = machine.start("wait", &[]);
        let out = read_until(&mut run, "program: waits");
        send(&run, signal);
        let ran = Ran::of(run.wait_with_output().unwrap());
        assert_eq!(ran.status, Some(128 + signal as i32), "{ran:?}");
        assert_eq!(std::io::read_to_string(out).unwrap().lines().last(), Some("tracer: end"));
    }
}

#[test]
fn an_interrupt_ends_the_trace_of_a_process_and_not_the_process() {
    if !may_trace() {
        return;
    }
    let [path, arguments @ ..] = program();
    let mut process = std::process::Command::new(path);
    process.args(arguments).env("ROLE", "program").env("ACT", "wait").stdout(std::process::Stdio::piped());
    let mut process = process.spawn().unwrap();
    read_until(&mut process, "program: waits");

    let pid = process.id().to_string();
    let machine = Machine::new().with("bpftrace", BPFTRACE, "follow").with("dtrace", DTRACE, "deaf");
    // The time begins when the tracer has attached.
    let timed = ["run", "user-probe", "--for", "1ms", "-o", "-", "-p", &pid];
    let ran = Ran::of(machine.dyntrace("", &timed).output().unwrap());
    assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.contains("tracer: end"), "{ran:?}");

    let mut run = machine.dyntrace("", &["run", "user-probe", "-p", &pid]).spawn().unwrap();
    let out = read_until(&mut run, "tracer: attached");
    send(&run, Signal::SIGINT);
    assert_eq!(run.wait().unwrap().code(), Some(0));
    assert!(std::io::read_to_string(out).unwrap().contains("tracer: end"));

    // A tracer that ignores signals is killed at the third one.
    let mut run = machine.dyntrace("", &["run", "--tracer", "dtrace", "user-probe", "-p", &pid]).spawn().unwrap();
    read_until(&mut run, "tracer: attached");
    let mut err = run.stderr.take().unwrap();
    // Of three kinds, as a second one of a kind may arrive as the same.
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        send(&run, signal);
    }
    assert_eq!(run.wait().unwrap().code(), Some(70));
    let mut said = String::new();
    std::io::Read::read_to_string(&mut err, &mut said).unwrap();
    assert!(said.contains("does not end and is killed"), "{said}");

    assert!(process.try_wait().unwrap().is_none(), "the process lives on");
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn lost_lines_are_told_and_have_an_exit_status() {
    if !may_trace() {
        return;
    }
    let machine = Machine::new().with("bpftrace", BPFTRACE, "lose");
    let ran = machine.run("exit 0");
    ran.fails_with(3, "4 of 5 lines lost (bpftrace counted 2)");
    assert!(ran.err.contains("dyntrace record") && ran.err.contains("Lost 2 events"), "{ran:?}");
    machine.run("exit 5").fails_with(5, "4 of 5 lines lost");
    let machine = Machine::new().with("dtrace", DTRACE, "lose");
    machine.run("exit 0").fails_with(3, "dtrace lost 2 events");
    // The tracer succeeds, but its script did not reach its end.
    let machine = Machine::new().with("bpftrace", BPFTRACE, "cut");
    machine.run("exit 0").fails_with(3, "the end of the trace is lost");
}

#[test]
fn an_interrupt_that_arrives_twice_does_not_cost_the_end_of_the_trace() {
    if !may_trace() {
        return;
    }
    let [path, arguments @ ..] = program();
    let mut process = std::process::Command::new(path);
    process.args(arguments).env("ROLE", "program").env("ACT", "wait").stdout(std::process::Stdio::piped());
    let mut process = process.spawn().unwrap();
    read_until(&mut process, "program: waits");
    let pid = process.id().to_string();
    let machine = Machine::new().with("bpftrace", BPFTRACE, "buffer");
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        let mut command = machine.dyntrace("", &["run", "user-probe", "-p", &pid]);
        let mut run = command.process_group(0).spawn().unwrap();
        let out = read_until(&mut run, "tracer: attached");
        // Like `timeout`: the process, then its group.
        send(&run, signal);
        signal::killpg(Pid::from_raw(run.id().cast_signed()), signal).unwrap();
        assert_eq!(run.wait().unwrap().code(), Some(0), "{signal}");
        assert_eq!(std::io::read_to_string(out).unwrap(), "tracer: end\none\ntwo\n", "{signal}");
    }
    process.kill().unwrap();
    process.wait().unwrap();
}

#[test]
fn a_command_dies_with_a_killed_dyntrace_only_before_it_has_begun() {
    if !may_trace() {
        return;
    }
    // The command becomes a child of this process when its own parent is gone.
    nix::sys::prctl::set_child_subreaper(true).unwrap();
    for (act, end) in [("idle", Signal::SIGKILL), ("follow", Signal::SIGTERM)] {
        let machine = Machine::new().with("bpftrace", BPFTRACE, act);
        let mut run = machine.start("wait", &[]);
        let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut has_begun = false;
        let pid = lines.find_map(|line| {
            has_begun |= line == "program: waits";
            line.strip_prefix("tracer: process ").map(|pid| Pid::from_raw(pid.parse().unwrap()))
        });
        let pid = pid.expect("the tracer says whom it traces");
        if act == "follow" {
            assert!(has_begun || lines.any(|line| line == "program: waits"));
        }
        run.kill().unwrap();
        run.wait().unwrap();
        if act == "follow" {
            signal::kill(pid, Signal::SIGTERM).unwrap();
        }
        assert_eq!(waitpid(pid, None).unwrap(), WaitStatus::Signaled(pid, end, false), "{act}");
    }
}
