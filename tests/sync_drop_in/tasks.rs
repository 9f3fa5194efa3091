// Tasks and their handles.

use std::cell::Cell;
use std::future::pending;
use std::panic::{RefUnwindSafe, UnwindSafe};

use task::{AbortHandle, Id, JoinError, JoinHandle, JoinSet, LocalSet, spawn, spawn_blocking, spawn_local};

struct Worker {
    task: JoinHandle<u32>,
}

pub async fn every_item_of_a_handle_is_there() {
    fn everywhere<T: Send + Sync + Unpin + UnwindSafe + RefUnwindSafe>() {}
    everywhere::<JoinHandle<Cell<u32>>>();
    everywhere::<JoinHandle<std::marker::PhantomPinned>>();
    let worker = Worker { task: spawn(async { 7 }) };
    let id: Id = worker.task.id();
    let aborts: AbortHandle = worker.task.abort_handle();
    assert_eq!((aborts.id(), worker.task.is_finished()), (id, false));
    assert_eq!(format!("{:?}", worker.task), format!("JoinHandle {{ id: Id({id}) }}"));
    let answer: Result<u32, JoinError> = owned(worker.task).await;
    assert_eq!(answer.unwrap(), 7);
    assert!(aborts.is_finished());
    fn of_tokio<T>(task: impl Into<tokio::task::JoinHandle<T>>) -> tokio::task::JoinHandle<T> {
        task.into()
    }
    assert_eq!(of_tokio(spawn(async { 8 })).await.unwrap(), 8);
}

pub async fn an_aborted_task_drops_its_future() {
    let alive = Arc::new(());
    for polls in 0..2 {
        for by_handle in [true, false] {
            let held = Arc::clone(&alive);
            let mut task = spawn(async move {
                pending::<()>().await;
                drop(held);
            });
            for _ in 0..polls {
                yield_now().await;
                assert!(!is_ready(Pin::new(&mut task)));
            }
            if by_handle { task.abort() } else { task.abort_handle().abort() }
            let error = task.await.unwrap_err();
            assert!(error.is_cancelled() && !error.is_panic());
            assert_eq!(Arc::strong_count(&alive), 1);
        }
    }
}

pub async fn a_panic_reaches_the_handle() {
    let task: JoinHandle<()> = spawn(async { std::panic::resume_unwind(Box::new("no flour")) });
    let error = task.await.unwrap_err();
    assert!(error.is_panic());
    assert_eq!(error.into_panic().downcast_ref::<&str>(), Some(&"no flour"));
    let task: JoinHandle<()> = spawn_blocking(|| std::panic::resume_unwind(Box::new("no salt")));
    assert!(task.await.unwrap_err().is_panic());
}

pub async fn a_dropped_handle_leaves_its_task_running() {
    let (sender, receiver) = oneshot::channel();
    let mut task = spawn(async {
        yield_now().await;
        sender.send(7).unwrap();
    });
    assert!(!is_ready(Pin::new(&mut task)));
    drop(task);
    assert_eq!(receiver.await.unwrap(), 7);
}

pub async fn a_handle_keeps_the_value() {
    let value = Arc::new(());
    let given = Arc::clone(&value);
    let task = spawn(async move { given });
    while !task.is_finished() {
        yield_now().await;
    }
    assert_eq!(Arc::strong_count(&value), 2);
    drop(task);
    assert_eq!(Arc::strong_count(&value), 1);
}

pub async fn a_handle_is_awaited_by_reference() {
    let (sender, receiver) = oneshot::channel::<u32>();
    let mut task = spawn(async { receiver.await.unwrap() });
    assert!(time::timeout(Duration::from_millis(1), &mut task).await.is_err());
    sender.send(7).unwrap();
    assert_eq!((&mut task).await.unwrap(), 7);
    assert!(task.is_finished());
    let again = catch_unwind(AssertUnwindSafe(|| is_ready(Pin::new(&mut task)))).unwrap_err();
    assert_eq!(again.downcast_ref::<&str>(), Some(&"JoinHandle polled after completion"));
}

pub async fn closures_and_local_tasks_have_handles() {
    assert_eq!(spawn_blocking(|| 7).await.unwrap(), 7);
    let local = LocalSet::new();
    let value = local.run_until(async {
        let value = std::rc::Rc::new(8);
        let task: JoinHandle<std::rc::Rc<u32>> = spawn_local(async { value });
        task.await.unwrap()
    });
    assert_eq!(*value.await, 8);
}

pub async fn the_end_of_a_runtime_ends_its_tasks() {
    thread::spawn(|| {
        let make = || tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ended = make();
        let mut task = {
            let _inside = ended.enter();
            spawn(pending::<()>())
        };
        assert!(!is_ready(Pin::new(&mut task)));
        drop(ended);
        assert!(make().block_on(task).unwrap_err().is_cancelled());
    })
    .join()
    .unwrap();
}

