//! Programs that do not allow control, or belong to another user.

use std::env;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, lchown, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use dyntrace::recorder::control::protocol::Request;
use dyntrace::recorder::control::{Connection, ControlError};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::place::{Firing, Place, Ran, send, wait_for_session};
use crate::{missing, program};

pub const NOBODY: u32 = 65534;

#[test]
fn processes_that_cannot_be_controlled() {
    let place = Place::new();
    let pid = std::process::id().to_string();
    place.run(&["status", "-p", &pid]).says(65, "has no control socket: start it with DYNTRACE=control");
    for arguments in [&["record", "-p", &pid][..], &["snapshot", "-p", &pid], &["trace", "-p", &pid, "**"]] {
        place.run(arguments).says(65, "ran no file operation of dyntrace and sent no message within 2 s");
    }
    place.run(&["status", "-p", "4194305"]).says(65, "there is no process 4194305");
    assert!(place.run(&["status"]).out.starts_with("no process of this user lets its recorder be controlled"));
    let mut firing = place.controlled();
    place.run(&["snapshot", "-p", &firing.pid()]).says(65, "keeps no last events");
    place
        .run(&["trace", "-p", &firing.pid(), "**"])
        .says(65, "no function of it can be traced: give those that matter");
    place.run(&["snapshot", "-p", &firing.pid(), "--session", "7"]).says(1, "there is no session 7");
    firing.fire();
    let mut greeted = Connection::open(firing.child.id()).unwrap();
    send(&firing.child, Signal::SIGSTOP);
    // Its threads stop some time after the signal.
    let stopped = waitpid(Pid::from_raw(firing.child.id().cast_signed()), Some(WaitPidFlag::WUNTRACED)).unwrap();
    assert!(matches!(stopped, WaitStatus::Stopped(_, Signal::SIGSTOP)), "{stopped:?}");
    place.run(&["status", "-p", &firing.pid()]).says(1, "does not answer: see whether it is stopped");
    let error = greeted.request_within(&Request::Status, Duration::from_millis(100)).unwrap_err();
    assert!(matches!(error, ControlError::Silent(_)), "{error}");
    // Its answer comes late, and is not taken for that of another request.
    send(&firing.child, Signal::SIGCONT);
    let error = greeted.request(&Request::Status).unwrap_err();
    assert!(matches!(error, ControlError::Silent(_)), "{error}");
}

#[test]
fn a_bad_environment_is_one_line_and_no_failure() {
    let place = Place::new();
    for (value, what) in [("on", "does not begin with record:DIRECTORY"), ("record:/proc/x", "/proc/x")] {
        let mut command = program("exit 0");
        place.put(command.env("DYNTRACE", value));
        let ran = Ran::of(command.output().unwrap());
        ran.says(0, what);
        assert_eq!(ran.err.lines().count(), 1, "{ran:?}");
    }
}

#[test]
fn a_program_with_raised_privileges_does_not_listen() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "only root can give a program the rights of another user");
    }
    let place = Place::new();
    let program = place.path("program");
    // In a separate process: a child that another test starts meanwhile would inherit the open copy, which then cannot be executed.
    assert!(Command::new("cp").arg(env::current_exe().unwrap()).arg(&program).status().unwrap().success());
    chown(&program, Some(NOBODY), None).unwrap();
    for path in [place.0.path(), &place.path("run")] {
        fs::set_permissions(path, Permissions::from_mode(0o777)).unwrap();
    }
    let recorded = |mode: u32, folder: &str| {
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        let mut command = Command::new(&program);
        place.put(command.env("DYNTRACE", format!("record:{}", place.path(folder).display())).env("ROLE", "exit 0"));
        Ran::of(command.args(["--exact", "role"]).output().unwrap()).says(0, "");
        place.path(folder).exists()
    };
    assert!(recorded(0o755, "plain"));
    if is_without_setuid(place.0.path()) {
        let why = format!("no program has the rights of its file's owner in {}", place.0.path().display());
        return missing::skip("set-uid", &why);
    }
    assert!(!recorded(0o4755, "raised"));

    // Its other variables also belong to another user, such as the folder of its control socket.
    let run = place.path("run");
    chown(&run, Some(NOBODY), None).unwrap();
    fs::set_permissions(&run, Permissions::from_mode(0o755)).unwrap();
    let controlled = |mode: u32, uid: u32| {
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        let _ = fs::remove_dir_all(run.join("dyntrace"));
        let mut command = Command::new(&program);
        place.put(command.env("DYNTRACE", "").env("ROLE", "control").uid(uid).current_dir("/"));
        Ran::of(command.args(["--exact", "role"]).output().unwrap()).says(0, "");
        run.join("dyntrace").exists()
    };
    assert!(controlled(0o755, NOBODY));
    assert!(!controlled(0o4755, 0));
}

/// All files below a folder, with their content; links are not followed.
fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => found.extend(contents(&entry.path())),
            kind if kind.is_file() => found.push((entry.path(), fs::read(entry.path()).unwrap())),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Root records a process of the user nobody into nobody's folder: to a regular end, until the process is killed, and until it is killed
