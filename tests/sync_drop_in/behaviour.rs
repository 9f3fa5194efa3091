// Programs rely on this.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::Waker;
use std::thread;

use tokio::task::yield_now;

pub fn run(test: impl AsyncFnOnce()) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(test());
}

fn is_ready(future: Pin<&mut impl Future>) -> bool {
    future.poll(&mut Context::from_waker(Waker::noop())).is_ready()
}

pub async fn a_mutex_serves_in_order() {
    let mutex = Mutex::new(Vec::new());
    let guard = mutex.lock().await;
    let mut first = pin!(mutex.lock());
    let mut given_up = Box::pin(mutex.lock());
    let mut last = pin!(mutex.lock());
    assert!(!is_ready(first.as_mut()) && !is_ready(given_up.as_mut()) && !is_ready(last.as_mut()));
    drop(given_up);
    drop(guard);
    // The first has it: nobody overtakes, and nobody takes it twice.
    assert!(mutex.try_lock().is_err() && !is_ready(last.as_mut()));
    first.await.push(1);
    last.await.push(2);
    assert_eq!(*mutex.try_lock().unwrap(), [1, 2]);
}

pub async fn a_guard_of_a_part_keeps_the_lock() {
    let mutex = Arc::new(Mutex::new((1, 2)));
    let part: MappedMutexGuard<'_, i32> = MutexGuard::map(mutex.lock().await, |pair| &mut pair.1);
    assert!(mutex.try_lock().is_err());
    let Err(part) = MappedMutexGuard::try_map(part, |_| None::<&mut i32>) else { panic!("there is no part") };
    *MappedMutexGuard::map(part, |part| part) += 1;
    let Err(all) = MutexGuard::try_map(mutex.lock().await, |_| None::<&mut i32>) else { panic!("there is no part") };
    assert_eq!(*all, (1, 3));
    drop(all);
    let part: OwnedMappedMutexGuard<(i32, i32), i32> =
        OwnedMutexGuard::map(Arc::clone(&mutex).lock_owned().await, |pair| &mut pair.0);
    assert!(mutex.try_lock().is_err());
    let Ok(mut part) = OwnedMappedMutexGuard::try_map(part, |part| Some(part)) else { panic!("there is one") };
    *part += 9;
    assert_eq!((part.to_string(), format!("{part:?}")), ("10".to_owned(), "10".to_owned()));
    drop(OwnedMappedMutexGuard::map(part, |part| part));
    let Ok(part) = OwnedMutexGuard::try_map(Arc::clone(&mutex).lock_owned().await, |pair| Some(&mut pair.0)) else {
        panic!("there is one")
    };
    assert_eq!(*part, 10);
}

pub async fn a_panic_in_map_frees_the_lock() {
    let mutex = Mutex::new(1);
    let guard = mutex.lock().await;
    catch_unwind(AssertUnwindSafe(|| drop(MutexGuard::map(guard, |_| -> &mut i32 { panic!("no part") })))).unwrap_err();
    assert_eq!(*mutex.try_lock().unwrap(), 1);
}

pub async fn a_forgotten_guard_keeps_the_lock() {
    let mutex = Mutex::new(1);
    std::mem::forget(mutex.lock().await);
    assert!(mutex.try_lock().is_err());
    assert_eq!(mutex.into_inner(), 1);
}

pub async fn unsized_values_are_locked() {
    let mutex: Arc<Mutex<dyn Fn() -> u32 + Send>> = Arc::new(Mutex::new(|| 7));
    assert_eq!((mutex.lock().await)(), 7);
    assert_eq!((mutex.lock_owned().await)(), 7);
    let mutex: &Mutex<[u32]> = &Mutex::new([1, 2]);
    mutex.lock().await[0] = 3;
    assert_eq!(*mutex.try_lock().unwrap(), [3, 2]);
}

