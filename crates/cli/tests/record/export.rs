//! `dyntrace export`: the spans that a collector gets of a running process.

use std::collections::{HashMap, VecDeque};
use std::fs::{self, File, Permissions};
use std::io::Write as _;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;

use dyntrace::recorder::{self, Options, Session};
use dyntrace_reader::{Event, Follower, Value};
use nix::sys::signal::Signal;
use nix::sys::stat::Mode;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{Pid, geteuid, mkfifo};
use opentelemetry_proto::tonic::common::v1::any_value::Value as Any;
use opentelemetry_proto::tonic::trace::v1::{Span, TracesData};

use crate::others::NOBODY;
use crate::place::{Firing, Place, Ran, send, wait_for_session};
use crate::{collector, missing, program};

const OK: &str = "200 OK";
const BUSY: &str = "503 Service Unavailable\r\nRetry-After: 0";

/// A program in a role, whose recorder can be controlled.
fn start(place: &Place, role: &str) -> Firing {
    let mut command = program(role);
    place.put(command.env("DYNTRACE", "control"));
    Firing::start(&mut command)
}

/// Answers requests as `answer` says, one at a time, until the test ends. Returns the collector's address.
fn serve(mut answer: impl FnMut(collector::Received) -> &'static str + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head = answer(collector::receive(&stream));
            // The command may have ended.
            let _ = stream.write_all(format!("HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n").as_bytes());
        }
    });
    address
}

