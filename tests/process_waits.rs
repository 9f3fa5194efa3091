//! The waits for the ends of processes and for mailboxes, as a recording has them, against what the program did.
#![cfg(all(not(dyntrace_without_probes), target_os = "linux", feature = "recorder", feature = "mailbox"))]

#[path = "common/events.rs"]
mod events;

use std::pin::{Pin, pin};
use std::task::{Context, Waker};
use std::time::Duration;

use dyntrace::mailbox::{self, Mailbox, Options, channel};
use dyntrace::task::JoinSet;
use dyntrace::wait;
use events::seen;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, yield_now};

fn poll(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

fn waits(body: impl AsyncFnOnce()) -> Vec<String> {
    let runtime = Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    seen(&["process-wait", "process-resume"], || runtime.block_on(body()))
}

/// A wait of its own shows which process it is.
async fn shows(name: &'static str) {
    wait(name, yield_now()).await;
}

/// The lines without their places.
fn without_places(lines: &[String]) -> Vec<&str> {
    lines.iter().map(|line| line.split(" tests/").next().unwrap()).collect()
}

#[test]
fn a_handle_waits_for_its_process() {
    let mut line = 0;
    let lines = waits(async || {
        line = line!() + 1;
        let task = dyntrace::spawn(async {
            shows("in the task").await;
            dyntrace::process::current()
        });
        let pid = task.pid();
        assert_eq!(task.await.unwrap(), pid);
    });
    assert_eq!(
        (&lines[0], &lines[3]),
        (
            &format!("process-wait A B task::JoinHandle tests/process_waits.rs:{line}"),
            &format!("process-resume A B TIME ready task::JoinHandle tests/process_waits.rs:{line}"),
        )
    );
    assert_eq!(
        without_places(&lines[1..3]),
        ["process-wait B in the task wait", "process-resume B in the task TIME ready wait"]
    );
}

#[test]
fn all_handles_wait_and_end_in_their_ways() {
    let lines = waits(async || {
        let (runs, waits) = std::sync::mpsc::channel::<()>();
        let mut closure = dyntrace::spawn_blocking(move || waits.recv().unwrap());
        assert!(!poll(Pin::new(&mut closure)));
        runs.send(()).unwrap();
        closure.await.unwrap();
        LocalSet::new().run_until(async { dyntrace::spawn_local(yield_now()).await.unwrap() }).await;
        let (address, task) = mailbox::spawn(async |_: Mailbox<u32>| yield_now().await);
        assert_eq!(address.id(), task.pid());
        task.await.unwrap();
        let mut aborted = dyntrace::spawn(std::future::pending::<()>());
        assert!(!poll(Pin::new(&mut aborted)));
        aborted.abort();
        aborted.await.unwrap_err();
        let mut dropped = dyntrace::spawn(yield_now());
        assert!(!poll(Pin::new(&mut dropped)));
        drop(dropped);
        let mut bare = dyntrace::spawn(yield_now());
        assert!(!poll(Pin::new(&mut bare)));
        // Its further waits are not seen.
        bare.into_inner().await.unwrap();
        // It does not wait.
        let task = dyntrace::spawn(async {});
        yield_now().await;
        task.await.unwrap();
    });
    let ends = ["ready", "ready", "ready", "ready", "cancelled", "cancelled"];
    let expected: Vec<String> = ('B'..)
        .zip(ends)
        .flat_map(|(of, end)| {
            [
                format!("process-wait A {of} task::JoinHandle"),
                format!("process-resume A {of} TIME {end} task::JoinHandle"),
            ]
        })
        .collect();
    assert_eq!(without_places(&lines), expected);
}

/// A set waits for the process that it has started first, of those that it has not joined.
#[test]
fn a_set_waits_for_its_processes() {
    let mut place = 0;
    let lines = waits(async || {
        let mut set = JoinSet::new();
        // The resource is the process that has begun a wait with its number as name.
        for number in ["1", "2", "3"] {
            set.spawn(async move {
                shows(number).await;
                if number == "2" {
                    for _ in 0..5 {
                        yield_now().await;
                    }
                }
            });
        }
        place = line!() + 1;
        set.join_next().await.unwrap().unwrap();
        set.join_next_with_id().await.unwrap().unwrap();
        // The only one that is left.
        set.join_next().await.unwrap().unwrap();
        assert!(set.join_next().await.is_none());
    });
    let pid = |number: &str| {
        let line = lines.iter().find(|line| line.contains(&format!(" {number} wait "))).unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    };
    let of_set: Vec<&String> = lines.iter().filter(|line| line.contains("task::JoinSet::join_next")).collect();
    let [begins, ends, .., last_begins, last_ends] = of_set[..] else { panic!("{lines:?}") };
    let (first, last) = (pid("1"), pid("2"));
    let at = |line| format!("task::JoinSet::join_next tests/process_waits.rs:{line}");
    assert_eq!(
        [begins, ends],
        [
            &format!("process-wait A {first} {}", at(place)),
            &format!("process-resume A {first} TIME ready {}", at(place))
        ]
    );
    assert_eq!(
        [last_begins, last_ends],
        [
            &format!("process-wait A {last} {}", at(place + 3)),
            &format!("process-resume A {last} TIME ready {}", at(place + 3)),
        ]
    );
}

#[test]
fn each_operation_of_a_set_has_its_kind_and_its_end() {
    let lines = waits(async || {
        let mut set = JoinSet::new();
        set.spawn(yield_now());
        assert!(!poll(pin!(set.join_next())));
        assert!(!poll(pin!(set.join_next_with_id())));
        set.join_all().await;
        let mut set = JoinSet::new();
        set.spawn(std::future::pending::<()>());
        yield_now().await;
        set.shutdown().await;
        // A set does not know the processes of tokio's.
        let mut set = tokio::task::JoinSet::new();
        set.spawn(std::future::pending::<()>());
        let mut set = JoinSet::from(set);
        assert!(!poll(pin!(set.join_next())));
    });
    let ends: Vec<&str> = without_places(&lines).into_iter().filter(|line| line.contains("resume")).collect();
    assert_eq!(
        ends,
        [
            "process-resume A B TIME cancelled task::JoinSet::join_next",
            "process-resume A B TIME cancelled task::JoinSet::join_next",
            "process-resume A B TIME ready task::JoinSet::join_all",
            "process-resume A C TIME ready task::JoinSet::shutdown",
            "process-resume A a task of the set TIME cancelled task::JoinSet::join_next",
        ]
    );
    assert_eq!(lines.len(), 2 * ends.len());
}

#[test]
fn a_sender_waits_for_the_receiver_and_a_receiver_for_itself() {
    let mut line = 0;
    let lines = waits(async || {
        let (address, task) = Options::new().bounded(1).spawn(async |mut mailbox: Mailbox<u32>| {
            shows("in the receiver").await;
            while mailbox.recv().await.is_some() {}
        });
        address.send(1).await.unwrap();
        line = line!() + 1;
        address.send(2).await.unwrap();
        drop(address);
        task.into_inner().await.unwrap();
    });
    let wait = &lines[0];
    assert_eq!(wait, &format!("process-wait A B mailbox::Sender::send tests/process_waits.rs:{line}"));
    let lines = without_places(&lines);
    for (line, times) in [
        ("process-wait B in the receiver wait", 1),
        ("process-resume A B TIME ready mailbox::Sender::send", 1),
        ("process-wait B B mailbox::Receiver::recv", 1),
        ("process-resume B B TIME ready mailbox::Receiver::recv", 1),
    ] {
        assert_eq!(lines.iter().filter(|known| **known == line).count(), times, "{line}: {lines:?}");
    }
    assert_eq!(lines.len(), 6);
}

#[test]
fn a_wait_keeps_its_process_when_the_mailbox_moves() {
    let lines = waits(async || {
        let (address, mut mailbox) = channel(1);
        address.send(1).await.unwrap();
        let sends = dyntrace::spawn(async move {
            shows("in the sender").await;
            address.send(2).await.unwrap();
        });
        // The sender runs until it waits.
        for _ in 0..5 {
            yield_now().await;
        }
        // Another process takes the messages.
        let receives = dyntrace::spawn(async move {
            assert_eq!(mailbox.recv().await, Some(1));
            assert_eq!(mailbox.recv().await, Some(2));
            assert_eq!(mailbox.recv().await, None);
        });
        sends.into_inner().await.unwrap();
        receives.into_inner().await.unwrap();
    });
    let lines = without_places(&lines);
    let own: Vec<_> = lines.iter().filter(|line| line.ends_with("mailbox::Sender::send")).collect();
    let [wait, resume] = own[..] else { panic!("{lines:?}") };
    // B is the thread that has made the mailbox.
    assert_eq!(
        (*wait, *resume),
        ("process-wait A B mailbox::Sender::send", "process-resume A B TIME ready mailbox::Sender::send")
    );
    assert!(lines.contains(&"process-wait A in the sender wait"), "{lines:?}");
    assert!(lines.iter().filter(|line| line.contains("::recv")).all(|line| line.contains(" C C ")), "{lines:?}");
}

#[test]
fn each_operation_of_a_mailbox_has_its_kind() {
    let lines = waits(async || {
        let (sender, mut receiver) = channel::<u32>(1);
        assert!(!poll(pin!(receiver.recv())));
        assert!(!poll(pin!(receiver.recv_many(&mut Vec::new(), 2))));
        assert!(!poll(pin!(receiver.recv_matching(|_| true))));
        sender.send(1).await.unwrap();
        // One wait for each message that does not match.
        assert!(!poll(pin!(receiver.recv_matching(|number| *number == 9))));
        assert_eq!(receiver.recv().await, Some(1));
        sender.send(2).await.unwrap();
        assert!(!poll(pin!(sender.send(3))));
        assert!(!poll(pin!(sender.reserve())));
        assert!(!poll(pin!(sender.reserve_many(1))));
        assert!(!poll(pin!(sender.clone().reserve_owned())));
        sender.send_timeout(4, Duration::from_secs(1)).await.unwrap_err();
        assert!(!poll(pin!(sender.closed())));
        let (unbounded, _receiver) = mailbox::unbounded_channel::<u32>();
        assert!(!poll(pin!(unbounded.closed())));
    });
    let kinds =
        [["mailbox::Receiver::recv"; 4].as_slice(), &["mailbox::Sender::send"; 5], &["mailbox::Sender::closed"; 2]];
    let expected: Vec<String> = kinds
        .concat()
        .iter()
        .flat_map(|kind| [format!("process-wait A A {kind}"), format!("process-resume A A TIME cancelled {kind}")])
        .collect();
    assert_eq!(without_places(&lines), expected);
    assert!(lines.iter().all(|line| line.contains(" tests/process_waits.rs:")), "{lines:?}");
}
