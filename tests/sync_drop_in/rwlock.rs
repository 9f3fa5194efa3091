// The lock for readers and writers.

use sync::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock, RwLockMappedWriteGuard,
    RwLockReadGuard, RwLockWriteGuard,
};

static TABLE: RwLock<u32> = RwLock::const_new(7);
static NARROW: RwLock<u32> = RwLock::const_with_max_readers(7, 1);

pub async fn every_item_of_rwlock_is_there() {
    anywhere::<(RwLock<u32>, RwLockReadGuard<'_, u32>, RwLockWriteGuard<'_, u32>, RwLockMappedWriteGuard<'_, u32>)>();
    anywhere::<(OwnedRwLockReadGuard<u32>, OwnedRwLockWriteGuard<u32>, OwnedRwLockMappedWriteGuard<u32>)>();
    shown::<RwLockReadGuard<'_, u32>>();
    shown::<OwnedRwLockReadGuard<u32>>();
    shown::<RwLockWriteGuard<'_, u32>>();
    shown::<OwnedRwLockWriteGuard<u32>>();
    shown::<RwLockMappedWriteGuard<'_, u32>>();
    shown::<OwnedRwLockMappedWriteGuard<u32>>();
    fn is_send<T: Send>() {}
    // A lock of what is not `Sync` moves between threads, and a guard for reading needs no `Send`.
    is_send::<RwLock<std::cell::Cell<u32>>>();
    is_send::<RwLockReadGuard<'_, std::sync::MutexGuard<'_, u32>>>();

    let lock: RwLock<u32> = RwLock::new(1);
    let _: RwLock<u32> = RwLock::default();
    let mut from: RwLock<u32> = RwLock::from(3);
    *from.get_mut() += 1;
    assert_eq!(from.into_inner(), 4);
    let reads: RwLockReadGuard<'_, u32> = future::<RwLockReadGuard<'_, u32>>(lock.read()).await;
    let error: TryLockError = lock.try_write().unwrap_err();
    assert_eq!(error.to_string(), "operation would block");
    let reads: RwLockReadGuard<'_, u32> = RwLockReadGuard::map(reads, |value| value);
    let _: Result<RwLockReadGuard<'_, u32>, RwLockReadGuard<'_, u32>> = RwLockReadGuard::try_map(reads, |_| None);
    let writes: RwLockWriteGuard<'_, u32> = future::<RwLockWriteGuard<'_, u32>>(lock.write()).await;
    let _: TryLockError = lock.try_read().unwrap_err();
    let _: RwLockMappedWriteGuard<'_, u32> = RwLockWriteGuard::into_mapped(writes);
    let shared = Arc::new(lock);
    let reads: OwnedRwLockReadGuard<u32> = owned(Arc::clone(&shared).read_owned()).await;
    let _: &Arc<RwLock<u32>> = OwnedRwLockReadGuard::rwlock(&reads);
    let _: TryLockError = Arc::clone(&shared).try_write_owned().unwrap_err();
    let _: OwnedRwLockReadGuard<u32> = Arc::clone(&shared).try_read_owned().unwrap();
    drop(reads);
    let writes: OwnedRwLockWriteGuard<u32> = owned(Arc::clone(&shared).write_owned()).await;
    let _: &Arc<RwLock<u32>> = OwnedRwLockWriteGuard::rwlock(&writes);
    let _: TryLockError = Arc::clone(&shared).try_read_owned().unwrap_err();
    let part: OwnedRwLockMappedWriteGuard<u32> = OwnedRwLockWriteGuard::into_mapped(writes);
    let _: &Arc<RwLock<u32>> = OwnedRwLockMappedWriteGuard::rwlock(&part);
    *TABLE.write().await += 1;
    assert_eq!((*TABLE.read().await, *NARROW.try_read().unwrap()), (8, 7));
    let _: for<'a> fn(&'a RwLock<u32>) -> RwLockReadGuard<'a, u32> = RwLock::blocking_read;
    let _: for<'a> fn(&'a RwLock<u32>) -> RwLockWriteGuard<'a, u32> = RwLock::blocking_write;
}