/// Starts to export, to a collector whose answers are those, and after them success. Returns also the spans that it takes.
fn export(place: &Place, pid: &str, options: &[&str], answers: &[&'static str]) -> (Child, Receiver<Span>) {
    let (sender, spans) = mpsc::channel();
    let mut answers = VecDeque::from(answers.to_vec());
    let address = serve(move |received| {
        assert_eq!(received.head[0], "post /v1/traces http/1.1");
        let answer = answers.pop_front().unwrap_or(OK);
        if answer == OK {
            let data: TracesData = serde_json::from_slice(&received.body).unwrap();
            let scopes = data.resource_spans.into_iter().flat_map(|process| process.scope_spans);
            scopes.flat_map(|scope| scope.spans).for_each(|span| sender.send(span).unwrap());
        }
        answer
    });
    let arguments = [&["export", "-p", pid, "--to", &address], options].concat();
    let child = place.dyntrace(&arguments).env("TMPDIR", place.0.path()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(place, pid);
    (child, spans)
}

/// Ends the export by an interrupt.
fn end(child: Child) -> Ran {
    send(&child, Signal::SIGINT);
    Ran::of(child.wait_with_output().unwrap())
}

/// Asserts that the last line is the summary with these counts.
#[track_caller]
fn says(ran: &Ran, status: i32, [spans, operations, left_out, refused, dropped]: [u64; 5]) {
    assert_eq!(ran.status, Some(status), "{ran:?}");
    let summary = format!(
        "{spans} spans of {operations} operations sent, {left_out} operations left out by the rules; 0 events lost, {refused} spans \
         refused, {dropped} dropped"
    );
    assert_eq!(ran.err.lines().last(), Some(&*summary), "{ran:?}");
}

/// Asserts that each of the spans is there once.
fn distinct(spans: &[Span]) {
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    spans.iter().for_each(|span| *counts.entry(&span.span_id).or_default() += 1);
    assert!(counts.values().all(|count| *count == 1), "{counts:?}");
}

/// No folder of the command is left.
fn is_clean(place: &Place) {
    let left: Vec<_> = fs::read_dir(place.0.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let of_command = left.iter().find(|path| path.to_str().unwrap().contains("dyntrace-run-"));
    let inside = of_command.map(|folder| fs::read_dir(folder).unwrap().count());
    assert!(inside.is_none_or(|count| count == 0), "{left:?}");
}

#[test]
fn each_operation_is_a_span_once_while_the_collector_is_busy_at_first() {
    let place = Place::new();
    let mut firing = start(&place, "operate");
    let pid = firing.pid();
    firing.fire();
    let (child, spans) = export(&place, &pid, &[], &[BUSY, BUSY, BUSY]);
    for _ in 0..100 {
        firing.fire();
    }
    // Batches come while the program runs.
    let mut received = vec![spans.recv().unwrap()];
    for _ in 0..200 {
        firing.fire();
    }
    let ran = end(child);
    firing.fire();
    says(&ran, 0, [300, 300, 0, 0, 0]);
    assert!(ran.err.contains("the collector takes no spans now, they wait: 503 Service Unavailable"), "{ran:?}");
    received.extend(spans.try_iter());
    assert_eq!(received.len(), 300);
    assert!(received.iter().all(|span| span.name == "FSTAT"), "{received:?}");
    distinct(&received);
    is_clean(&place);
}

#[test]
fn operations_of_many_threads_come_once() {
    const PIECES: usize = 5;
    let place = Place::new();
    let mut firing = start(&place, "many 500");
    let (child, spans) = export(&place, &firing.pid(), &[], &[]);
    for _ in 0..PIECES {
        firing.fire();
    }
    let ran = end(child);
    assert_eq!(ran.status, Some(0), "{ran:?}");
    let received: Vec<Span> = spans.try_iter().collect();
    distinct(&received);
    let (operations, tags): (Vec<Span>, Vec<Span>) = received.into_iter().partition(|span| span.name == "FSTAT");
    let expected = PIECES * 4 * 500;
    assert_eq!(operations.len(), expected);
    // On a slow machine a tag may be without an operation for 5 s, and have a second span.
    says(&ran, 0, [(expected + tags.len()) as u64, expected as u64, 0, 0, 0]);
    let parents: HashMap<&[u8], &str> = tags.iter().map(|span| (&*span.span_id, span.name.as_str())).collect();
    for tag in 0..4 {
        let name = format!("task-{tag}");
        let is_its = |span: &&Span| parents[&*span.parent_span_id] == name;
        assert_eq!(operations.iter().filter(is_its).count(), expected / 4, "{name}");
    }
}

/// A look may come between the copy of a packet and the entry of the next.
#[test]
fn a_follower_that_never_pauses_misses_no_event() {
    const EVENTS: u64 = 100_000;
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::new(folder.path());
    (options.mode, options.size) = (recorder::Mode::Overwrite, Some(64 << 20));
    options.probes = vec!["user_trace*".into()];
    let session = Session::start(options).unwrap();
    let firing = thread::spawn(|| (0..EVENTS).for_each(|number| dyntrace::p!(7, number as i64)));
    let mut follow = Follower::new([folder.path()]);
    let mut numbers = Vec::new();
    let mut note = |event: &Event<'_>| {
        if let Some(Value::Signed(number)) = event.field("i2") {
            numbers.push(number as u64);
        }
    };
    while !firing.is_finished() {
        follow.poll(&mut note).unwrap();
    }
    firing.join().unwrap();
    assert_eq!(session.stop().unwrap().status.discarded, 0);
    follow.drain(&mut note).unwrap();
    assert!(follow.losses().is_empty(), "{:?}", follow.losses());
    assert!(numbers.iter().copied().eq(0..EVENTS), "{} events", numbers.len());
}

#[test]
fn a_process_that_is_killed_loses_none() {
    let place = Place::new();
    let mut firing = start(&place, "operate");
    let (child, spans) = export(&place, &firing.pid(), &[], &[]);
    for _ in 0..50 {
        firing.fire();
    }
    drop(firing);
    says(&Ran::of(child.wait_with_output().unwrap()), 0, [50, 50, 0, 0, 0]);
    let received: Vec<Span> = spans.try_iter().collect();
    assert_eq!(received.len(), 50);
    distinct(&received);
    is_clean(&place);
}

#[test]
fn an_operation_that_takes_long_is_one_span() {
    let place = Place::new();
    let (fifo, other) = (place.path("fifo"), place.path("other"));
    for path in [&fifo, &other] {
        mkfifo(path, Mode::S_IRWXU).unwrap();
    }
    let mut firing = start(&place, &format!("read {}", fifo.display()));
    let mut beside = start(&place, "operate");
    let (child, spans) = export(&place, &firing.pid(), &[], &[]);
    firing.fire();
    // Of this process, the next looks see nothing else.
    let (second, others) = export(&place, &beside.pid(), &[], &[]);
    beside.fire();
    others.recv().unwrap();
    says(&end(second), 0, [1, 1, 0, 0, 0]);
    fs::write(&fifo, "text").unwrap();
    let read = spans.recv().unwrap();
    assert_eq!(read.name, "READ_FILE");
    let is_path = |any: &Any| *any == Any::StringValue(fifo.display().to_string());
    let attribute = |span: &Span, key: &str| {
        span.attributes
            .iter()
            .find(|attribute| attribute.key == key)
            .map(|found| found.value.clone().unwrap().value.unwrap())
    };
    assert!(attribute(&read, "file.path").as_ref().is_some_and(is_path), "{read:?}");
    assert_eq!(attribute(&read, "dyntrace.bytes"), Some(Any::IntValue(4)));
    assert_eq!(attribute(&read, "dyntrace.in_flight"), None);
    assert!(attribute(&read, "dyntrace.worker.thread.id").is_some());

    // Another one is in flight at the end.
    firing.fire();
    let reader_is_there = File::options().write(true).open(&fifo).unwrap();
    let ran = end(child);
    drop(reader_is_there);
    says(&ran, 0, [3, 2, 0, 0, 0]);
    let rest: Vec<Span> = spans.try_iter().collect();
    let mut names: Vec<_> = rest.iter().map(|span| span.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["READ_FILE", "slow"]);
    let in_flight = rest.iter().find(|span| span.name == "READ_FILE").unwrap();
    assert_eq!(attribute(in_flight, "dyntrace.in_flight"), Some(Any::BoolValue(true)));
    let tag = rest.iter().find(|span| span.name == "slow").unwrap();
    assert!([&read, in_flight].iter().all(|span| span.parent_span_id == tag.span_id));
}

#[test]
fn rules_and_refusals_are_counted() {
    let place = Place::new();
    let mut firing = start(&place, "operate");
    let (child, spans) = export(&place, &firing.pid(), &["--failed", "--slow", "1h", "--tag", "req-*"], &[]);
    for _ in 0..20 {
        firing.fire();
    }
    says(&end(child), 0, [0, 0, 20, 0, 0]);
    assert_eq!(spans.try_iter().count(), 0);

    let (child, spans) = export(&place, &firing.pid(), &["--one-in", "1"], &["400 Bad Request"; 100]);
    for _ in 0..20 {
        firing.fire();
    }
    let ran = end(child);
    says(&ran, 1, [0, 20, 0, 20, 0]);
    assert!(ran.err.contains("the collector refused 20 spans: 400 Bad Request"), "{ran:?}");
    assert_eq!(spans.try_iter().count(), 0);
}

#[test]
fn a_collector_that_does_not_answer_holds_nothing_up() {
    let place = Place::new();
    let mut firing = start(&place, "operate");
    let pid = firing.pid();
    // It takes no connection.
    let collector = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", collector.local_addr().unwrap());
    let child = place.dyntrace(&["export", "-p", &pid, "--to", &address]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(&place, &pid);
    for _ in 0..20 {
        firing.fire();
    }
    // The first ends the recording, the second the wait for the collector.
    send(&child, Signal::SIGINT);
    send(&child, Signal::SIGTERM);
    let ran = Ran::of(child.wait_with_output().unwrap());
    says(&ran, 1, [0, 20, 0, 0, 20]);
    assert!(ran.err.contains("20 spans not sent"), "{ran:?}");
}

/// The exporter is stopped while the program overwrites its small files several times.
#[test]
fn packets_that_are_overwritten_unread_are_counted() {
    let place = Place::new();
    let mut firing = start(&place, "operate");
    let (child, spans) = export(&place, &firing.pid(), &["--size", "64K"], &[]);
    firing.fire();
    let first = spans.recv().unwrap();
    send(&child, Signal::SIGSTOP);
    let stopped = waitpid(Pid::from_raw(child.id().cast_signed()), Some(WaitPidFlag::WUNTRACED)).unwrap();
    assert!(matches!(stopped, WaitStatus::Stopped(_, Signal::SIGSTOP)), "{stopped:?}");
    for _ in 0..5000 {
        firing.fire();
    }
    send(&child, Signal::SIGCONT);
    let ran = end(child);
    let summary = ran.err.lines().last().unwrap();
    assert!(summary.contains("0 events and ") && summary.contains(" packets of 32 KiB lost"), "{ran:?}");
    ran.says(3, "packets of 32 KiB were overwritten before they were read");
    let received: Vec<Span> = [first].into_iter().chain(spans.try_iter()).collect();
    distinct(&received);
    assert!(summary.starts_with(&format!("{} spans of ", received.len())), "{ran:?}");
    assert!(received.len() > 100 && received.len() < 5000, "{}", received.len());
    let last = received.iter().map(|span| span.end_time_unix_nano).max();
    assert!(last > received.iter().map(|span| span.end_time_unix_nano).min(), "the newest are among them");
}

#[test]
fn a_process_of_another_user() {
    if !geteuid().is_root() {
        return missing::skip("root", "only root may control the processes of another user");
    }
    let place = Place::new();
    let [program, theirs] = ["program", "theirs"].map(|name| place.path(name));
    fs::set_permissions(place.0.path(), Permissions::from_mode(0o755)).unwrap();
    assert!(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&program).status().unwrap().success());
    fs::create_dir(&theirs).unwrap();
    for path in [&theirs, &place.path("run")] {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let mut command = Command::new(&program);
    command.args(["--exact", "role", "--nocapture"]).env("ROLE", "operate");
    place.put(command.env("DYNTRACE", "control").uid(NOBODY).gid(NOBODY));
    let mut firing = Firing::start(&mut command);
    place.run(&["export", "-p", &firing.pid()]).says(2, "belongs to user 65534");
    let (child, spans) = export(&place, &firing.pid(), &["--folder", "theirs/rings"], &[]);
    for _ in 0..20 {
        firing.fire();
    }
    says(&end(child), 0, [20, 20, 0, 0, 0]);
    assert_eq!(spans.try_iter().count(), 20);
}

#[test]
fn wrong_use() {
    let place = Place::new();
    place.run(&["export", "-p", "1", "--to", "spans.jsonl"]).says(2, "files are for dyntrace convert");
    place.run(&["export", "-p", "1", "--to", "https://127.0.0.1"]).says(2, "an address begins with http://HOST:PORT");
    place.run(&["export", "-p", "4194305"]).says(65, "there is no process 4194305");
    let own = std::process::id().to_string();
    fs::write(place.path("file"), "").unwrap();
    place.run(&["export", "-p", &own, "--folder", "file"]).says(2, "which is not an empty folder");
}