// `build_task`, the `Builder` that it returns, and that one's `name` are tokio's for programs with `tokio_unstable` and its feature `tracing`.
pub async fn every_item_of_a_set_is_there() {
    fn everywhere<T: Send + Sync + Unpin>() {}
    everywhere::<JoinSet<u32>>();
    let mut set: JoinSet<u32> = JoinSet::new();
    assert!(set.is_empty() && JoinSet::<u32>::default().is_empty());
    assert_eq!(format!("{set:?}"), "JoinSet { len: 0 }");
    let task: AbortHandle = set.spawn(async { 7 });
    let id: Id = task.id();
    assert_eq!(set.len(), 1);
    let joined: Option<Result<(Id, u32), JoinError>> = set.join_next_with_id().await;
    assert_eq!(joined.unwrap().unwrap(), (id, 7));
    set.spawn_blocking(|| 8);
    assert_eq!(set.join_next().await.unwrap().unwrap(), 8);
    assert!(set.try_join_next().is_none() && set.try_join_next_with_id().is_none());
    assert!(set.join_next().await.is_none());
    let mut set: JoinSet<u32> = [1, 2].into_iter().map(|number| async move { number }).collect();
    set.extend([3].map(|number| async move { number }));
    let mut all = set.join_all().await;
    all.sort_unstable();
    assert_eq!(all, [1, 2, 3]);
    fn of_tokio<T>(set: impl Into<tokio::task::JoinSet<T>>) -> tokio::task::JoinSet<T> {
        set.into()
    }
    let mut set = JoinSet::new();
    set.spawn(async { 9 });
    let mut set = of_tokio(set);
    assert_eq!(set.join_next().await.unwrap().unwrap(), 9);
}

pub async fn a_set_joins_its_tasks_as_they_end() {
    let mut set = JoinSet::new();
    let (first, told_first) = oneshot::channel();
    let (second, told_second) = oneshot::channel();
    set.spawn(async { told_first.await.unwrap() });
    let task = set.spawn(async { told_second.await.unwrap() });
    // Giving up loses nothing.
    assert!(time::timeout(Duration::from_millis(1), set.join_next()).await.is_err());
    second.send(2).unwrap();
    let (id, number) = std::future::poll_fn(|cx| set.poll_join_next_with_id(cx)).await.unwrap().unwrap();
    assert_eq!((id, number), (task.id(), 2));
    first.send(1).unwrap();
    assert_eq!(std::future::poll_fn(|cx| set.poll_join_next(cx)).await.unwrap().unwrap(), 1);
    set.spawn(async { 3 });
    while set.len() == 1 {
        yield_now().await;
        if let Some(joined) = set.try_join_next() {
            assert_eq!(joined.unwrap(), 3);
        }
    }
    let task = set.spawn(async { 4 });
    yield_now().await;
    let (id, number) = loop {
        match set.try_join_next_with_id() {
            Some(joined) => break joined.unwrap(),
            None => yield_now().await,
        }
    };
    assert_eq!((id, number), (task.id(), 4));
}

pub async fn a_set_tells_panics_and_aborts() {
    let mut set: JoinSet<()> = JoinSet::new();
    let task = set.spawn(async { std::panic::resume_unwind(Box::new("no flour")) });
    let error = set.join_next_with_id().await.unwrap().unwrap_err();
    assert!(error.is_panic() && error.id() == task.id());
    set.spawn(pending()).abort();
    assert!(set.join_next().await.unwrap().unwrap_err().is_cancelled());
    set.spawn(async { std::panic::resume_unwind(Box::new("no salt")) });
    let all = spawn(set.join_all()).await.unwrap_err();
    assert_eq!(all.into_panic().downcast_ref::<&str>(), Some(&"no salt"));
}

pub async fn a_set_aborts_or_detaches_its_tasks() {
    let alive = Arc::new(());
    let endless = || {
        let held = Arc::clone(&alive);
        async move {
            pending::<()>().await;
            drop(held);
        }
    };
    let mut set = JoinSet::new();
    set.spawn(endless());
    set.spawn(endless());
    set.abort_all();
    assert_eq!(set.len(), 2);
    set.shutdown().await;
    assert_eq!((set.len(), Arc::strong_count(&alive)), (0, 1));
    let (tell, told) = oneshot::channel::<()>();
    let (said, hears) = oneshot::channel();
    set.spawn(async {
        told.await.unwrap();
        said.send(7).unwrap();
    });
    set.detach_all();
    assert!(set.is_empty());
    tell.send(()).unwrap();
    assert_eq!(hears.await.unwrap(), 7);
    set.spawn(endless());
    yield_now().await;
    drop(set);
    while Arc::strong_count(&alive) > 1 {
        yield_now().await;
    }
}

pub async fn a_set_has_local_tasks_and_those_of_other_runtimes() {
    let local = LocalSet::new();
    let mut set = JoinSet::new();
    set.spawn_local_on(async { std::rc::Rc::new(1) }, &local);
    let rest = local.run_until(async {
        set.spawn_local(async { std::rc::Rc::new(2) });
        let mut all = set.join_all().await;
        all.sort_unstable();
        all
    });
    assert_eq!(rest.await.iter().map(|number| **number).sum::<u32>(), 3);
    let number = thread::spawn(|| {
        let other = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let mut set = JoinSet::new();
        set.spawn_on(async { 1 }, other.handle());
        set.spawn_blocking_on(|| 2, other.handle());
        other.block_on(async { set.join_all().await.iter().sum::<u32>() })
    });
    assert_eq!(number.join().unwrap(), 3);
}