pub async fn permits_are_merged_split_and_forgotten() {
    let semaphore = Semaphore::new(5);
    let mut permits = semaphore.acquire_many(4).await.unwrap();
    assert!(permits.split(5).is_none());
    let three = permits.split(3).unwrap();
    assert_eq!((permits.num_permits(), three.num_permits()), (1, 3));
    permits.merge(three);
    permits.forget();
    assert_eq!(semaphore.available_permits(), 1);
    semaphore.add_permits(2);
    let other = Semaphore::new(1);
    let mut one = semaphore.try_acquire().unwrap();
    let of_other = other.try_acquire().unwrap();
    catch_unwind(AssertUnwindSafe(|| one.merge(of_other))).unwrap_err();
    assert_eq!((one.num_permits(), other.available_permits(), semaphore.available_permits()), (1, 1, 2));
    let mut many = pin!(semaphore.acquire_many(3));
    assert!(!is_ready(many.as_mut()));
    // The one that waits has the free ones.
    assert_eq!(semaphore.available_permits(), 0);
    drop(one);
    assert_eq!(many.await.unwrap().num_permits(), 3);
}

pub async fn a_closed_semaphore_refuses() {
    let semaphore = Semaphore::new(0);
    let mut waits = pin!(semaphore.acquire());
    assert!(!is_ready(waits.as_mut()) && !semaphore.is_closed());
    semaphore.close();
    assert!(waits.await.is_err() && semaphore.is_closed() && semaphore.acquire().await.is_err());
    assert_eq!(semaphore.try_acquire().unwrap_err(), TryAcquireError::Closed);
}

