//! Probes and snapshots.

use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use dyntrace::monitor::Builder;
use dyntrace::recorder::{Mode, Options, Session};
use tokio::sync::Notify;

#[path = "../common/events.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod events;

use crate::{Watched, alone, on_a_thread};

#[test]
fn each_event_fires_a_probe() {
    static TURN: Notify = Notify::const_new();
    let mut line = 0;
    let lines = events::seen_after(&["system_monitor-*"], alone, |alone| {
        let limits = Builder::new().long_schedule(Duration::from_millis(10)).long_wait(Duration::from_millis(10));
        let watched = Watched::under(alone, limits);
        let (release, waits) = mpsc::channel::<()>();
        line = line!() + 3;
        let task = on_a_thread(async move {
            waits.recv().unwrap();
            dyntrace::wait("turn", TURN.notified()).await;
        });
        watched.next();
        release.send(()).unwrap();
        watched.next();
        TURN.notify_one();
        task.join().unwrap();
    });
    let [polled, waited] = lines.as_slice() else { panic!("{lines:?}") };
    let function = format!("{}::each_event_fires_a_probe::{{{{closure}}}}", module_path!());
    assert!(polled.starts_with(&format!("system_monitor-long_schedule A {function}")), "{polled}");
    assert!(polled.ends_with(" S, in futex"), "{polled}");
    let waits = format!("system_monitor-long_wait A turn wait tests/monitor/recorded.rs:{line} TIME 10000000");
    assert_eq!(*waited, waits);
}

#[test]
fn a_flight_recorder_takes_a_snapshot_if_asked() {
    let directory = tempfile::tempdir().unwrap();
    let mut options = Options::new(directory.path().join("trace"));
    options.mode = Mode::Overwrite;
    let session = Session::start(options).unwrap();
    let block = || {
        let (release, waits) = mpsc::channel::<()>();
        (release, on_a_thread(async move { waits.recv().unwrap() }))
    };
    let limits = || Builder::new().long_schedule(Duration::from_millis(5));
    let watched = Watched::by(limits());
    let (release, task) = block();
    watched.next();
    drop(watched);
    release.send(()).unwrap();
    task.join().unwrap();
    let snapshots = || session.status().unwrap().snapshots.len();
    assert_eq!(snapshots(), 0, "nobody has asked for it");
    let watched = Watched::by(limits().snapshot(true));
    let (release, task) = block();
    watched.next();
    while snapshots() == 0 {
        thread::yield_now();
    }
    release.send(()).unwrap();
    task.join().unwrap();
    drop(watched);
    session.stop().unwrap();
}
