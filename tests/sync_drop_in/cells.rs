// The barrier, and the cells whose value is set once.

use sync::{Barrier, BarrierWaitResult, OnceCell, SetError, SetOnce, SetOnceError};

static MADE_LATER: OnceCell<u32> = OnceCell::const_new();
static MADE: OnceCell<u32> = OnceCell::const_new_with(7);
static SET_LATER: SetOnce<u32> = SetOnce::const_new();
static SET: SetOnce<u32> = SetOnce::const_new_with(7);

pub async fn every_item_of_the_cells_is_there() {
    anywhere::<(Barrier, BarrierWaitResult, OnceCell<u32>, SetOnce<u32>)>();
    fn is_send<T: Send>() {}
    is_send::<(OnceCell<std::cell::Cell<u32>>, SetOnce<std::cell::Cell<u32>>)>();

    // Barrier
    let barrier: Barrier = Barrier::new(1);
    let result: BarrierWaitResult = future::<BarrierWaitResult>(barrier.wait()).await;
    assert!(result.clone().is_leader());
    assert_eq!(format!("{result:?}"), "BarrierWaitResult(true)");

    // OnceCell
    let mut cell: OnceCell<u32> = OnceCell::new();
    let _: Option<&u32> = cell.get();
    let _: Option<&mut u32> = cell.get_mut();
    assert!(!cell.initialized() && OnceCell::<u32>::default() == cell);
    let made: &u32 = future::<&u32>(cell.get_or_init(|| std::future::ready(3))).await;
    assert_eq!(*made, 3);
    let made: Result<&u32, String> =
        future::<Result<&u32, String>>(cell.get_or_try_init(|| std::future::ready(Err("late".to_owned())))).await;
    assert_eq!(made, Ok(&3));
    let error: SetError<u32> = cell.set(4).unwrap_err();
    assert!(error.is_already_init_err() && !error.is_initializing_err());
    *cell.get_mut().unwrap() += 1;
    let copy: OnceCell<u32> = cell.clone();
    assert!(copy == cell && cell == OnceCell::from(4) && cell != OnceCell::new_with(None));
    assert_eq!((cell.take(), cell.into_inner(), copy.into_inner()), (Some(4), None, Some(4)));
    assert_eq!((MADE.get(), MADE_LATER.get()), (Some(&7), None));
    MADE_LATER.set(8).unwrap();
    assert_eq!((MADE.set(9), MADE_LATER.get()), (Err(SetError::AlreadyInitializedError(9)), Some(&8)));

    // SetOnce
    let cell: SetOnce<u32> = SetOnce::new();
    assert!(!cell.initialized() && cell.get().is_none() && SetOnce::<u32>::default() == cell);
    let set: Result<(), SetOnceError<u32>> = cell.set(3);
    set.unwrap();
    assert_eq!(cell.set(4), Err(SetOnceError(4)));
    let value: &u32 = future::<&u32>(cell.wait()).await;
    assert_eq!(*value, 3);
    let copy: SetOnce<u32> = cell.clone();
    assert!(copy == cell && cell == SetOnce::from(3) && cell != SetOnce::new_with(None));
    assert_eq!(cell.into_inner(), Some(3));
    assert_eq!((SET.get(), SET_LATER.get()), (Some(&7), None));
    SET_LATER.set(8).unwrap();
    assert_eq!((SET.set(9), SET_LATER.get()), (Err(SetOnceError(9)), Some(&8)));
}

pub async fn a_barrier_opens_for_all_at_once() {
    let barrier = Arc::new(Barrier::new(3));
    for _ in 0..2 {
        let mut first = pin!(barrier.wait());
        let mut second = pin!(barrier.wait());
        assert!(!is_ready(first.as_mut()) && !is_ready(second.as_mut()));
        // The last one leads.
        assert!(barrier.wait().await.is_leader());
        assert!(!first.await.is_leader() && !second.await.is_leader());
    }
    // A future that is dropped has arrived, one that was never polled has not.
    drop(barrier.wait());
    assert!(!is_ready(Box::pin(barrier.wait()).as_mut()));
    let waits = tokio::spawn({
        let barrier = Arc::clone(&barrier);
        async move { barrier.wait().await.is_leader() }
    });
    yield_now().await;
    assert!(barrier.wait().await.is_leader() && !waits.await.unwrap());
}

