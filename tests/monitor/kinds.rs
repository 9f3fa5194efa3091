//! The other kinds.

use std::future::pending;
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::time::Duration;

use dyntrace::aio_pool::{Fault, Job, Pool, Port};
use dyntrace::mailbox;
use dyntrace::monitor::{Builder, Kind};
use tokio::sync::Notify;

use crate::{Watched, on_a_thread, one_thread};

#[test]
fn a_wait_is_told_once() {
    static TURN: Notify = Notify::const_new();
    let watched = Watched::by(Builder::new().long_wait(Duration::from_millis(5)));
    let line = line!() + 2;
    let task = on_a_thread(async {
        dyntrace::wait("turn", TURN.notified()).await;
        dyntrace::wait("next turn", TURN.notified()).await;
    });
    let first = watched.next();
    assert_eq!((first.kind, first.resource.as_deref(), first.operation), (Kind::LongWait, Some("turn"), Some("wait")));
    assert_eq!(first.place.map(|place| (place.file(), place.line())), Some(("tests/monitor/kinds.rs", line)));
    assert!(first.amount >= 5_000_000 && first.function.unwrap().ends_with("a_wait_is_told_once"), "{first}");
    TURN.notify_one();
    let second = watched.next();
    assert_eq!((second.process, second.resource.as_deref()), (first.process, Some("next turn")));
    TURN.notify_one();
    task.join().unwrap();
    assert_eq!(watched.monitor.counts().of(Kind::LongWait), 2);
}

#[test]
fn many_waits_are_told_up_to_a_limit_and_counted() {
    let watched = Watched::by(Builder::new().long_wait(Duration::from_millis(1)));
    let runtime = one_thread();
    let tasks = runtime.block_on(async {
        let tasks: Vec<_> = (0..250).map(|_| dyntrace::spawn(dyntrace::wait("for ever", pending::<()>()))).collect();
        // However many looks it takes.
        while watched.monitor.counts().of(Kind::LongWait) < 250 {
            tokio::task::yield_now().await;
        }
        tasks
    });
    drop((tasks, runtime));
    let counts = watched.monitor.counts();
    assert_eq!(counts.of(Kind::LongWait), 250);
    let told = 250 - usize::try_from(counts.left_out()).unwrap();
    (0..told).for_each(|_| assert_eq!(watched.next().resource.as_deref(), Some("for ever")));
}

#[test]
fn a_mailbox_with_many_messages() {
    let watched = Watched::by(Builder::new().long_message_queue(3));
    let (sender, mut receiver) = mailbox::unbounded_channel();
    let fill = || (0..5).for_each(|message| sender.send(message).unwrap());
    fill();
    let event = watched.next();
    let me = dyntrace::process::current();
    assert_eq!((event.kind, event.amount, event.limit), (Kind::LongMessageQueue, 5, 3));
    assert_eq!(event.process, Some(me));
    let again = watched.again(|| {
        while receiver.try_recv().is_ok() {}
        std::thread::sleep(Duration::from_millis(60));
        fill();
    });
    assert_eq!((again.kind, again.amount), (Kind::LongMessageQueue, 5));
}

/// Waits until its sender is dropped.
struct Waits(mpsc::Receiver<()>);

impl Job for Waits {
    type Output = ();

    fn run(&mut self) {
        let _ = self.0.recv();
    }

    fn settle(&mut self, _: Result<&(), &Fault>) {}
}

#[test]
fn a_port_with_many_jobs() {
    let watched = Watched::by(Builder::new().busy_port(2));
    let pool = Pool::builder().threads(0).build();
    let (busy, other) = (Port::new(), Port::new());
    let submit = |port| pool.submit(port, Waits(mpsc::channel().1));
    let mut operations: Vec<_> = [other, busy, busy, busy].map(submit).into();
    let event = watched.next();
    assert_eq!((event.kind, event.amount, event.port), (Kind::BusyPort, 3, Some(busy)));
    let again = watched.again(|| {
        // Jobs that were cancelled leave their queue when they are taken.
        operations.clear();
        while pool.run_one() {}
        std::thread::sleep(Duration::from_millis(60));
        operations.extend([busy, busy, busy].map(submit));
    });
    assert_eq!((again.kind, again.port), (Kind::BusyPort, Some(busy)));
}

#[test]
fn many_closures_that_wait_for_a_thread() {
    let watched = Watched::by(Builder::new().long_blocking_queue(1));
    let runtime = one_thread();
    let _inside = runtime.enter();
    let (mut releases, mut handles) = (Vec::new(), Vec::new());
    let mut begin = || {
        for _ in 0..3 {
            let (release, waits) = mpsc::channel::<()>();
            releases.push(release);
            handles.push(dyntrace::spawn_blocking(move || _ = waits.recv()));
        }
    };
    begin();
    let event = watched.next();
    assert_eq!(event.kind, Kind::LongBlockingQueue);
    assert!(event.amount >= 2, "{event}");
    drop(releases);
    handles.drain(..).for_each(|handle| runtime.block_on(handle).unwrap());
}

#[test]
fn many_tasks() {
    // Tasks of other tests may be in the table, so it is far above.
    let watched = Watched::by(Builder::new().too_many_tasks(1000));
    let runtime = one_thread();
    let many = || -> Vec<_> {
        let _inside = runtime.enter();
        (0..1500).map(|_| dyntrace::spawn(pending::<()>())).collect()
    };
    let mut tasks = many();
    let event = watched.next();
    assert_eq!((event.kind, event.limit), (Kind::TooManyTasks, 1000));
    assert!(event.amount > 1000, "{event}");
    let again = watched.again(|| {
        for task in tasks.drain(..) {
            task.abort();
            assert!(runtime.block_on(task).unwrap_err().is_cancelled());
        }
        std::thread::sleep(Duration::from_millis(60));
        tasks = many();
    });
    assert_eq!(again.kind, Kind::TooManyTasks);
}

#[test]
fn a_wait_of_a_future_outside_of_tasks_is_not_told() {
    let watched = Watched::by(Builder::new().long_wait(Duration::from_millis(1)));
    let mut outside = pin!(dyntrace::wait("outside", pending::<()>()));
    assert!(outside.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    static DONE: Notify = Notify::const_new();
    let task = on_a_thread(async { dyntrace::wait("inside", DONE.notified()).await });
    assert_eq!(watched.next().resource.as_deref(), Some("inside"));
    DONE.notify_one();
    task.join().unwrap();
    assert_eq!(watched.monitor.counts().of(Kind::LongWait), 1);
}
