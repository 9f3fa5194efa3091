//! A command that is recorded from its start to its end.

use std::env;
use std::fs;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::sys::signal::Signal;
use serde_json::Value;

use crate::missing;
use crate::place::{Firing, Place, Ran, send};

#[test]
fn a_command_from_its_beginning_to_its_end() {
    let place = Place::new();
    let ran = place.record(&["-o", "trace", "--probes", "user_trace*"], "fire 100");
    ran.says(0, "recording 3 threads, 300 events, 0 lost ... done: trace (");
    assert_eq!(place.events("trace").len(), 300);
    // The recorder may not have written of the process yet. A new thread may continue in the file of a thread that has ended.
    let mut files = place.files("trace");
    files.retain(|file| file != "process");
    assert!(files[0] == "metadata" && (1..=3).contains(&files[1..].len()), "{files:?}");
    assert!(files[1..].iter().all(|file| file.starts_with("ring-")), "{files:?}");
    assert_eq!(place.path("trace").metadata().unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn metadata_and_snapshots_that_a_killed_program_was_writing_are_removed() {
    for options in [&["-o", "trace"][..], &["-o", "trace", "--overwrite", "--on-panic"]] {
        let place = Place::new();
        place.record(options, "die-writing").says(128 + 9, "done: trace");
        let files = place.files("trace");
        assert!(files.contains(&"metadata".into()) && !files.contains(&".metadata.new".into()), "{files:?}");
        assert!(!place.path("trace-snapshots").exists());
    }
}

#[test]
fn babeltrace_reads_it() {
    let place = Place::new();
    place.record(&["-o", "trace", "--probes", "user_trace*"], "fire 100").says(0, "done");
    let Ok(output) = Command::new("babeltrace2").arg(place.path("trace")).output() else {
        missing::skip("babeltrace2", "not installed");
        return;
    };
    let ran = Ran::of(output);
    assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out.lines().filter(|line| line.contains("user_trace-i4s4")).count(), 300);
}

#[test]
fn either_format_is_recorded_and_converted_to_the_other() {
    let place = Place::new();
    let probes = ["--probes", "user_trace*"];
    place.record(&[&["-o", "two", "--format", "ctf2"][..], &probes].concat(), "fire 100").says(0, "done");
    let is_ctf2 = |trace: &str| {
        let process = fs::read_dir(place.path(trace)).unwrap().next().unwrap().unwrap().path();
        fs::read_to_string(process.join("metadata")).unwrap().starts_with('\u{1e}')
    };
    for (from, to, format) in [("two", "one", "ctf1.8"), ("one", "again", "ctf2"), ("again", "same", "ctf2")] {
        place.run(&["convert", from, "--to", format, "-o", to]).says(0, "");
        assert_eq!(is_ctf2(to), format == "ctf2", "{to}");
        assert_eq!(place.events(to), place.events("two"), "{to}");
    }
    assert!(is_ctf2("two") && place.events("two").len() == 300);
    if let Ok(output) = Command::new("babeltrace2").arg(place.path("one")).output() {
        let ran = Ran::of(output);
        assert_eq!((ran.status, ran.err.as_str()), (Some(0), ""));
        assert_eq!(ran.out.lines().filter(|line| line.contains("user_trace-i4s4")).count(), 300);
    } else {
        missing::skip("babeltrace2", "not installed");
    }
    place.run(&["convert", "one", "two", "--to", "ctf2", "-o", "both"]).says(2, "one at a time");
    place.run(&["convert", "one", "--to", "ctf2", "-o", "two"]).says(1, "cannot write two");
}

#[test]
fn only_what_is_asked_for() {
    let place = Place::new();
    let ran = place.record(&["--json", "--tag", "req-1", "--probes", "dyntrace:user_trace-*"], "fire 50");
    let summary = ran.summary();
    assert_eq!((&summary["trace"], &summary["events"], &summary["threads"]), (&"trace".into(), &50.into(), &1.into()));
    assert!(place.events("trace").iter().all(|event| event["user_tag"] == "req-1"));
    let again = place.record(&["--json", "--probes", "efile*"], "fire 50").summary();
    assert_eq!((&again["trace"], &again["events"]), (&"trace-2".into(), &0.into()));
}

#[test]
fn names_that_no_probe_has_are_told() {
    let place = Place::new();
    const TYPO: [&str; 4] = ["-o", "trace", "--probes", "efil_drv*"];
    place.record(&TYPO, "fire 50").says(65, "has no probe that matches efil_drv*. did you mean efile_drv-");
    assert!(!place.path("trace").exists(), "the command was not started");
    let mut firing = place.controlled();
    place.run(&[&["record", "-p", &firing.pid()], &TYPO[..]].concat()).says(65, "did you mean efile_drv-");
    place.run(&["filter", "-p", &firing.pid(), "--probes", "efil_drv*"]).says(65, "did you mean efile_drv-");
    firing.fire();
    // One that another program or a later library may have.
    let ran = place.record(&["-o", "some", "--probes", "user_trace*,efil_drv*"], "fire 50");
    ran.says(0, "has no probe that matches efil_drv*");
    assert_eq!(place.events("some").len(), 150);
    // A program that starts others.
    place.run(&["record", "--probes", "efil_drv*", "--", "sh", "-c", "exit 7"]).says(7, "nothing was recorded: /");
    let none = place.record(&["-o", "none", "--probes", "efile*"], "fire 50");
    none.says(0, "none has no event: the program fired no probe that was recorded");
}

/// A file system of that many bytes, unmounted when this is dropped.
struct Small(PathBuf);

impl Small {
    fn mount(path: PathBuf, bytes: u32) -> Option<Small> {
        fs::create_dir(&path).unwrap();
        let size = format!("size={bytes}");
        let mounted = Command::new("mount").args(["-t", "tmpfs", "-o", &size, "none"]).arg(&path).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(Small(path))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

#[test]
fn a_full_disk_is_the_only_error() {
    let place = Place::new();
    let Some(_full) = Small::mount(place.path("full"), 100 << 10) else {
        missing::skip("mount", "it takes root, and CAP_SYS_ADMIN in a container");
        return;
    };
    let ran = place.record(&["-o", "full/trace"], "fire 10");
    ran.says(1, "dyntrace: nothing was recorded: cannot write ");
    assert!(ran.err.contains("No space left on device") && !ran.err.contains("no recorder"), "{ran:?}");
    let own = env::current_exe().unwrap();
    // Room for a recording, but not for this one; of a program that starts the one with the recorder.
    let small = Small::mount(place.path("small"), 4 << 20).unwrap();
    let mut record = place.dyntrace(&["record", "-o", "small/trace", "--overwrite", "--size", "8M", "--", "sh", "-c"]);
    record.arg("\"$0\" --exact role").arg(&own).env("ROLE", "fire 10");
    let ran = Ran::of(record.output().unwrap());
    ran.says(1, "dyntrace: nothing was recorded: cannot ");
    assert!(ran.err.contains("; free space, or set a smaller `size=`") && !ran.err.contains("no recorder"), "{ran:?}");
    drop(small);
    let mut run = place.dyntrace(&["run", "--tracer", "recorder", "user-probe", "--"]);
    run.arg(own).args(["--exact", "role", "--nocapture"]).env("ROLE", "fire 10").env("TMPDIR", place.path("full"));
    let ran = Ran::of(run.output().unwrap());
    ran.says(70, "No space left on device");
    assert!(!ran.err.contains("no recorder"), "{ran:?}");
}

/// As some network file systems do.
#[test]
fn a_folder_without_shared_mappings_is_the_only_error() {
    let place = Place::new();
    let own = env::current_exe().unwrap();
    // Of a program with the recorder, and of one that starts such a program.
    for words in [vec![own.to_str().unwrap()], vec!["sh", "-c", "\"$0\" \"$@\"", own.to_str().unwrap()]] {
        let mut command = place.dyntrace(&["record", "-o", "trace", "--"]);
        command.args(words).args(["--exact", "role", "--nocapture"]).env("ROLE", "fire 10");
        let ran = Ran::of(without_shared_mappings(&mut command).output().unwrap());
        ran.says(1, "nothing was recorded: cannot map the file ");
        let cause = "of a trace into shared memory: No such device (os error 19); choose a directory on another file system: this one has no \
                     shared mappings";
        // The program's own line, and the command's.
        assert_eq!(ran.err.matches(cause).count(), 2, "{ran:?}");
        assert_eq!(ran.err.matches("os error").count(), 2, "{ran:?}");
        assert!(!ran.err.contains("no recorder") && !ran.err.contains("cannot create"), "{ran:?}");
        assert!(!place.path("trace").exists(), "what was made for nothing is removed");
    }
}

/// Has the kernel refuse to map files into memory that is shared and written.
fn without_shared_mappings(command: &mut Command) -> &mut Command {
    use nix::libc::{BPF_ABS, BPF_JEQ, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET, BPF_W, sock_filter, sock_fprog};
    use nix::libc::{ENODEV, MAP_ANONYMOUS, MAP_PRIVATE, PROT_WRITE, SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SYS_mmap};
    let step = |code: u32, k: u32, jt: u8, jf: u8| sock_filter { code: code as u16, jt, jf, k };
    // Of `struct seccomp_data`: the number of the call is at 0, its arguments are at 16, of 8 bytes each.
    let filter = [
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0),
        step(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap as u32, 0, 5),
        step(BPF_LD | BPF_W | BPF_ABS, 16 + 8 * 3, 0, 0),
        step(BPF_JMP | BPF_JSET | BPF_K, (MAP_PRIVATE | MAP_ANONYMOUS) as u32, 3, 0),
        step(BPF_LD | BPF_W | BPF_ABS, 16 + 8 * 2, 0, 0),
        step(BPF_JMP | BPF_JSET | BPF_K, PROT_WRITE as u32, 0, 1),
        step(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENODEV as u32, 0, 0),
        step(BPF_RET | BPF_K, SECCOMP_RET_ALLOW, 0, 0),
    ];
    // SAFETY: system calls without locks; the kernel copies the filter, which lives until then.
    unsafe {
        command.pre_exec(move || {
            let mut filter = filter;
            let program = sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
            let refused = nix::libc::prctl(nix::libc::PR_SET_NO_NEW_PRIVS, 1_u64, 0_u64, 0_u64, 0_u64) != 0
                || nix::libc::prctl(
                    nix::libc::PR_SET_SECCOMP,
                    u64::from(nix::libc::SECCOMP_MODE_FILTER),
                    &raw const program,
                ) != 0;
            if refused { Err(std::io::Error::last_os_error()) } else { Ok(()) }
        })
    }
}

#[test]
fn programs_that_the_command_starts() {
    let place = Place::new();
    let own = env::current_exe().unwrap();
    let script = "\"$0\" --exact role; \"$0\" --exact role";
    let mut command = place.dyntrace(&["record", "--json", "--", "sh", "-c", script]);
    let summary = Ran::of(command.arg(own).env("ROLE", "fire 10").output().unwrap()).summary();
    assert_eq!((&summary["processes"], &summary["events"]), (&2.into(), &60.into()));
}

#[test]
fn the_exit_status_is_the_commands() {
    let place = Place::new();
    place.record(&[], "exit 7").says(7, "recording 0 threads, 0 events");
    place.record(&[], "die").says(128 + 9, "done: trace-2");
    place.run(&["record", "--", "no-such-command"]).says(127, "no such command in PATH");
    place.run(&["record", "--", "/"]).says(126, "it is a directory");
    place.run(&["record", "--", "/bin/true"]).says(65, "nothing was recorded: /bin/true has no recorder of dyntrace's");
    place.run(&["record", "--", "sh", "-c", "exit 5"]).says(5, "nothing was recorded");
    assert!(!place.path("trace-4").exists(), "what was made for nothing is removed");
}

#[test]
fn wrong_use() {
    let place = Place::new();
    fs::create_dir_all(place.path("there/already")).unwrap();
    for (arguments, what) in [
        (&["-o", "there", "--", "true"][..], "cannot write to there, which is not an empty folder: remove it"),
        (&["--size", "1K", "--", "true"], "from 64K to 64G"),
        (&["--on-panic", "--", "true"], "--overwrite"),
        (&["--overwrite", "--slower", "1s", "--probes", "aio*", "--", "true"], "have them among the probes"),
        (&["--command", "MOVE", "--", "true"], "the commands are OPEN"),
        (&["-p", "1", "--", "true"], "cannot be used with"),
        (&["-p", "no such name"], "no process has this name"),
        (&[], "COMMAND"),
    ] {
        let ran = place.run(&[&["record"], arguments].concat());
        ran.says(2, what);
    }
    if !nix::unistd::geteuid().is_root() {
        place.run(&["record", "-o", "/proc/trace", "--", "true"]).says(1, "cannot make the folder /proc/trace");
    }
}

#[test]
fn a_signal_to_dyntrace_is_for_the_command() {
    let place = Place::new();
    let mut command = place.recording(&["--json"], "serve");
    let mut firing = Firing::start(command.stderr(Stdio::piped()));
    firing.fire();
    send(&firing.child, Signal::SIGTERM);
    let mut err = String::new();
    firing.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert_eq!(firing.child.wait().unwrap().code(), Some(128 + Signal::SIGTERM as i32));
    let summary: Value = serde_json::from_str(&err).unwrap();
    assert_eq!(summary["events"], 100, "{err}");
}

#[test]
fn a_trace_that_goes_on_is_not_cut() {
    let place = Place::new();
    let mut command = place.recording(&["-o", "trace"], "leave");
    let mut firing = Firing::start(command.stderr(Stdio::piped()));
    let mut err = String::new();
    firing.child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
    assert!(err.contains(" goes on, and so does its trace"), "{err}");
    assert_eq!(place.events("trace").len(), 0);
    firing.fire();
    assert_eq!(place.events("trace").len(), 100);
}