async fn unneeded() -> u32 {
    unreachable!("the value is made")
}

pub async fn one_task_makes_the_value() {
    let cell = OnceCell::new();
    let (sender, receiver) = oneshot::channel();
    let mut makes = pin!(cell.get_or_init(async || receiver.await.unwrap()));
    assert!(!is_ready(makes.as_mut()));
    let mut waits = pin!(cell.get_or_init(unneeded));
    assert!(!is_ready(waits.as_mut()) && !cell.initialized());
    assert!(cell.set(1).unwrap_err().is_initializing_err());
    sender.send(7).unwrap();
    assert!(!is_ready(waits.as_mut()));
    assert_eq!(*makes.await, 7);
    assert!(is_ready(waits.as_mut()));
    assert!(cell.set(1).unwrap_err().is_already_init_err());
}

pub async fn the_next_task_makes_the_value_if_one_fails() {
    let cell = OnceCell::new();
    let (sender, receiver) = oneshot::channel::<u32>();
    let mut fails = pin!(cell.get_or_try_init(|| receiver));
    let mut given_up = Box::pin(cell.get_or_init(std::future::pending));
    let mut panics = Box::pin(cell.get_or_init(async || -> u32 { panic!("no value") }));
    let mut makes = pin!(cell.get_or_init(async || 7));
    let mut waits = pin!(cell.get_or_init(unneeded));
    assert!(!is_ready(fails.as_mut()) && !is_ready(given_up.as_mut()) && !is_ready(panics.as_mut()));
    assert!(!is_ready(makes.as_mut()) && !is_ready(waits.as_mut()));
    drop(sender);
    assert!(fails.await.is_err());
    // Now it makes a value itself, and is dropped before it has one.
    assert!(!is_ready(given_up.as_mut()) && !is_ready(panics.as_mut()));
    drop(given_up);
    catch_unwind(AssertUnwindSafe(|| is_ready(panics.as_mut()))).unwrap_err();
    drop(panics);
    assert_eq!(*makes.await, 7);
    assert_eq!(*waits.await, 7);
}

pub async fn a_cell_whose_value_is_taken_receives_another() {
    for mut cell in [OnceCell::new(), OnceCell::from(1)] {
        let _ = cell.set(1);
        assert_eq!(cell.take(), Some(1));
        assert!(!cell.initialized());
        assert_eq!(*cell.get_or_init(async || 2).await, 2);
        assert_eq!(cell.take(), Some(2));
        cell.set(3).unwrap();
        assert_eq!(cell.into_inner(), Some(3));
    }
}

pub async fn all_that_wait_for_a_value_see_it() {
    let cell = Arc::new(SetOnce::new());
    let tasks = [(); 3].map(|()| {
        let cell = Arc::clone(&cell);
        tokio::spawn(async move { *cell.wait().await })
    });
    yield_now().await;
    assert!(!is_ready(Box::pin(cell.wait()).as_mut()));
    cell.set(7).unwrap();
    for task in tasks {
        assert_eq!(task.await.unwrap(), 7);
    }
}

pub async fn texts_of_cells_are_alike() {
    assert_eq!(format!("{:?} {:?}", OnceCell::from(7), SetOnce::from(7)), "OnceCell { value: Some(7) } SetOnce { value: Some(7) }");
    assert_eq!(format!("{:?}", OnceCell::<u32>::new()), "OnceCell { value: None }");
    assert_eq!(OnceCell::from(7).set(8).unwrap_err().to_string(), "AlreadyInitializedError");
    assert_eq!(SetOnce::from(7).set(8).unwrap_err().to_string(), "SetOnceError");
    assert!(format!("{:?}", Barrier::new(2)).starts_with("Barrier { state: "));
}
