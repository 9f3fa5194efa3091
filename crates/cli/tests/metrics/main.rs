//! `dyntrace metrics` on this test's own program: run with `ROLE` set, it is the program that is asked.
#![cfg(target_os = "linux")]

mod chapter;
mod exposition;
mod http;
#[path = "../common/interrupts.rs"]
mod interrupts;
#[path = "../../../../tests/common/missing.rs"]
mod missing;
#[path = "../common/page.rs"]
mod page;
#[path = "../record/place.rs"]
#[expect(dead_code, reason = "these tests need a part of it")]
mod place;

use std::env;
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use dyntrace::aio_pool::{Counts, Fault, Job, Pool, Port};
use nix::sys::signal::Signal;
use serde_json::Value;

use exposition::Page;
use http::{get, status};
use page::Fields;
use place::{Firing, Place, Ran, send};

/// The program in its role.
#[test]
fn role() {
    if env::var_os("ROLE").is_none() {
        return;
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (pool, port) = (Pool::builder().threads(1).build(), Port::new());
    println!("ready");
    let mut piece = [0; 1];
    while io::stdin().read(&mut piece).unwrap() > 0 {
        runtime.block_on(async {
            assert_eq!(dyntrace::fs::read("ten bytes").await.unwrap().len(), 10);
            dyntrace::fs::read("missing").await.unwrap_err();
            pool.submit(port, Shout).await.unwrap();
            if env::var_os("BLOCKS").is_some() {
                dyntrace::spawn(async { thread::sleep(Duration::from_millis(50)) }).await.unwrap();
            }
        });
        println!("fired");
    }
}

/// An operation of a driver with a hostile name.
struct Shout;

impl Job for Shout {
    type Output = ();

    fn run(&mut self) {}

    fn count(&self, _: Option<&()>, counts: &mut Counts) {
        counts.add("own\"} 1\n", "SHOUT\\\u{1b}[2J", true, 3);
    }

    fn settle(&mut self, _: Result<&(), &Fault>) {}
}

/// This program in a role. Each of its operations is a job of the pool.
pub fn program(role: &str) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "role", "--nocapture"]).env("ROLE", role).env("DYNTRACE_INLINE", "off");
    command
}

/// A place with a running program that has a control socket.
fn serving() -> (Place, Firing) {
    let place = Place::new();
    std::fs::write(place.path("ten bytes"), "0123456789").unwrap();
    let firing = place.controlled();
    (place, firing)
}

fn serve(place: &Place, pid: &str) -> (Child, String) {
    let mut command = place.dyntrace(&["metrics", "-p", pid, "--listen", "127.0.0.1:0"]);
    let mut server = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    let mut said = BufReader::new(server.stderr.take().unwrap());
    said.read_line(&mut line).unwrap();
    let address = line.split("http://").nth(1).unwrap().split('/').next().unwrap().to_owned();
    server.stderr = Some(said.into_inner());
    (server, address)
}

const READS: [(&str, &str); 2] = [("driver", "efile_drv"), ("command", "READ_FILE")];

