//! `dyntrace top` on processes that know what they did, on traces, and on a terminal.

use std::future::pending;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use nix::sys::signal::Signal;
use nix::sys::termios::{LocalFlags, Termios};
use serde_json::Value;
use tokio::runtime::Runtime;
use tokio::sync::Mutex;
use tokio::task::yield_now;

use crate::place::{Firing, Place, Ran, send, wait_for_session};
use crate::program;
use crate::screen::Screen;

/// Is polled four times.
async fn turns() {
    for _ in 0..3 {
        yield_now().await;
    }
}

async fn stays() {
    pending::<()>().await;
}

async fn locks(mutex: Arc<Mutex<()>>) {
    let _guard = dyntrace::wait("cache", mutex.lock()).await;
}

fn job() {}

/// The role: two operations, one of which fails; two tasks that end and one that stays; a wait that ends and one that stays; a message;
/// a job.
pub fn everything(runtime: &Runtime) {
    runtime.block_on(async {
        let operations = async {
            // Jobs of the pool, always.
            dyntrace::fs::create_dir_all("/").await.unwrap();
            dyntrace::fs::remove_file("/there is no such file").await.unwrap_err();
        };
        dyntrace::with_tag("request", operations).await;
        dyntrace::spawn(turns()).await.unwrap();
        dyntrace::spawn(stays());
        let mutex = Arc::new(Mutex::new(()));
        let guard = mutex.clone().lock_owned().await;
        let waits = dyntrace::spawn(locks(mutex));
        yield_now().await;
        drop(guard);
        waits.await.unwrap();
        let held = Arc::new(Mutex::new(()));
        std::mem::forget(held.clone().lock_owned().await);
        dyntrace::spawn(locks(held));
        yield_now().await;
        let (sender, mut receiver) = dyntrace::mailbox::unbounded_channel();
        sender.send(1).unwrap();
        receiver.recv().await.unwrap();
        dyntrace::spawn_blocking(job).await.unwrap();
    });
}

/// A running program in the role, whose recorder can be controlled.
pub fn start(place: &Place, role: &str) -> Firing {
    let mut command = program(role);
    place.put(command.env("DYNTRACE", "control"));
    Firing::start(&mut command)
}

