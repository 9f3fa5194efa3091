//! A sender that waits for a mailbox gets an error and its message back when the mailbox ends.

use std::time::Duration;

use dyntrace::mailbox::error::{SendError, SendTimeoutError};
use dyntrace::mailbox::{Address, Mailbox, Options, channel};
use tokio::runtime::Builder;
use tokio::task::yield_now;

use crate::runtime;

/// Starts a process whose mailbox is full. It ends in the way that `end` names.
async fn full(end: &'static str) -> (Address<u32>, tokio::sync::oneshot::Sender<()>, dyntrace::task::JoinHandle<()>) {
    let (go, told) = tokio::sync::oneshot::channel::<()>();
    let (pid, task) = Options::new().bounded(1).spawn(async move |mut mailbox: Mailbox<u32>| {
        let _ = told.await;
        match end {
            "panic" => panic!("as asked"),
            "close" => {
                mailbox.close();
                // Receives only the messages it already has.
                assert_eq!(mailbox.recv().await, Some(0));
                assert_eq!(mailbox.recv().await, None);
            }
            "drop" => drop(mailbox),
            _ => {}
        }
    });
    pid.send(0).await.unwrap();
    (pid, go, task)
}

#[test]
fn senders_that_wait_get_their_messages_back() {
    for end in ["return", "panic", "close", "drop", "abort"] {
        // `blocking_send` waits on a thread of its own.
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
        runtime.block_on(async {
            let (pid, go, task) = full(end).await;
            let [sends, reserves, in_time, blocks, closed] = [(); 5].map(|()| pid.clone());
            let sends = dyntrace::spawn(async move { sends.send(1).await });
            let reserves = dyntrace::spawn(async move { reserves.reserve().await.map(drop) });
            let in_time = dyntrace::spawn(async move { in_time.send_timeout(2, Duration::from_secs(3600)).await });
            let blocks = tokio::task::spawn_blocking(move || blocks.blocking_send(3));
            let closed = dyntrace::spawn(async move { closed.closed().await });
            // Usually all senders are waiting now; the test does not depend on it.
            tokio::time::sleep(Duration::from_millis(20)).await;
            assert!(
                ![sends.is_finished(), reserves.is_finished(), in_time.is_finished(), blocks.is_finished()]
                    .contains(&true)
            );
            if end == "abort" {
                task.abort();
            } else {
                go.send(()).unwrap();
            }
            assert_eq!(sends.await.unwrap(), Err(SendError(1)), "{end}");
            assert_eq!(reserves.await.unwrap(), Err(SendError(())), "{end}");
            assert_eq!(in_time.await.unwrap(), Err(SendTimeoutError::Closed(2)), "{end}");
            assert_eq!(blocks.await.unwrap(), Err(SendError(3)), "{end}");
            closed.await.unwrap();
            assert_eq!(task.await.is_ok(), !["panic", "abort"].contains(&end), "{end}");
        });
    }
}

#[test]
fn a_receiver_that_waits_is_told_of_the_last_sender() {
    runtime().block_on(async {
        let (sender, mut mailbox) = channel::<u32>(1);
        let other = sender.clone();
        let waits =
            dyntrace::spawn(async move { (mailbox.recv_matching(|number| *number > 1).await, mailbox.recv().await) });
        yield_now().await;
        sender.send(1).await.unwrap();
        drop(sender);
        yield_now().await;
        assert!(!waits.is_finished(), "one is left");
        drop(other);
        assert_eq!(waits.await.unwrap(), (None, Some(1)));
    });
}

/// A sender that panics or is aborted drops its mailbox handles. Its receiver continues with the others, and ends without any.
#[test]
fn senders_that_end_otherwise_are_gone_as_well() {
    runtime().block_on(async {
        let (sender, mut mailbox) = channel(4);
        let (panics, aborted) = (sender.clone(), sender);
        let panics = dyntrace::spawn(async move {
            panics.send(1).await.unwrap();
            panic!("as asked");
        });
        let aborted = dyntrace::spawn(async move {
            aborted.send(2).await.unwrap();
            std::future::pending::<()>().await;
        });
        assert!(panics.await.unwrap_err().is_panic());
        assert_eq!((mailbox.recv().await, mailbox.recv().await), (Some(1), Some(2)));
        aborted.abort();
        assert_eq!(mailbox.recv().await, None);
    });
}