#[test]
fn operations_errors_bytes_and_queues() {
    let (place, mut firing) = serving();
    let pid = firing.pid();
    let mut fired = 0;
    // An I/O thread adds its counts with its next batch.
    let page = loop {
        firing.fire();
        fired += 1;
        let ran = place.run(&["metrics", "-p", &pid]);
        ran.says(0, "");
        let page = Page::parse(&ran.out);
        if page.value("dyntrace_operation_errors_total", &READS).is_some_and(|errors| errors > 2.0) {
            break page;
        }
    };
    let value = |name: &str, labels: &[(&str, &str)]| page.value(name, labels).unwrap();
    let (operations, bytes) =
        (value("dyntrace_operations_total", &READS), value("dyntrace_operation_bytes_total", &READS));
    assert!(operations > 4.0 && operations <= 2.0 * f64::from(fired), "{operations} of {fired}");
    // Successful and failed reads take turns.
    assert_eq!(bytes, 10.0 * (operations - value("dyntrace_operation_errors_total", &READS)));
    assert!(value("dyntrace_operation_service_seconds_total", &READS) > 0.0);
    // Control characters are shown, so that they cannot control a terminal.
    let own = [("driver", "own\"} 1\\x0a"), ("command", "SHOUT\\\\x1b[2J")];
    assert_eq!(value("dyntrace_operation_bytes_total", &own), 3.0 * value("dyntrace_operations_total", &own));
    assert_eq!(value("dyntrace_pool_jobs_total", &[("lane", "fast")]), f64::from(3 * fired));
    assert_eq!(value("dyntrace_pool_wait_seconds_count", &[("lane", "fast")]), f64::from(3 * fired));
    assert!(value("dyntrace_pool_threads", &[("lane", "fast")]) >= 2.0);
    for name in ["dyntrace_pool_waiting_jobs", "dyntrace_recorder_sessions", "dyntrace_left_out_commands"] {
        assert_eq!(value(name, &[]), 0.0, "{name}");
    }

    let ran = place.run(&["metrics", "-p", &pid, "--json"]);
    ran.says(0, "");
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(json["version"], 1);
    assert_eq!((json["pid"].to_string(), &json["sessions"]), (pid, &Value::Array(vec![])));
    assert_eq!(json["monitor"], Value::Null);
    let reads = json["commands"].as_array().unwrap().iter().find(|of| of["command"] == "READ_FILE").unwrap();
    assert_eq!((&reads["driver"], reads["operations"].as_f64()), (&"efile_drv".into(), Some(operations)));
    let buckets = json["lanes"][0]["wait"]["buckets"].as_array().unwrap();
    let counted: u64 = buckets.iter().map(|bucket| bucket["count"].as_u64().unwrap()).sum();
    assert_eq!(json["lanes"][0]["wait"]["count"], counted);
}

#[test]
fn a_session_and_its_losses() {
    let (place, firing) = serving();
    let pid = firing.pid();
    let recording = place.dyntrace(&["record", "-p", &pid, "-o", "trace"]).stderr(Stdio::piped()).spawn().unwrap();
    place::wait_for_session(&place, &pid);
    let page = Page::parse(&place.run(&["metrics", "-p", &pid]).out);
    assert_eq!(page.value("dyntrace_recorder_sessions", &[]), Some(1.0));
    assert_eq!(page.value("dyntrace_recorder_lost_events_total", &[("session", "1")]), Some(0.0));
    send(&recording, Signal::SIGINT);
    Ran::of(recording.wait_with_output().unwrap()).says(0, "");
}

#[test]
fn events_of_the_monitor() {
    const LONG: [(&str, &str); 1] = [("kind", "long_schedule")];
    let place = Place::new();
    std::fs::write(place.path("ten bytes"), "0123456789").unwrap();
    let mut command = program("serve");
    place.put(command.env("BLOCKS", "1").env("DYNTRACE", "monitor=long_schedule:1ms,control"));
    let mut firing = Firing::start(&mut command);
    let pid = firing.pid();
    // A busy machine may give the monitor no time within one poll.
    let page = loop {
        firing.fire();
        let page = Page::parse(&place.run(&["metrics", "-p", &pid]).out);
        if page.value("dyntrace_monitor_events_total", &LONG) != Some(0.0) {
            break page;
        }
    };
    assert!(page.value("dyntrace_monitor_events_total", &LONG).is_some_and(|events| events >= 1.0));
    assert_eq!(page.value("dyntrace_monitor_events_total", &[("kind", "too_many_tasks")]), Some(0.0));
    for name in ["dyntrace_monitor_left_out_events_total", "dyntrace_monitor_panics_total"] {
        assert_eq!(page.value(name, &[]), Some(0.0), "{name}");
    }
    let json: Value = serde_json::from_str(&place.run(&["metrics", "-p", &pid, "--json"]).out).unwrap();
    assert!(json["monitor"]["events"]["long_schedule"].as_u64() >= Some(1), "{json}");
    assert_eq!((&json["monitor"]["events"]["long_wait"], &json["monitor"]["panics"]), (&0.into(), &0.into()));
}

/// docs/formats.md has the fields of the JSON.
#[test]
fn the_fields_of_json() {
    const NAMED: [(&str, &str); 3] = [("lanes[].wait", "times"), ("lanes[].service", "times"), ("monitor.events", "*")];
    let mut fields = Fields::new(&NAMED);
    for options in ["control", "monitor=long_schedule:1s,record:trace"] {
        let place = Place::new();
        std::fs::write(place.path("ten bytes"), "0123456789").unwrap();
        let mut command = program("serve");
        place.put(command.env("DYNTRACE", options));
        let mut firing = Firing::start(&mut command);
        firing.fire();
        let ran = place.run(&["metrics", "-p", &firing.pid(), "--json"]);
        ran.says(0, "");
        fields.add(&serde_json::from_str(&ran.out).unwrap());
    }
    // The last bucket of each row is for times that no job of a test takes.
    fields.insert("times.buckets[].below_ns", "null");
    fields.are_those_below("dyntrace metrics --json");
}