/// Starts `top` without a terminal, and waits until the process records. It goes on until an interrupt or the end of the process.
fn watch(place: &Place, pid: &str) -> Child {
    let mut command = place.dyntrace(&["top", "--json", "--for", "1h", "-p", pid]);
    let child = command.env("TMPDIR", place.0.path()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(place, pid);
    child
}

fn json(ran: &Ran) -> Value {
    assert_eq!((ran.status, &*ran.err), (Some(0), ""), "{ran:?}");
    serde_json::from_str(&ran.out).unwrap()
}

/// The sums of a number over the rows of a tab with such a text.
fn sum(top: &Value, tab: &str, text: &str, number: &str) -> u64 {
    let rows = top[tab]["rows"].as_array().unwrap();
    let has_text =
        |row: &Value| row.as_object().unwrap().values().any(|key| key.as_str().is_some_and(|key| key.contains(text)));
    let of = |row: &Value| row.pointer(number).unwrap_or_else(|| panic!("{row}")).as_u64().unwrap_or(0);
    rows.iter().filter(|row| has_text(row)).map(of).sum()
}

/// Compares the figures with a role that ran so many times. A thread of the pool may still hold its last job when the program says
/// that it has fired.
#[track_caller]
fn is_everything(top: &Value, times: u64) {
    for (tab, text, number, expected) in [
        ("operations", "/", "/all/count", 2 * times),
        ("operations", "/", "/all/errors", times),
        ("operations", "no such file", "/all/errors", times),
        ("tags", "request", "/all/count", 2 * times),
        ("tags", "", "/all/count", 2 * times),
        ("tasks", "turns", "/all/spawned", times),
        ("tasks", "turns", "/all/polls", 4 * times),
        ("tasks", "turns", "/all/ended", times),
        ("tasks", "turns", "/alive", 0),
        ("tasks", "stays", "/alive", times),
        ("tasks", "stays", "/all/polls", times),
        ("tasks", "locks", "/all/spawned", 2 * times),
        ("tasks", "locks", "/all/ended", times),
        ("waits", "wait", "/all/waits", 2 * times),
        ("waits", "wait", "/waiting", times),
        ("messages", "", "/all/sent", times),
        ("messages", "", "/all/received", times),
        ("messages", "", "/queue", 0),
        ("pools", "I/O", "/all/jobs", 2 * times),
        ("pools", "blocking", "/all/jobs", times),
    ] {
        assert_eq!(sum(top, tab, text, number), expected, "{number} of {text} in {tab}: {:#}", top[tab]);
    }
    let waits = top["waits"]["rows"].as_array().unwrap();
    assert!(waits.iter().any(|row| row["place"].as_str().unwrap().contains("top.rs:")), "{waits:?}");
    assert_eq!((&top["lost_events"], &top["not_followed"]), (&0.into(), &0.into()));
}

/// No folder of the command is left.
pub fn is_clean(place: &Place) {
    let left = std::fs::read_dir(place.0.path()).unwrap().map(|entry| entry.unwrap().path());
    let of_command = left.into_iter().find(|path| path.to_str().unwrap().contains("dyntrace-run"));
    assert_eq!(of_command.map_or(0, |folder| std::fs::read_dir(folder).unwrap().count()), 0);
}

#[test]
fn a_process_by_its_own_account() {
    let place = Place::new();
    let mut firing = start(&place, "everything");
    let pid = firing.pid();
    firing.fire();
    let top = watch(&place, &pid);
    (0..5).for_each(|_| firing.fire());
    send(&top, Signal::SIGINT);
    let top = json(&Ran::of(top.wait_with_output().unwrap()));
    is_everything(&top, 5);
    assert_eq!((&top["pid"], &top["process_ended"]), (&pid.parse::<u64>().unwrap().into(), &false.into()));
    // The process's own count of its threads.
    assert!(sum(&top, "pools", "I/O", "/threads") > 0, "{:#}", top["pools"]);
    assert!(place.run(&["status", "-p", &pid]).out.contains("records nothing"));
    is_clean(&place);
}

#[test]
fn a_process_that_is_killed_meanwhile() {
    let place = Place::new();
    let mut firing = start(&place, "everything");
    let top = watch(&place, &firing.pid());
    (0..3).for_each(|_| firing.fire());
    drop(firing);
    let top = json(&Ran::of(top.wait_with_output().unwrap()));
    is_everything(&top, 3);
    assert_eq!(top["process_ended"], true);
    is_clean(&place);
}

#[test]
fn a_process_that_does_not_exist() {
    let ran = Place::new().run(&["top", "--once", "-p", "4194304"]);
    ran.says(65, "4194304");
}

#[test]
fn wrong_use() {
    let place = Place::new();
    for (arguments, what) in [
        (&["top"][..], "<--pid <PID|NAME>|--trace <TRACE>...>"),
        (&["top", "-p", "1", "-r", "trace"], "cannot be used with"),
        (&["top", "-p", "1", "--at", "1s"], "cannot be used with"),
        (&["top", "-r", "trace", "--for", "1s"], "cannot be used with"),
    ] {
        place.run(arguments).says(2, what);
    }
}

/// A recording of the role, which was fired that many times.
fn recorded(place: &Place, times: usize) {
    let mut firing = start(place, "everything");
    let pid = firing.pid();
    let record =
        place.dyntrace(&["record", "--probes", "*", "-o", "trace", "-p", &pid]).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_session(place, &pid);
    (0..times).for_each(|_| firing.fire());
    send(&record, Signal::SIGINT);
    Ran::of(record.wait_with_output().unwrap()).says(0, "");
}

#[test]
fn a_trace_has_the_sums_of_its_events() {
    let place = Place::new();
    recorded(&place, 7);
    let top = json(&place.run(&["top", "-r", "trace", "--json"]));
    is_everything(&top, 7);
    let events = place.events("trace");
    assert_eq!(top["events"], events.len());
    let returns = || events.iter().filter(|event| event["probe"] == "dyntrace:efile_drv-return");
    assert_eq!(sum(&top, "operations", "", "/all/count"), returns().count() as u64);
    let bytes: u64 = returns().map(|event| event["bytes"].as_u64().unwrap()).sum();
    assert_eq!(sum(&top, "operations", "", "/all/bytes"), bytes);
    let polled = events.iter().filter(|event| event["probe"] == "dyntrace:process-unscheduled");
    let polled: Vec<u64> = polled.map(|event| event["polled"].as_u64().unwrap()).collect();
    assert_eq!(sum(&top, "tasks", "", "/all/polls"), polled.len() as u64);
    assert_eq!(sum(&top, "tasks", "", "/all/busy_ns"), polled.iter().sum::<u64>());
    let longest = top["tasks"]["rows"].as_array().unwrap().iter().filter_map(|row| row["all"]["max_ns"].as_u64()).max();
    assert_eq!(longest, polled.iter().max().copied());
    let time = |event: &Value| event["time_ns"].as_i64().unwrap();
    assert_eq!((&top["from_ns"], &top["to_ns"]), (&time(&events[0]).into(), &time(events.last().unwrap()).into()));
}

#[test]
fn a_trace_up_to_a_time_has_the_events_until_then() {
    let place = Place::new();
    recorded(&place, 7);
    let events = place.events("trace");
    let time = |event: &Value| event["time_ns"].as_i64().unwrap();
    let middle = time(&events[events.len() / 2]);
    let at = format!("{}ns", middle - time(&events[0]));
    let top = json(&place.run(&["top", "-r", "trace", "--at", &at, "--json"]));
    assert_eq!(top["events"], events.iter().filter(|event| time(event) <= middle).count());
    assert_eq!(top["to_ns"], middle);
    let is_return = |event: &&Value| event["probe"] == "dyntrace:efile_drv-return" && time(event) <= middle;
    assert_eq!(sum(&top, "operations", "", "/all/count"), events.iter().filter(is_return).count() as u64);
    let text = place.run(&["top", "-r", "trace"]).out;
    assert!(text.contains("\noperations\n") && text.contains("\nwaits\n"), "without a terminal: {text}");
    place.run(&["top", "-r", "nowhere"]).says(66, "nowhere");
}

/// `top` on a terminal.
fn on(screen: &Screen, place: &Place, arguments: &[&str]) -> Child {
    let mut command: Command = place.dyntrace(&[&["top"], arguments].concat());
    screen.put(command.env("TMPDIR", place.0.path()));
    command.spawn().unwrap()
}

#[track_caller]
fn is_restored(screen: &mut Screen, before: &Termios) {
    // The alternate screen is left.
    screen.until_written(b"\x1b[?1049l");
    assert_eq!(&screen.mode(), before);
}

#[test]
fn keys_on_a_terminal_while_the_process_runs_and_after_it_was_killed() {
    let place = Place::new();
    let mut firing = start(&place, "everything");
    let mut screen = Screen::new();
    let before = screen.mode();
    let mut top = on(&screen, &place, &["-p", &firing.pid()]);
    screen.until(|text| text.contains("no operation has ended"));
    assert!(!screen.mode().local_flags.contains(LocalFlags::ECHO));
    firing.fire();
    screen.until(|text| text.contains("no such file") && text.contains("0 events lost"));
    screen.press("3");
    screen.until(|text| text.contains("POLLS/S") && text.contains("turns"));
    screen.press("\t");
    screen.until(|text| text.contains("WAITING") && text.contains("top.rs:"));
    screen.press("2/nothing like it");
    screen.until(|text| text.contains("no row passes the filter") && text.contains("like it"));
    screen.press("\x7f\x7f\r");
    screen.until(|text| text.contains("hidden by the filter nothing like") && !text.contains("like it"));
    screen.press("/");
    screen.until(|text| text.contains("Enter: keep"));
    screen.press("\r");
    screen.press("?");
    screen.until(|text| text.contains("Shift-Tab"));
    screen.press("q");
    screen.until(|text| !text.contains("Shift-Tab"));
    drop(firing);
    screen.until(|text| text.contains("the process has ended"));
    screen.press("q");
    assert_eq!(top.wait().unwrap().code(), Some(0));
    is_restored(&mut screen, &before);
    is_clean(&place);
}

#[test]
fn the_waits_of_the_tasks_of_a_row() {
    let place = Place::new();
    let mut firing = start(&place, "everything");
    let mut screen = Screen::new();
    let mut top = on(&screen, &place, &["-p", &firing.pid(), "--filter", "top::stays"]);
    screen.until(|text| text.contains("no row passes"));
    firing.fire();
    screen.press("3");
    screen.until(|text| text.contains("1 rows"));
    screen.press("\r");
    screen.until(|text| text.contains("dyntrace why -p") && text.contains("waits"));
    screen.press("\x03");
    assert_eq!(top.wait().unwrap().code(), Some(0));
}

#[test]
fn a_signal_restores_the_terminal() {
    let place = Place::new();
    recorded(&place, 1);
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut screen = Screen::new();
        let before = screen.mode();
        let mut top = on(&screen, &place, &["-r", "trace"]);
        screen.until(|text| text.contains("no such file"));
        send(&top, signal);
        assert_eq!(top.wait().unwrap().code(), Some(0), "{signal}");
        is_restored(&mut screen, &before);
    }
}

#[test]
fn a_trace_on_a_terminal_goes_through_its_time() {
    let place = Place::new();
    recorded(&place, 3);
    let mut screen = Screen::new();
    let mut top = on(&screen, &place, &["-r", "trace"]);
    screen.until(|text| text.contains("no such file") && text.contains("PAUSED"));
    // The recording takes less than 10 s, so this is its first event.
    screen.press("{");
    screen.until(|text| text.contains("no operation has ended"));
    screen.press("}");
    screen.until(|text| text.contains("no such file"));
    screen.press("q");
    assert_eq!(top.wait().unwrap().code(), Some(0));
}
