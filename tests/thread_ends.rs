//! Destructors of thread-local values at the end of a thread. Some run after dyntrace's own values of the thread are destroyed,
//! some before. Tags and traced functions have tests of their own.
#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use dyntrace::code::View;
use dyntrace::fs;
use dyntrace::mailbox::unbounded_channel;
use dyntrace::recorder::{Options, Session};
use dyntrace_reader::Trace;
use pollster::block_on;
use tokio::io::AsyncWriteExt;

const THREADS: usize = 100;

/// One test at a time, as sessions record the whole process.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Calls the function when it is dropped.
struct Last(Box<dyn Fn()>);

impl Drop for Last {
    fn drop(&mut self) {
        self.0();
    }
}

thread_local! {
    static FIRST: RefCell<Option<Last>> = const { RefCell::new(None) };
    static SECOND: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// Has each of [`THREADS`] threads call `act` three times: once while it runs, and by two destructors. One was registered before the
/// first call and one after it, so that they run before and after dyntrace's, in the system's order.
fn at_the_end(act: impl Fn() + Clone + Send + 'static) {
    for _ in 0..THREADS {
        let act = act.clone();
        let thread = thread::spawn(move || {
            FIRST.set(Some(Last(Box::new(act.clone()))));
            act();
            SECOND.set(Some(Last(Box::new(act))));
        });
        thread.join().unwrap();
    }
}

/// Returns the number of events of a probe in the trace; none may be lost.
fn events(directory: &Path, probe: &str) -> usize {
    let trace = Trace::open(directory).unwrap();
    assert!(trace.losses().is_empty(), "{:?}", trace.losses());
    trace.events().filter(|event| event.class.probe() == probe).count()
}

#[test]
fn fired_probes_are_recorded() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let session = Session::start(Options::new(directory.path())).unwrap();
    at_the_end(|| dyntrace::p!(1, 2, "the end"));
    assert_eq!(session.stop().unwrap().status.discarded, 0);
    assert_eq!(events(directory.path(), "user_trace-i4s4"), 3 * THREADS);
}

#[test]
fn files_are_read_and_written() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("log");
    let own = path.clone();
    at_the_end(move || {
        block_on(async {
            let mut file = fs::File::options().append(true).create(true).open(&own).await.unwrap();
            file.write_all(b"line\n").await.unwrap();
            file.flush().await.unwrap();
            assert!(fs::read(&own).await.unwrap().ends_with(b"line\n"));
        });
    });
    assert_eq!(std::fs::read_to_string(path).unwrap(), "line\n".repeat(3 * THREADS));
}

#[test]
fn messages_arrive() {
    let _alone = alone();
    let (sender, mut receiver) = unbounded_channel();
    at_the_end(move || sender.send("the end").unwrap());
    let mut arrived = 0;
    while block_on(receiver.recv()).is_some() {
        arrived += 1;
    }
    assert_eq!(arrived, 3 * THREADS);
}

#[test]
fn views_end_with_their_closure() {
    let _alone = alone();
    at_the_end(|| View::with(|_| ()));
    // The stop would wait for a thread that is still pinned.
    let directory = tempfile::tempdir().unwrap();
    Session::start(Options::new(directory.path())).unwrap().stop().unwrap();
}

#[test]
fn sessions_are_stopped() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    for number in 0..THREADS {
        let place = directory.path().join(number.to_string());
        let session = Session::start(Options::new(&place)).unwrap();
        let thread = thread::spawn(move || {
            dyntrace::p!(1, 2, "by a thread that ends");
            FIRST.set(Some(Last(Box::new({
                let session = RefCell::new(Some(session));
                move || drop(session.take())
            }))));
        });
        thread.join().unwrap();
        assert_eq!(events(&place, "user_trace-i4s4"), 1);
    }
    // Recording has ended: a new session may start.
    Session::start(Options::new(directory.path().join("last"))).unwrap().stop().unwrap();
}
