//! Waits of a task that has several at a time, and of futures that move from task to task.

use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use dyntrace::process::Pid;
use dyntrace::task::JoinHandle;
use dyntrace::time::timeout;
use dyntrace::wait as waits;
use dyntrace_task_table::Thing;
use tokio::select;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use super::{turns, wait};

const HOUR: Duration = Duration::from_secs(3600);

type EndReceiver = oneshot::Receiver<()>;
type Moved = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The process for which a task waits.
fn process(of: Pid) -> Option<String> {
    let (_, _, Thing::Process(process)) = wait(of)? else { return Some("another thing".to_owned()) };
    Some(format!("<0.{process}.0>"))
}

/// A task that ends when it is told to.
fn ends(told: EndReceiver) -> JoinHandle<()> {
    dyntrace::spawn(async { told.await.unwrap() })
}

async fn is_pending(future: &mut (impl Future + Unpin)) -> bool {
    poll_fn(|context| Poll::Ready(Pin::new(&mut *future).poll(context).is_pending())).await
}

/// The wait that lasts is polled before the one that ends, or after it, or only in later polls.
pub async fn shorter_ended() {
    for order in ["first", "last", "later"] {
        let (tell_one, one) = oneshot::channel();
        let (tell_two, two) = oneshot::channel::<()>();
        let mut lasting = dyntrace::spawn(pending::<()>());
        let (pid, short) = (lasting.pid(), ends(one));
        let task = dyntrace::spawn(async move {
            assert!(is_pending(&mut lasting).await);
            match order {
                "first" => select! { biased; _ = &mut lasting => unreachable!(), _ = short => {} },
                "last" => {
                    let mut short = short;
                    poll_fn(|context| {
                        let is_pending = Pin::new(&mut short).poll(context).is_pending();
                        assert!(Pin::new(&mut lasting).poll(context).is_pending());
                        if is_pending { Poll::Pending } else { Poll::Ready(()) }
                    })
                    .await;
                }
                _ => short.await.unwrap(),
            }
            select! { biased; _ = &mut lasting => unreachable!(), told = two => told.unwrap() }
            lasting.abort();
            drop(lasting);
            pending::<()>().await
        });
        turns().await;
        assert!(process(task.pid()).is_some());
        tell_one.send(()).unwrap();
        turns().await;
        assert_eq!(process(task.pid()), Some(pid.to_string()), "{order}");
        tell_two.send(()).unwrap();
        turns().await;
        assert_eq!(process(task.pid()), None, "{order}");
    }
}

/// A wait around others leaves the row to one beside it, which ends.
pub async fn one_beside_it_ended() {
    for is_first in [true, false] {
        let (tell, told) = oneshot::channel();
        let mut beside = ends(told);
        let limit = line!() + 2;
        let task = dyntrace::spawn(async move {
            let mut limited = Box::pin(timeout(HOUR, pending::<()>()));
            let mut has_ended = false;
            poll_fn(|context| {
                for turn in [is_first, !is_first] {
                    if turn {
                        assert!(limited.as_mut().poll(context).is_pending());
                    } else if !has_ended {
                        has_ended = Pin::new(&mut beside).poll(context).is_ready();
                    }
                }
                Poll::<()>::Pending
            })
            .await
        });
        turns().await;
        assert!(process(task.pid()).is_some());
        tell.send(()).unwrap();
        turns().await;
        let (operation, place, _) = wait(task.pid()).unwrap();
        assert_eq!(
            (&*operation, place),
            ("time::timeout", format!("tests/table_waits/several.rs:{limit}")),
            "{is_first}"
        );
    }
}

/// Each new timeout is younger than the wait inside of it.
pub async fn timeouts_in_turn() {
    let mut lasting = dyntrace::spawn(pending::<()>());
    let pid = lasting.pid();
    let task = dyntrace::spawn(async move {
        for _ in 0..2 {
            assert!(timeout(Duration::from_millis(1), &mut lasting).await.is_err());
        }
        timeout(HOUR, lasting).await.unwrap().unwrap();
    });
    turns().await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(process(task.pid()), Some(pid.to_string()));
}

/// A task that polls `future` once, gives it away, and then waits for something that nothing tells.
fn gives(mut future: Moved, to: UnboundedSender<Moved>) -> Pid {
    let task = dyntrace::spawn(async move {
        assert!(is_pending(&mut future).await);
        turns().await;
        to.send(future).ok().unwrap();
        pending::<()>().await
    });
    task.pid()
}

pub async fn moved() {
    for encloses in [false, true] {
        let (gives_it, mut taken) = unbounded_channel();
        let (tell, told) = oneshot::channel();
        let future: Moved = match encloses {
            false => Box::pin(async { ends(told).await.unwrap() }),
            true => Box::pin(waits("flour", async { told.await.unwrap() })),
        };
        let giver = gives(future, gives_it);
        let mut future = taken.recv().await.unwrap();
        let since = wait_began(giver);
        assert!(since.is_some());
        let taker = dyntrace::spawn(async move {
            assert!(is_pending(&mut future).await);
            let again = poll_fn(|context| future.as_mut().poll(context));
            again.await;
            pending::<()>().await
        });
        turns().await;
        assert_eq!((wait_began(giver), wait_began(taker.pid())), (None, since));
        tell.send(()).unwrap();
        turns().await;
        assert_eq!((wait_began(giver), wait_began(taker.pid())), (None, None));
    }
}

/// The taker's only poll finds the future ready, or the future is dropped outside of all tasks.
pub async fn moved_and_ended() {
    for is_polled in [true, false] {
        let (gives_it, mut taken) = unbounded_channel();
        let (tell, told) = oneshot::channel::<()>();
        let giver = gives(Box::pin(waits("flour", async { told.await.unwrap() })), gives_it);
        let future = taken.recv().await.unwrap();
        assert!(wait_began(giver).is_some());
        if is_polled {
            tell.send(()).unwrap();
            dyntrace::spawn(future).await.unwrap();
        } else {
            drop(future);
        }
        assert_eq!(wait_began(giver), None);
    }
}

/// The giver's next wait takes the place of the moved one, whose end leaves it.
pub async fn moved_from_a_waiting_task() {
    let (gives_it, mut taken) = unbounded_channel::<Moved>();
    let mut future: Moved = Box::pin(waits("flour", pending()));
    let lasting = dyntrace::spawn(pending::<()>());
    let pid = lasting.pid();
    let giver = dyntrace::spawn(async move {
        assert!(is_pending(&mut future).await);
        gives_it.send(future).ok().unwrap();
        lasting.await.unwrap();
    });
    drop(taken.recv().await.unwrap());
    assert_eq!(process(giver.pid()), Some(pid.to_string()));
}

/// When the wait of a task began, in cycles.
fn wait_began(of: Pid) -> Option<u64> {
    let table = super::table();
    let task = table.tasks.iter().find(|seen| format!("<0.{}.0>", seen.task.pid) == of.to_string())?;
    Some(task.task.wait?.since)
}