pub async fn readers_share_and_writers_do_not() {
    let lock = RwLock::new(vec![1]);
    let (one, other) = (lock.read().await, lock.read().await);
    assert_eq!((&*one, lock.try_write().is_err()), (&*other, true));
    assert_eq!((format!("{lock:?}"), format!("{one:?}")), ("RwLock { data: [1] }".into(), "[1]".into()));
    let mut writes = pin!(lock.write());
    drop(one);
    assert!(!is_ready(writes.as_mut()));
    drop(other);
    let mut writes = writes.await;
    writes.push(2);
    assert_eq!((lock.try_read().is_err(), format!("{lock:?}")), (true, "RwLock { data: <locked> }".into()));
    drop(writes);
    assert_eq!(*lock.try_read().unwrap(), [1, 2]);
    let lock: Arc<RwLock<dyn Fn() -> u32 + Send + Sync>> = Arc::new(RwLock::new(|| 7));
    assert_eq!((lock.read().await)(), 7);
    assert_eq!((lock.write_owned().await)(), 7);
}

pub async fn a_writer_that_waits_is_not_overtaken() {
    let lock = RwLock::new(0);
    let reads = lock.read().await;
    let mut writes = pin!(lock.write());
    let mut given_up = Box::pin(lock.write());
    let mut after = pin!(lock.read());
    assert!(!is_ready(writes.as_mut()) && !is_ready(given_up.as_mut()) && !is_ready(after.as_mut()));
    assert!(lock.try_read().is_err());
    drop(reads);
    let writes = writes.await;
    assert!(!is_ready(after.as_mut()));
    drop(writes);
    // The second writer has the lock, until it gives up.
    assert!(!is_ready(after.as_mut()));
    drop(given_up);
    assert_eq!(*after.await, 0);
    assert!(lock.try_write().is_ok());
}

pub async fn guards_are_downgraded() {
    let lock = Arc::new(RwLock::new((1, 2)));
    let writes = lock.write().await;
    let mut next = pin!(lock.write());
    let mut reads = pin!(lock.read());
    assert!(!is_ready(next.as_mut()) && !is_ready(reads.as_mut()));
    let all: RwLockReadGuard<'_, (i32, i32)> = writes.downgrade();
    // The writer that waited is the next one.
    assert!(!is_ready(next.as_mut()) && !is_ready(reads.as_mut()));
    drop(all);
    let part: RwLockReadGuard<'_, i32> = RwLockWriteGuard::downgrade_map(next.await, |pair| {
        assert!(lock.try_read().is_err());
        &pair.1
    });
    assert_eq!((*part, reads.await.0), (2, 1));
    drop(part);
    let Err(writes) = RwLockWriteGuard::try_downgrade_map(lock.write().await, |_| None::<&i32>) else {
        panic!("there is no part")
    };
    assert!(lock.try_read().is_err());
    let Ok(part) = RwLockWriteGuard::try_downgrade_map(writes, |pair| Some(&pair.0)) else { panic!("there is one") };
    assert_eq!((*part, lock.try_read().is_ok(), lock.try_write().is_ok()), (1, true, false));
    drop(part);

    let all: OwnedRwLockReadGuard<(i32, i32)> = Arc::clone(&lock).write_owned().await.downgrade();
    assert_eq!((all.0, lock.try_read().is_ok(), lock.try_write().is_ok()), (1, true, false));
    drop(all);
    let part: OwnedRwLockReadGuard<(i32, i32), i32> =
        OwnedRwLockWriteGuard::downgrade_map(Arc::clone(&lock).write_owned().await, |pair| &pair.1);
    assert_eq!((*part, lock.try_write().is_ok()), (2, false));
    drop(part);
    let writes = Arc::clone(&lock).write_owned().await;
    let Err(writes) = OwnedRwLockWriteGuard::try_downgrade_map(writes, |_| None::<&i32>) else {
        panic!("there is no part")
    };
    let Ok(part) = OwnedRwLockWriteGuard::try_downgrade_map(writes, |pair| Some(&pair.0)) else {
        panic!("there is one")
    };
    assert_eq!((*part, lock.try_read().is_ok()), (1, true));
    drop(part);
    assert_eq!((Arc::strong_count(&lock), lock.try_write().is_ok()), (1, true));
}

