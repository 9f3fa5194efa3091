//! Waits inside of others: of timeouts, and of waits that the program names.

use std::future::{pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use dyntrace::time::timeout;
use dyntrace::wait as waits;
use tokio::sync::mpsc::unbounded_channel;
use tokio::sync::oneshot;

use super::{named, turns, wait};

const HOUR: Duration = Duration::from_secs(3600);

fn told(operation: &str, name: &str) -> Option<(String, String)> {
    Some((operation.to_owned(), name.to_owned()))
}

pub async fn in_timeout() {
    let ((tell_one, one), (tell_two, two), (tell_three, three)) =
        (oneshot::channel(), oneshot::channel(), oneshot::channel());
    let (said, mut hears) = unbounded_channel();
    let limit = line!() + 2;
    let task = dyntrace::spawn(async move {
        let limited = timeout(HOUR, async {
            waits("flour", one).await.unwrap();
            // A wait that nothing tells.
            two.await.unwrap();
            waits("salt", three).await.unwrap();
        });
        limited.await.unwrap();
        said.send("baked").unwrap();
        let gave_up = timeout(Duration::from_millis(1), waits("the miller", pending::<()>())).await;
        assert!(gave_up.is_err());
        said.send("gave up").unwrap();
        pending::<()>().await
    });
    turns().await;
    assert_eq!(named(task.pid()), told("wait", "flour"));
    tell_one.send(()).unwrap();
    turns().await;
    assert_eq!(named(task.pid()), told("time::timeout", "timer"));
    assert_eq!(wait(task.pid()).unwrap().1, format!("tests/table_waits/enclosed.rs:{limit}"));
    tell_two.send(()).unwrap();
    turns().await;
    assert_eq!(named(task.pid()), told("wait", "salt"));
    tell_three.send(()).unwrap();
    assert_eq!(hears.recv().await, Some("baked"));
    assert_eq!(hears.recv().await, Some("gave up"));
    turns().await;
    assert_eq!(named(task.pid()), None);
}

pub async fn left_before_timeout() {
    let (tell, told_so) = oneshot::channel::<()>();
    let task = dyntrace::spawn(async {
        let mut left = pin!(waits("the miller", pending::<()>()));
        poll_fn(|context| {
            assert!(left.as_mut().poll(context).is_pending());
            Poll::Ready(())
        })
        .await;
        told_so.await.unwrap();
        // Of two timeouts around each other, the inner one.
        let inner = timeout(HOUR, pending::<()>());
        timeout(HOUR, inner).await.unwrap().unwrap();
    });
    turns().await;
    assert_eq!(named(task.pid()), told("wait", "the miller"));
    tell.send(()).unwrap();
    let inner = line!() - 6;
    turns().await;
    assert_eq!(named(task.pid()), told("time::timeout", "timer"));
    assert_eq!(wait(task.pid()).unwrap().1, format!("tests/table_waits/enclosed.rs:{inner}"));
}

pub async fn in_named() {
    let ((tell_one, one), (tell_two, two)) = (oneshot::channel::<()>(), oneshot::channel::<()>());
    let task = dyntrace::spawn(async {
        let delivery = async {
            waits("flour", one).await.unwrap();
            // A wait that nothing tells.
            two.await.unwrap();
            pending::<()>().await
        };
        waits("the miller", delivery).await;
    });
    turns().await;
    assert_eq!(named(task.pid()), told("wait", "flour"));
    tell_one.send(()).unwrap();
    turns().await;
    assert_eq!(named(task.pid()), told("wait", "the miller"));
    tell_two.send(()).unwrap();
    turns().await;
    assert_eq!(named(task.pid()), told("wait", "the miller"));
}
