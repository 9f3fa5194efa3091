// Tasks and their handles.

use std::cell::Cell;
use std::future::pending;
use std::panic::{RefUnwindSafe, UnwindSafe};

use task::{AbortHandle, Id, JoinError, JoinHandle, LocalSet, spawn, spawn_blocking, spawn_local};

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