/// after nobody has replaced the process's folder by a link to root's.
#[test]
fn a_process_of_another_user() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "only root may control the processes of another user");
    }
    let place = Place::new();
    let [program, theirs, victim] = ["program", "theirs", "victim"].map(|name| place.path(name));
    fs::set_permissions(place.0.path(), Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("cp").arg(env::current_exe().unwrap()).arg(&program).status().unwrap().success());
    fs::create_dir(&theirs).unwrap();
    for path in [&theirs, &place.path("run")] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let start = || {
        let mut command = Command::new(&program);
        command.args(["--exact", "role", "--nocapture"]).env("ROLE", "serve");
        place.put(command.env("DYNTRACE", "control").uid(NOBODY).gid(NOBODY));
        Firing::start(&mut command)
    };
    let record = |firing: &mut Firing, trace: &str| {
        let pid = firing.pid();
        let mut command = place.dyntrace(&["record", "--json", "-p", &pid, "-o", trace]);
        let recording = command.stderr(Stdio::piped()).spawn().unwrap();
        wait_for_session(&place, &pid);
        firing.fire();
        recording
    };

    let mut firing = start();
    let recording = record(&mut firing, "theirs/whole");
    send(&recording, Signal::SIGINT);
    let summary = Ran::of(recording.wait_with_output().unwrap()).summary();
    assert_eq!((&summary["events"], &summary["lost"]), (&100.into(), &0.into()));
    assert_eq!(place.events("theirs/whole").len(), 100);

    // A killed process leaves its files, which root reads and does not change.
    let recording = record(&mut firing, "theirs/killed");
    drop(firing);
    Ran::of(recording.wait_with_output().unwrap()).says(1, "is left as it is");
    assert_eq!(place.events("theirs/killed").len(), 100);

    // Root would change this trace of a killed process if it followed the path.
    let killed = place.recording(&["-o", "victim"], "die").output().unwrap();
    assert_eq!(Ran::of(killed).status, Some(128 + 9));
    let processes = fs::read_dir(&victim).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
    let [of_victim] = &processes[..] else { panic!("{processes:?}") };
    fs::write(of_victim.join("empty"), "").unwrap();
    let before = contents(&victim);
    let mut firing = start();
    let recording = record(&mut firing, "theirs/link");
    let mut folders = fs::read_dir(theirs.join("link")).unwrap().map(|entry| entry.unwrap().path());
    let folder = folders.next().unwrap();
    fs::rename(&folder, theirs.join("aside")).unwrap();
    symlink(of_victim, &folder).unwrap();
    lchown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
    drop(firing);
    let ran = Ran::of(recording.wait_with_output().unwrap());
    assert_eq!(contents(&victim), before, "{ran:?}");
}

/// Both have number 1 in their pid namespaces, and share the folder of sockets.
#[test]
fn processes_of_containers_by_the_numbers_that_this_one_sees() {
    let unshare = |command: &Command| {
        let mut unshare = Command::new("unshare");
        unshare.args(["--pid", "--fork", "--kill-child"]).arg(command.get_program()).args(command.get_args());
        unshare.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        unshare
    };
    if !unshare(&Command::new("true")).status().is_ok_and(|status| status.success()) {
        return missing::skip("namespaces", "only root may make a pid namespace");
    }
    let place = Place::new();
    let mut served = program("serve");
    place.put(served.env("DYNTRACE", "control"));
    let start = || {
        let mut command = unshare(&served);
        place.put(&mut command);
        let firing = Firing::start(&mut command);
        let children = format!("/proc/{0}/task/{0}/children", firing.child.id());
        let child = fs::read_to_string(children).unwrap().trim().to_owned();
        (firing, child)
    };
    let ((_first, first), (_second, second)) = (start(), start());
    let all = place.run(&["status"]);
    assert_eq!((all.status, all.err.as_str()), (Some(0), ""));
    assert!(all.out.starts_with(&format!("{first} record")), "{all:?}");
    assert_eq!(all.out.lines().count(), 1, "{all:?}");
    place
        .run(&["status", "-p", &second])
        .says(65, &format!("process {first}, of the same number in another container"));
    // From inside of one, the other cannot be named.
    let inside = Ran::of(unshare(&place.dyntrace(&["status"])).output().unwrap());
    inside.says(0, "control sockets of other containers, which this one does not see: 1");
}

/// With the mount option hidepid, /proc does not show processes of other users.
#[test]
fn a_process_that_proc_hides() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "only root may mount /proc so that it hides processes");
    }
    let place = Place::new();
    let dyntrace = place.path("dyntrace");
    fs::set_permissions(place.0.path(), Permissions::from_mode(0o755)).unwrap();
    fs::copy(env!("CARGO_BIN_EXE_dyntrace"), &dyntrace).unwrap();
    let hidden = |command: &str, pid: &str| {
        let script =
            "mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups \"$@\"";
        let mut unshare = Command::new("unshare");
        unshare.args(["--mount", "sh", "-c", script, "sh"]).arg(&dyntrace).args([command, "-p", pid]);
        Ran::of(unshare.current_dir("/").output().unwrap())
    };
    if hidden("list", "1").err.contains("mount:") {
        return missing::skip("mounts", "this root may not mount /proc");
    }
    for command in ["list", "ps", "status"] {
        hidden(command, "1").says(1, "hides");
    }
    hidden("status", "4194305").says(65, "there is no process 4194305");
}

fn is_without_setuid(path: &Path) -> bool {
    nix::sys::statvfs::statvfs(path).unwrap().flags().contains(nix::sys::statvfs::FsFlags::ST_NOSUID)
}
