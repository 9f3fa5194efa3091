// Every item, used with its types written out.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use sync::{
    AcquireError, MappedMutexGuard, Mutex, MutexGuard, Notify, OwnedMappedMutexGuard, OwnedMutexGuard,
    OwnedSemaphorePermit, Semaphore, SemaphorePermit, TryAcquireError, TryLockError,
};
use sync::futures::{Notified, OwnedNotified};
use sync::oneshot;
use time::{Duration, Instant, Interval, MissedTickBehavior, Sleep, Timeout};

/// Checks the output's type, and that the future is `Send` and `Sync`.
fn future<T>(future: impl Future<Output = T> + Send + Sync) -> impl Future<Output = T> + Send + Sync {
    future
}

fn owned<T>(future: impl Future<Output = T> + Send + Sync + 'static) -> impl Future<Output = T> {
    future
}

fn anywhere<T: Send + Sync + Unpin>() {}
fn shown<T: std::fmt::Debug + std::fmt::Display>() {}

static LOCK: Mutex<u32> = Mutex::const_new(7);
static PERMITS: Semaphore = Semaphore::const_new(2);
static NOTES: Notify = Notify::const_new();

pub async fn every_item_is_there() {
    anywhere::<(Mutex<u32>, Semaphore, Notify, oneshot::Sender<u32>, oneshot::Receiver<u32>, Interval)>();
    anywhere::<(MutexGuard<'_, u32>, OwnedMutexGuard<u32>, MappedMutexGuard<'_, u32>, OwnedMappedMutexGuard<u32>)>();
    anywhere::<(SemaphorePermit<'_>, OwnedSemaphorePermit)>();
    shown::<MutexGuard<'_, u32>>();
    shown::<OwnedMappedMutexGuard<u32>>();
    fn is_send<T: Send + Sync>() {}
    is_send::<(Notified<'_>, OwnedNotified, Sleep, Timeout<Sleep>)>();
    // A value that is not `Sync` can be locked, too.
    is_send::<Mutex<std::cell::Cell<u32>>>();

    // Mutex
    let mutex: Mutex<u32> = Mutex::new(1);
    let _: Mutex<u32> = Mutex::default();
    let mut from: Mutex<u32> = Mutex::from(3);
    *from.get_mut() += 1;
    assert_eq!(from.into_inner(), 4);
    let guard: MutexGuard<'_, u32> = future::<MutexGuard<'_, u32>>(mutex.lock()).await;
    let _: &Mutex<u32> = MutexGuard::mutex(&guard);
    let error: TryLockError = mutex.try_lock().unwrap_err();
    assert_eq!((error.to_string(), format!("{error:?}")), ("operation would block".into(), "TryLockError(())".into()));
    drop(guard);
    let shared = Arc::new(mutex);
    let guard: OwnedMutexGuard<u32> = owned(Arc::clone(&shared).lock_owned()).await;
    let _: &Arc<Mutex<u32>> = OwnedMutexGuard::mutex(&guard);
    let _: TryLockError = Arc::clone(&shared).try_lock_owned().unwrap_err();
    drop(guard);
    *LOCK.lock().await += 1;
    let _: for<'a> fn(&'a Mutex<u32>) -> MutexGuard<'a, u32> = Mutex::blocking_lock;
    let _: fn(Arc<Mutex<u32>>) -> OwnedMutexGuard<u32> = Mutex::blocking_lock_owned;

    // Semaphore
    let _: usize = Semaphore::MAX_PERMITS;
    let semaphore = Arc::new(Semaphore::new(9));
    future::<Result<SemaphorePermit<'_>, AcquireError>>(semaphore.acquire()).await.unwrap().forget();
    future::<Result<SemaphorePermit<'_>, AcquireError>>(semaphore.acquire_many(2)).await.unwrap().forget();
    owned(Arc::clone(&semaphore).acquire_owned()).await.unwrap().forget();
    let two: OwnedSemaphorePermit = owned(Arc::clone(&semaphore).acquire_many_owned(2)).await.unwrap();
    let _: &Arc<Semaphore> = two.semaphore();
    let permit: Result<SemaphorePermit<'_>, TryAcquireError> = semaphore.try_acquire();
    let _: &Semaphore = permit.as_ref().unwrap().semaphore();
    assert_eq!(semaphore.try_acquire_many(3).unwrap_err(), TryAcquireError::NoPermits);
    let _: Result<OwnedSemaphorePermit, TryAcquireError> = Arc::clone(&semaphore).try_acquire_owned();
    let _: Result<OwnedSemaphorePermit, TryAcquireError> = Arc::clone(&semaphore).try_acquire_many_owned(1);
    assert_eq!((PERMITS.available_permits(), semaphore.forget_permits(1)), (2, 1));
    let _: fn(&'static Semaphore) -> Result<SemaphorePermit<'static>, AcquireError> = Semaphore::blocking_acquire;
    let _: fn(&'static Semaphore, u32) -> Result<SemaphorePermit<'static>, AcquireError> =
        Semaphore::blocking_acquire_many;
    let _: fn(Arc<Semaphore>) -> Result<OwnedSemaphorePermit, AcquireError> = Semaphore::blocking_acquire_owned;
    let _: fn(Arc<Semaphore>, u32) -> Result<OwnedSemaphorePermit, AcquireError> =
        Semaphore::blocking_acquire_many_owned;

    // Notify
    let _: Notify = Notify::default();
    let notify = Arc::new(Notify::new());
    let mut notified: Pin<&mut Notified<'_>> = pin!(notify.notified());
    let _: bool = notified.as_mut().enable();
    let mut also: Pin<&mut OwnedNotified> = pin!(Arc::clone(&notify).notified_owned());
    let _: bool = also.as_mut().enable();
    NOTES.notify_one();
    NOTES.notified().await;

    // oneshot
    let (mut sender, mut receiver): (oneshot::Sender<u32>, oneshot::Receiver<u32>) = oneshot::channel();
    let _: oneshot::error::TryRecvError = receiver.try_recv().unwrap_err();
    let _: bool = receiver.is_terminated() || receiver.is_empty() || sender.is_closed();
    let _: for<'a, 'b, 'c> fn(&'a mut oneshot::Sender<u32>, &'b mut Context<'c>) -> Poll<()> =
        oneshot::Sender::poll_closed;
    let _: fn(oneshot::Receiver<u32>) -> Result<u32, oneshot::error::RecvError> = oneshot::Receiver::blocking_recv;
    receiver.close();
    future::<()>(sender.closed()).await;
    assert_eq!(sender.send(1), Err(1));

    // Timers
    let slept: Sleep = time::sleep(Duration::ZERO);
    future::<()>(slept).await;
    let mut slept: Pin<&mut Sleep> = pin!(time::sleep_until(Instant::now()));
    let _: (Instant, bool) = (slept.deadline(), slept.is_elapsed());
    slept.as_mut().reset(Instant::now());
    let mut timeout: Timeout<std::future::Ready<u32>> = time::timeout(Duration::from_secs(9), std::future::ready(1));
    let _timeout: &std::future::Ready<u32> = timeout.get_ref();
    let _timeout: &mut std::future::Ready<u32> = timeout.get_mut();
    assert_eq!(timeout.into_inner().await, 1);
    let _: Result<u32, time::error::Elapsed> = time::timeout_at(Instant::now(), std::future::ready(1)).await;
    let mut interval: Interval = time::interval_at(Instant::now(), Duration::from_secs(9));
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    assert_eq!(interval.missed_tick_behavior(), MissedTickBehavior::Skip);
    let _: Instant = future::<Instant>(interval.tick()).await;
    interval.reset();
    interval.reset_after(Duration::ZERO);
    interval.reset_at(Instant::now());
    interval.reset_immediately();
    let mut interval = time::interval(interval.period());
    let _: Instant = std::future::poll_fn(|context| interval.poll_tick(context)).await;
}