pub async fn guards_of_parts_keep_the_lock() {
    let lock = Arc::new(RwLock::new((1, 2)));
    let part: RwLockMappedWriteGuard<'_, i32> = RwLockWriteGuard::map(lock.write().await, |pair| &mut pair.1);
    assert!(lock.try_read().is_err());
    let Err(part) = RwLockMappedWriteGuard::try_map(part, |_| None::<&mut i32>) else { panic!("there is no part") };
    let Ok(mut part) = RwLockMappedWriteGuard::try_map(part, |part| Some(part)) else { panic!("there is one") };
    *part += 1;
    *RwLockMappedWriteGuard::map(part, |part| part) += 1;
    let Err(all) = RwLockWriteGuard::try_map(lock.write().await, |_| None::<&mut i32>) else { panic!("no part") };
    let Ok(part) = RwLockWriteGuard::try_map(all, |pair| Some(&mut pair.1)) else { panic!("there is one") };
    assert_eq!((part.to_string(), format!("{part:?}")), ("4".to_owned(), "4".to_owned()));
    drop(part);
    let writes = Arc::clone(&lock).write_owned().await;
    let part: OwnedRwLockMappedWriteGuard<(i32, i32), i32> = OwnedRwLockWriteGuard::map(writes, |pair| &mut pair.0);
    assert!(lock.try_read().is_err());
    let Err(part) = OwnedRwLockMappedWriteGuard::try_map(part, |_| None::<&mut i32>) else { panic!("no part") };
    *OwnedRwLockMappedWriteGuard::map(part, |part| part) += 9;
    let writes = Arc::clone(&lock).write_owned().await;
    let Ok(part) = OwnedRwLockWriteGuard::try_map(writes, |pair| Some(&mut pair.0)) else { panic!("there is one") };
    assert_eq!(*part, 10);
    drop(part);
    let part = OwnedRwLockReadGuard::map(Arc::clone(&lock).read_owned().await, |pair| &pair.0);
    let Err(part) = OwnedRwLockReadGuard::try_map(part, |_| None::<&i32>) else { panic!("there is no part") };
    assert_eq!((*part, lock.try_read().is_ok(), lock.try_write().is_ok()), (10, true, false));
    drop(part);
    let part = RwLockReadGuard::map(lock.read().await, |pair| &pair.1);
    assert_eq!((*part, lock.try_write().is_ok()), (4, false));
    std::mem::forget(part);
    assert!(lock.try_write().is_err() && lock.try_read().is_ok());
}

pub async fn a_panic_in_a_guards_function_frees_the_lock() {
    let lock = RwLock::new(1);
    let guards: [&dyn Fn(); 3] = [
        &|| drop(RwLockReadGuard::map(lock.try_read().unwrap(), |_| -> &i32 { panic!("no part") })),
        &|| drop(RwLockWriteGuard::map(lock.try_write().unwrap(), |_| -> &mut i32 { panic!("no part") })),
        &|| drop(RwLockWriteGuard::downgrade_map(lock.try_write().unwrap(), |_| -> &i32 { panic!("no part") })),
    ];
    for guard in guards {
        catch_unwind(AssertUnwindSafe(guard)).unwrap_err();
        assert_eq!(*lock.try_write().unwrap(), 1);
    }
}

pub async fn readers_have_a_limit() {
    let lock = RwLock::with_max_readers(1, 2);
    let one = lock.read().await;
    let _other = lock.read().await;
    assert!(lock.try_read().is_err());
    let mut third = pin!(lock.read());
    assert!(!is_ready(third.as_mut()));
    drop(one);
    assert_eq!(*third.await, 1);
    for wrong in [0, u32::MAX >> 2] {
        catch_unwind(|| RwLock::with_max_readers(1, wrong).into_inner()).unwrap_err();
    }
}

pub async fn threads_read_and_write() {
    catch_unwind(AssertUnwindSafe(|| drop(TABLE.blocking_write()))).unwrap_err();
    catch_unwind(AssertUnwindSafe(|| drop(TABLE.blocking_read()))).unwrap_err();
    let lock = Arc::new(RwLock::new((0, 0)));
    let threads = [(); 4].map(|()| {
        let lock = Arc::clone(&lock);
        thread::spawn(move || {
            for _ in 0..200 {
                let mut pair = lock.blocking_write();
                pair.0 += 1;
                pair.1 += 1;
                let pair = pair.downgrade();
                assert_eq!(pair.0, pair.1);
                drop(pair);
                let pair = lock.blocking_read();
                assert_eq!(pair.0, pair.1);
            }
        })
    });
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    assert_eq!(*lock.read().await, (800, 800));
}
