//! The lock for readers and writers.

use dyntrace::sync::{OwnedRwLockWriteGuard, RwLock, RwLockWriteGuard};

use super::*;

#[test]
fn a_lock_for_readers_and_writers_tells_both_waits() {
    let mut made = 0;
    let lines = seen(&["process-wait", "process-resume", "resource-*"], || {
        on_a_runtime(async || {
            made = line!() + 1;
            let lock = Arc::new(RwLock::named("prices", 1));
            let reads = lock.read().await;
            let writes = dyntrace::spawn({
                let lock = Arc::clone(&lock);
                async move { *lock.write().await += 1 }
            });
            yield_now().await;
            let late = dyntrace::spawn(Arc::clone(&lock).read_owned());
            yield_now().await;
            drop(reads);
            writes.await.unwrap();
            assert_eq!(*late.await.unwrap(), 2);
        });
    });
    assert_eq!(
        lines,
        [
            format!("resource-new #1 RwLock prices tests/sync_waits/rwlock.rs:{made}"),
            format!("process-wait A #1 RwLock::write tests/sync_waits/rwlock.rs:{}", made + 4),
            format!("process-wait B #1 RwLock::read tests/sync_waits/rwlock.rs:{}", made + 7),
            format!("process-wait C A task::JoinHandle tests/sync_waits/rwlock.rs:{}", made + 2),
            format!("process-resume A #1 TIME ready RwLock::write tests/sync_waits/rwlock.rs:{}", made + 4),
            format!("process-resume B #1 TIME ready RwLock::read tests/sync_waits/rwlock.rs:{}", made + 7),
            format!("process-resume C A TIME ready task::JoinHandle tests/sync_waits/rwlock.rs:{}", made + 2),
            "resource-drop #1 RwLock".to_owned(),
        ]
    );
}

#[test]
fn a_lock_knows_its_writer() {
    // Sessions of other tests would record this.
    seen(&["user_trace-*"], || {
        let lock = Arc::new(RwLock::new((1, 2)));
        let is_held = || lock.holder().map(|holder| (holder.pid, holder.place.line()));
        let reads = lock.try_read().unwrap();
        assert_eq!(is_held(), None);
        drop(reads);
        let here = process::current();
        let part = RwLockWriteGuard::map(lock.try_write().unwrap(), |pair| &mut pair.0);
        assert_eq!(is_held(), Some((here, line!() - 1)));
        drop(part);
        assert_eq!(is_held(), None);
        let writes = Arc::clone(&lock).try_write_owned().unwrap();
        assert_eq!(is_held(), Some((here, line!() - 1)));
        // Downgraded guards leave a lock that is read, and a function that finds no part leaves it written.
        let Err(writes) = OwnedRwLockWriteGuard::try_downgrade_map(writes, |_| None::<&i32>) else { panic!("no part") };
        assert!(is_held().is_some());
        let reads = writes.downgrade();
        assert_eq!(is_held(), None);
        drop(reads);
        let guard = lock.try_write().unwrap();
        let panics =
            std::panic::AssertUnwindSafe(|| drop(RwLockWriteGuard::downgrade_map(guard, |_| -> &i32 { panic!() })));
        std::panic::catch_unwind(panics).unwrap_err();
        assert_eq!(is_held(), None);
        std::mem::forget(lock.try_write().unwrap());
        assert_eq!(is_held(), Some((here, line!() - 1)));
    });
}