#[test]
fn scrapes_until_an_interrupt() {
    let (place, mut firing) = serving();
    let pid = firing.pid();
    let (server, address) = serve(&place, &pid);
    let jobs = |page: &Page| page.value("dyntrace_pool_jobs_total", &[("lane", "fast")]).unwrap();
    let mut last = -1.0;
    for _ in 0..3 {
        firing.fire();
        let answer = get(&address, "GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(head.contains("content-type: text/plain; version=0.0.4; charset=utf-8\r\n"), "{head}");
        let page = Page::parse(body);
        assert!(jobs(&page) > last);
        last = jobs(&page);
    }
    send(&server, Signal::SIGINT);
    Ran::of(server.wait_with_output().unwrap()).says(0, "");
    firing.fire();
}

#[test]
fn hostile_clients_hang_nobody() {
    let (place, firing) = serving();
    let (mut server, address) = serve(&place, &firing.pid());
    // They say nothing, or no end: more of them than are served at once.
    let silent: Vec<_> = (0..40).map(|_| std::net::TcpStream::connect(&address).unwrap()).collect();
    let endless = http::begin(&address, b"GET /metrics HTTP/1.1\r\nHost: x\r\n");
    let long = format!("GET /metrics HTTP/1.1\r\nHost: {}\r\n\r\n", "x".repeat(100_000));
    assert_eq!(status(&get(&address, &long)), Some(431));
    assert_eq!(status(&get(&address, "\0\u{1}\r\n\r\n")), Some(400));
    assert_eq!(status(&get(&address, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")), Some(404));
    let post = "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n...";
    assert_eq!(status(&get(&address, post)), Some(405));
    assert!(get(&address, "HEAD /metrics HTTP/1.0\r\n\r\n").ends_with("\r\n\r\n"));
    for _ in 0..50 {
        drop(http::begin(&address, b"GET /metrics HTTP/1.1\r\n"));
    }
    assert_eq!(status(&get(&address, "GET /metrics HTTP/1.0\r\n\r\n")), Some(200));
    drop((silent, endless));
    assert!(server.try_wait().unwrap().is_none());
    send(&server, Signal::SIGTERM);
    server.wait().unwrap();
}

#[test]
fn the_end_of_the_process_is_told() {
    let (place, firing) = serving();
    let pid = firing.pid();
    let (server, _) = serve(&place, &pid);
    drop(firing);
    Ran::of(server.wait_with_output().unwrap()).says(0, &format!("process {pid} has ended"));
    place.run(&["metrics", "-p", &pid]).says(65, "there is no process");
}

#[test]
fn an_address_that_is_taken() {
    let (place, firing) = serving();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = place.run(&["metrics", "-p", &firing.pid(), "--listen", &address]);
    ran.says(1, &format!("cannot listen on {address}; choose another address with --listen: "));
    place.run(&["metrics", "-p", &firing.pid(), "--listen", &address, "--json"]).says(2, "cannot be used with");
    place.run(&["metrics", "-p", &firing.pid(), "--listen", "9464"]).says(2, "invalid socket address");
}

#[test]
fn a_process_that_was_not_prepared() {
    if !nix::unistd::geteuid().is_root() {
        return missing::skip("root", "without it the kernel may refuse the memory of another process");
    }
    let place = Place::new();
    std::fs::write(place.path("ten bytes"), "0123456789").unwrap();
    let mut command = program("serve");
    place.put(&mut command);
    let mut firing = Firing::start(&mut command);
    let mut asking = place
        .dyntrace(&["metrics", "-p", &firing.pid()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    while asking.try_wait().unwrap().is_none() {
        firing.fire();
    }
    let ran = Ran::of(asking.wait_with_output().unwrap());
    ran.says(0, "");
    assert!(Page::parse(&ran.out).value("dyntrace_pool_jobs_total", &[("lane", "fast")]) > Some(0.0));
}
