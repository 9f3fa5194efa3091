//! Processes with mailboxes: selective receive, names, ends of all kinds.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use dyntrace::mailbox::error::{RegisterError, TrySendError, WhereisError};
use dyntrace::mailbox::{self, Mailbox, Options, channel, register, unregister, whereis};
use dyntrace::process;
use tokio::runtime::Builder;
use tokio::task::yield_now;

use crate::runtime;

#[test]
fn a_process_knows_itself() {
    runtime().block_on(async {
        let (pid, task) = mailbox::spawn(async |mut mailbox: Mailbox<()>| {
            mailbox.recv().await;
            (process::current(), mailbox.address().unwrap().id())
        });
        pid.send(()).await.unwrap();
        assert_eq!(task.await.unwrap(), (pid.id(), pid.id()));
        assert_eq!(pid.to_string(), format!("{pid:?}").replace("Pid(", "<0.").replace(')', ".0>"));
        assert_ne!(pid.id(), process::current());
    });
}

#[test]
fn without_a_bound_there_is_always_a_place() {
    let (sender, mut mailbox) = mailbox::unbounded_channel();
    for number in 0..100_000 {
        sender.send(number).unwrap();
    }
    assert_eq!(mailbox.len(), 100_000);
    assert!((0..100_000).all(|number| mailbox.try_recv() == Ok(number)));
}

#[test]
fn skipped_messages_stay_in_order() {
    runtime().block_on(async {
        let (sender, mut mailbox) = channel(8);
        for number in 1..=5 {
            sender.send(number).await.unwrap();
        }
        assert_eq!(mailbox.recv_matching(|number| *number == 4).await, Some(4));
        assert_eq!(mailbox.recv_matching(|number| *number == 2).await, Some(2));
        sender.send(6).await.unwrap();
        assert_eq!((mailbox.len(), mailbox.is_empty()), (4, false));
        assert_eq!(mailbox.try_recv(), Ok(1));
        let mut rest = Vec::new();
        mailbox.recv_many(&mut rest, 10).await;
        assert_eq!(rest, [3, 5, 6]);
    });
}

#[test]
fn a_match_may_come_after_more_than_there_is_room_for() {
    runtime().block_on(async {
        let (sender, mut mailbox) = channel(2);
        let flood = tokio::spawn(async move {
            for number in 0..100 {
                sender.send(number).await.unwrap();
            }
        });
        assert_eq!(mailbox.recv_matching(|number| *number == 99).await, Some(99));
        flood.await.unwrap();
        assert_eq!(mailbox.recv_matching(|number| *number > 99).await, None, "no sender is left");
        for number in 0..99 {
            assert_eq!(mailbox.recv().await, Some(number));
        }
        assert_eq!(mailbox.recv().await, None);
    });
}

