//! Operations slower than the session's limit.

use std::fs::{self, File};
use std::thread;
use std::time::Duration;

use dyntrace::recorder::{Options, Session};
use dyntrace_reader::Trace;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::{Place, alone, read_by_babeltrace, stop, values};

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn an_operation_that_is_held_up() {
    let _alone = alone();
    let place = Place::new();
    let pipe = place.path("pipe");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let session = place.start("slower=500ms");
    // It waits for a writer.
    let writer = thread::spawn({
        let pipe = pipe.clone();
        move || {
            thread::sleep(Duration::from_millis(600));
            File::options().write(true).open(pipe).unwrap()
        }
    });
    run(async { dyntrace::fs::File::open(&pipe).await.unwrap() });
    writer.join().unwrap();

    let snapshot = place.snapshot();
    assert!(snapshot.to_str().unwrap().ends_with("-1-slow"), "{snapshot:?}");
    read_by_babeltrace(&snapshot);
    let opened = pipe.to_str().unwrap().to_owned();
    let entered = values(&snapshot, "efile_drv-entry", "s1").iter().position(|path| *path == opened).unwrap();
    let tag = &values(&snapshot, "efile_drv-entry", "tag")[entered];
    assert!(values(&snapshot, "efile_drv-return", "tag").contains(tag));

    let status = stop(session);
    assert_eq!((status.snapshots, status.suppressed), (vec![snapshot], 0));
}

#[test]
fn operations_that_are_fast_enough() {
    let _alone = alone();
    let place = Place::new();
    let session = place.start("slower=600s");
    assert!(place.path("trace-snapshots").exists());
    run(async {
        for _ in 0..100 {
            dyntrace::fs::metadata(place.0.path()).await.unwrap();
        }
    });
    let status = stop(session);
    assert_eq!((status.snapshots.len(), status.suppressed), (0, 0));
    assert!(!place.path("trace-snapshots").exists(), "what was made for nothing is removed");
}

#[test]
fn several_share_what_there_may_be() {
    let _alone = alone();
    let place = Place::new();
    let session = place.start("slower=1ns,snapshots=1");
    run(async {
        for _ in 0..5 {
            dyntrace::fs::metadata(place.0.path()).await.unwrap();
        }
    });
    let status = stop(session);
    assert_eq!((status.snapshots.len(), status.suppressed), (1, 4));
    let trace = place.path("trace");
    assert_eq!(values(&trace, "snapshot", "cause"), ["slow"]);
    let suppressed =
        values(&trace, "suppressed", "count").iter().map(|count| count.parse::<u64>().unwrap()).sum::<u64>();
    assert_eq!(suppressed, 4);
}

#[test]
fn only_operations_that_the_session_records() {
    let _alone = alone();
    let place = Place::new();
    let session = place.start("slower=1ns,tag=req-*,snapshots=1");
    let others = tempfile::tempdir().unwrap();
    let other = Session::start(Options::new(others.path())).unwrap();
    run(async {
        dyntrace::fs::metadata(place.0.path()).await.unwrap();
        dyntrace::with_tag("req-1", dyntrace::fs::metadata(place.0.path())).await.unwrap();
    });
    assert_eq!(stop(other).snapshots.len(), 0);
    let status = stop(session);
    assert_eq!((status.snapshots.len(), status.suppressed), (1, 0), "{status:?}");
    assert_eq!(values(&status.snapshots[0], "efile_drv-return", "user_tag"), ["req-1"]);
}

#[test]
fn a_snapshot_that_cannot_be_written_is_told_of() {
    let _alone = alone();
    let place = Place::new();
    let session = place.start("slower=1ns");
    fs::remove_dir(place.path("trace-snapshots")).unwrap();
    fs::write(place.path("trace-snapshots"), "").unwrap();
    run(async { dyntrace::fs::metadata(place.0.path()).await.unwrap() });
    let status = stop(session);
    assert_eq!((status.snapshots.len(), status.suppressed), (0, 1));
    let trace = Trace::open(place.path("trace")).unwrap();
    // The losses are complete after reading.
    assert!(trace.events().count() > 0);
    let losses = trace.losses();
    assert!(losses.lost[0].reason.starts_with("no snapshot was taken: cannot create the folder"), "{losses:?}");
}