pub async fn waiting_threads_are_served() {
    let (mutex, semaphore) = (Arc::new(Mutex::new(0)), Arc::new(Semaphore::new(1)));
    let threads = [(); 4].map(|()| {
        let (mutex, semaphore) = (Arc::clone(&mutex), Arc::clone(&semaphore));
        thread::spawn(move || {
            for _ in 0..100 {
                let permit = Arc::clone(&semaphore).blocking_acquire_owned().unwrap();
                *mutex.blocking_lock() += 1;
                drop(permit);
                *Arc::clone(&mutex).blocking_lock_owned() += 1;
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*mutex.lock().await, 800);
    let (sender, receiver) = oneshot::channel();
    let thread = thread::spawn(|| receiver.blocking_recv());
    sender.send(7).unwrap();
    assert_eq!(thread.join().unwrap(), Ok(7));
}

pub async fn blocking_in_a_task_panics() {
    let payload = catch_unwind(|| drop(Mutex::new(1).blocking_lock())).unwrap_err();
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap();
    assert!(text.starts_with("Cannot block the current thread from within a runtime"), "{text}");
    catch_unwind(|| drop(Semaphore::new(1).blocking_acquire())).unwrap_err();
}

pub async fn notifications_are_kept_and_passed_on() {
    let notify = Arc::new(Notify::new());
    notify.notify_one();
    notify.notify_one();
    notify.notified().await;
    let mut first = Box::pin(notify.notified());
    let mut second = pin!(Arc::clone(&notify).notified_owned());
    let mut third = pin!(notify.notified());
    // Only one is kept.
    assert!(!is_ready(first.as_mut()) && !is_ready(second.as_mut()) && !third.as_mut().enable());
    notify.notify_one();
    // The first has the notification, and passes it on.
    drop(first);
    second.await;
    notify.notify_last();
    third.await;
    let later = notify.notified();
    notify.notify_waiters();
    later.await;
    assert!(!is_ready(pin!(notify.notified())));
}

pub async fn one_value_is_received_once() {
    let (sender, mut receiver) = oneshot::channel();
    assert!(!is_ready(Pin::new(&mut receiver)) && receiver.is_empty());
    sender.send(7).unwrap();
    assert!(!receiver.is_empty());
    assert_eq!((&mut receiver).await, Ok(7));
    assert!(receiver.is_terminated());
    let (sender, receiver) = oneshot::channel::<u32>();
    drop(sender);
    assert_eq!(receiver.await.unwrap_err().to_string(), "channel closed");
    let (mut sender, receiver) = oneshot::channel::<u32>();
    let mut closed = Box::pin(sender.closed());
    assert!(!is_ready(closed.as_mut()));
    drop(receiver);
    closed.await;
    assert_eq!((sender.is_closed(), sender.send(7)), (true, Err(7)));
}

pub async fn texts_are_alike() {
    let mutex = Mutex::new(7);
    assert_eq!(format!("{mutex:?}"), "Mutex { data: 7 }");
    let guard = mutex.lock().await;
    assert_eq!(format!("{guard} {guard:?} {mutex:?}"), "7 7 Mutex { data: <locked> }");
    let semaphore = Semaphore::new(3);
    assert_eq!(format!("{semaphore:?}"), "Semaphore { ll_sem: Semaphore { permits: 3 } }");
    let permit = semaphore.try_acquire().unwrap();
    let text = "SemaphorePermit { sem: Semaphore { ll_sem: Semaphore { permits: 2 } }, permits: 1 }";
    assert_eq!(format!("{permit:?}"), text);
    assert!(format!("{:?}", Notify::new()).starts_with("Notify { state: "));
    assert!(format!("{:?}", oneshot::channel::<u32>()).starts_with("(Sender { inner: "));
    assert!(format!("{:?}", time::sleep(Duration::ZERO)).starts_with("Sleep { "));
}

/// tokio's budget: a task that always finds the lock free still yields.
pub async fn a_task_that_never_waits_lets_others_run() {
    let turns = Arc::new(AtomicU32::new(0));
    let counts = Arc::clone(&turns);
    let others = tokio::spawn(async move {
        loop {
            counts.fetch_add(1, Ordering::Relaxed);
            yield_now().await;
        }
    });
    let (mutex, semaphore) = (Mutex::new(0), Semaphore::new(1));
    let busy = tokio::spawn(async move {
        for _ in 0..1_280 {
            *mutex.lock().await += 1;
            drop(semaphore.acquire().await);
        }
    });
    busy.await.unwrap();
    others.abort();
    // 2560 operations, with a budget of 128 for each poll.
    assert_eq!(turns.load(Ordering::Relaxed), 2_560 / 128);
}

pub async fn after_a_wait_for_its_turn_a_task_sees_the_end() {
    let (sender, mut receiver) = sync::mpsc::channel(1_000);
    let mut sends = pin!(async {
        let mut sent = 0;
        while sender.send(()).await.is_ok() {
            sent += 1;
        }
        sent
    });
    assert!(!is_ready(sends.as_mut()), "the budget is spent");
    receiver.close();
    let there = receiver.len();
    assert_eq!(sends.await, there);

    let semaphore = Semaphore::new(1);
    let mut acquires = pin!(async {
        while let Ok(permit) = semaphore.acquire().await {
            assert!(!semaphore.is_closed(), "a permit after the end");
            drop(permit);
        }
    });
    assert!(!is_ready(acquires.as_mut()), "the budget is spent");
    semaphore.close();
    acquires.await;
}

pub async fn timers_are_reset_and_given_up() {
    let began = Instant::now();
    let mut sleep = pin!(time::sleep(Duration::from_secs(60)));
    assert!(!is_ready(sleep.as_mut()));
    sleep.as_mut().reset(began + Duration::from_secs(5));
    sleep.await;
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    let elapsed = time::timeout(Duration::from_secs(1), std::future::pending::<()>()).await.unwrap_err();
    assert_eq!(elapsed.to_string(), "deadline has elapsed");
    let mut interval = time::interval(Duration::from_secs(3));
    let first = interval.tick().await;
    assert_eq!(interval.tick().await - first, Duration::from_secs(3));
}