#[test]
fn neither_a_cancelled_selective_receive_nor_its_panic_loses_a_message() {
    runtime().block_on(async {
        let (sender, mut mailbox) = channel(4);
        sender.send(1).await.unwrap();
        sender.send(2).await.unwrap();
        let wait = mailbox.recv_matching(|number| *number == 3);
        assert!(tokio::time::timeout(Duration::from_millis(1), wait).await.is_err());
        sender.send(3).await.unwrap();
        let mut panics = Box::pin(mailbox.recv_matching(|number| *number == 3 && panic!("no threes")));
        let polled = AssertUnwindSafe(|| panics.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
        assert!(catch_unwind(polled).is_err());
        drop(panics);
        for number in 1..=3 {
            assert_eq!(mailbox.recv().await, Some(number));
        }
    });
}

#[test]
fn a_name_is_free_after_every_kind_of_end() {
    runtime().block_on(async {
        for end in ["return", "panic", "abort"] {
            let (pid, task) = mailbox::spawn(async |mut mailbox: Mailbox<&str>| {
                while let Some(message) = mailbox.recv().await {
                    match message {
                        "return" => break,
                        "panic" => panic!("as asked"),
                        _ => {}
                    }
                }
            });
            register("server", &pid).unwrap();
            assert_eq!(register("server", &pid), Err(RegisterError::Taken("server".to_owned())));
            let found = whereis::<&str>("server").unwrap();
            assert!(found.same_channel(&pid));
            drop(found);
            if end == "abort" {
                task.abort();
            } else {
                whereis("server").unwrap().send(end).await.unwrap();
            }
            assert_eq!(task.await.is_ok(), end == "return");
            pid.closed().await;
            assert_eq!(pid.try_send("too late"), Err(TrySendError::Closed("too late")));
            assert!(matches!(whereis::<&str>("server"), Err(WhereisError::NotRegistered(_))));
            assert!(matches!(register("server", &pid), Err(RegisterError::Closed(_))));
        }
    });
}

#[test]
fn a_name_keeps_its_process_and_leads_to_its_own_type_only() {
    runtime().block_on(async {
        let (pid, task) = mailbox::spawn(async |mut mailbox: Mailbox<u8>| mailbox.recv().await);
        register("keeper", &pid).unwrap();
        register("keeper's other name", &pid).unwrap();
        drop(pid);
        yield_now().await;
        let error = whereis::<u16>("keeper").unwrap_err();
        assert!(error.to_string().contains("takes messages of type u8, not of type u16"), "{error}");
        assert!(unregister("keeper") && !unregister("keeper"));
        assert!(!task.is_finished());
        assert!(unregister("keeper's other name"));
        assert_eq!(task.await.unwrap(), None);
    });
}

/// A message that looks up names when it is dropped.
struct Nosy;

impl Drop for Nosy {
    fn drop(&mut self) {
        assert!(whereis::<Nosy>("nobody").is_err());
    }
}

#[test]
fn messages_of_a_process_that_ends_may_look_for_names() {
    let (pid, mailbox) = channel(1);
    register("nosy", &pid).unwrap();
    pid.try_send(Nosy).unwrap_or_else(|_| panic!("there is room"));
    drop(pid);
    drop(mailbox);
    assert!(whereis::<Nosy>("nosy").is_err());
}

#[test]
fn ten_thousand_processes_pass_a_message_on() {
    const PROCESSES: usize = 10_000;
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    runtime.block_on(async {
        let (mut pid, mut end) = channel::<usize>(1);
        let mut tasks = Vec::new();
        for number in 0..PROCESSES {
            let next = pid;
            let (previous, task) = Options::new().bounded(1).spawn(async move |mut mailbox: Mailbox<usize>| {
                while let Some(count) = mailbox.recv().await {
                    if next.send(count + 1).await.is_err() {
                        break;
                    }
                }
            });
            register(format!("process {number}"), &previous).unwrap();
            tasks.push(task);
            pid = previous;
        }
        pid.send(0).await.unwrap();
        assert_eq!(end.recv().await, Some(PROCESSES));
        // They end in several orders: from the middle, from one end, and the rest with the runtime.
        for (number, task) in tasks.iter().enumerate().skip(PROCESSES / 2).step_by(7) {
            if number % 2 == 0 {
                task.abort();
            }
            unregister(&format!("process {number}"));
        }
        drop((end, pid));
    });
    drop(runtime);
    for number in 0..PROCESSES {
        assert!(whereis::<usize>(&format!("process {number}")).is_err());
    }
}

#[test]
fn a_mailbox_outlives_its_runtime() {
    let (first, second) = (runtime(), runtime());
    let (pid, task) = first.block_on(async { mailbox::spawn(async |mut mailbox: Mailbox<u8>| mailbox.recv().await) });
    second.block_on(async { pid.send(1).await.unwrap() });
    drop(first);
    second.block_on(async {
        assert!(pid.is_closed());
        assert!(task.await.unwrap_err().is_cancelled());
        assert!(pid.send(2).await.is_err());
    });
}

/// A full mailbox with waiting senders and a receiver: sender, process, name and runtime end in any order, and nothing of it remains.
#[test]
fn the_ends_come_in_any_order() {
    for order in 0..4 * 3 * 2 {
        let mut steps = vec!["sender", "process", "name", "runtime"];
        let order = [order / 6, order / 2 % 3, order % 2, 0].map(|place| steps.remove(place));

        let message = Arc::new(());
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build().unwrap();
        let entered = runtime.enter();
        let (pid, process) = Options::new().bounded(1).spawn(async |mailbox: Mailbox<Arc<()>>| {
            std::future::pending::<()>().await;
            drop(mailbox);
        });
        let name = format!("in any order: {order:?}");
        register(&name, &pid).unwrap();
        let waits = {
            let (pid, message) = (pid.clone(), message.clone());
            dyntrace::spawn(async move {
                for _ in 0..2 {
                    let _ = pid.send(message.clone()).await;
                }
            })
        };
        let other = whereis::<Arc<()>>(&name).unwrap();
        let closed = dyntrace::spawn(async move { other.closed().await });

        drop(entered);
        let (mut pid, mut runtime) = (Some(pid), Some(runtime));
        for step in order {
            match step {
                "sender" => drop(pid.take()),
                "process" => process.abort(),
                "name" => drop(unregister(&name)),
                _ => drop(runtime.take()),
            }
        }
        drop((waits, closed));
        assert!(whereis::<Arc<()>>(&name).is_err(), "{order:?}");
        assert_eq!(Arc::strong_count(&message), 1, "{order:?}");
    }
}

#[test]
fn a_name_is_free_after_the_end_also_if_a_waker_panics() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker's panic");
        }
    }
    let (sender, receiver) = channel::<u8>(1);
    register("panicky", &sender).unwrap();
    let mut closed = pin!(sender.closed());
    assert!(closed.as_mut().poll(&mut Context::from_waker(&Arc::new(Panics).into())).is_pending());
    assert!(catch_unwind(AssertUnwindSafe(|| drop(receiver))).is_err());
    assert!(matches!(whereis::<u8>("panicky"), Err(WhereisError::NotRegistered(_))));
}
