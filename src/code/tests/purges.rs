//! Deleted and purged modules: callers, futures and old versions.

use super::*;

#[tokio::test]
async fn a_deleted_module_is_missing_until_it_is_loaded_again() {
    let tables = new_tables();
    assert!(matches!(delete(tables).await, Err(Error::NoModule { .. })));
    finish(tables, [prepared(tables, first())]).await.unwrap();
    let price = price(tables);
    delete(tables).await.unwrap();
    assert!(matches!(price.call(7), Err(CallError::Missing { .. })));
    assert!(matches!(delete(tables).await, Err(Error::NoModule { which: "current", .. })));
    // There is no current version, so the old one does not matter.
    finish(tables, [prepared(tables, second())]).await.unwrap();
    assert_eq!(price.call(7).unwrap(), 14);
    assert!(matches!(delete(tables).await, Err(Error::OldInUse { .. })));
    assert_eq!(purge(tables).await.unwrap(), Purged::Unloaded);
    assert_eq!(purge(tables).await.unwrap(), Purged::Nothing);
    assert!(matches!(
        purging(tables, "tax".into(), PurgeMode::PATIENT, Abandoned::default()).await,
        Err(Error::NoModule { .. })
    ));
}

#[tokio::test]
async fn a_purge_waits_for_who_is_inside_and_nobody_else_does() {
    static INSIDE: Barrier = Barrier::new(2);
    static LEAVES: Barrier = Barrier::new(2);
    let tables = new_tables();
    let module = fake!("pricing" "1"; price: Price as fn(u32) -> u64 = |quantity| {
        INSIDE.wait();
        LEAVES.wait();
        Ok(quantity.into())
    };);
    let (version, unmapped) = watched(tables, module);
    finish(tables, [version]).await.unwrap();
    let price = price(tables);
    // A thread outside of any runtime.
    let caller = thread::Builder::new().name("caller".into()).spawn(move || price.call(7).unwrap()).unwrap();
    INSIDE.wait();
    finish(tables, [prepared(tables, second())]).await.unwrap();
    assert_eq!(price.call(7).unwrap(), 14, "new calls are the new version's");

    let error = soft_purge(tables).await.unwrap_err().to_string();
    assert!(error.starts_with("cannot purge module pricing: version 1 is in use by thread "), "{error}");
    assert!(error.ends_with(" (caller)"), "{error}");
    let mut purging = pin!(purge(tables));
    let mut poll = || purging.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!((0..100).all(|_| poll().is_pending()));
    // Other changes continue meanwhile.
    finish(tables, []).await.unwrap();
    assert_eq!(unmapped.load(Relaxed), 0);
    LEAVES.wait();
    assert_eq!(caller.join().unwrap(), 7, "it ended in the version that it entered");
    assert_eq!(purging.await.unwrap(), Purged::Unloaded);
    assert_eq!(unmapped.load(Relaxed), 1);
}

#[tokio::test]
async fn a_purge_that_is_dropped_changes_nothing() {
    let tables = new_tables();
    let pending = held(tables).await;
    finish(tables, [prepared(tables, second())]).await.unwrap();
    let mut dropped = Box::pin(purge(tables));
    assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    drop(dropped);
    assert!(matches!(finish(tables, [prepared(tables, third())]).await, Err(Error::OldInUse { .. })));
    drop(pending);
    assert_eq!(purge(tables).await.unwrap(), Purged::Unloaded);
}

type Later = fn(u32) -> Pending<u64>;

/// A call of version 1 that is not awaited.
async fn held(tables: &'static Tables) -> Pending<u64> {
    let module = fake!("pricing" "1"; later: Later as fn(u32) -> Pending<u64> = |quantity| {
        Ok(Pending::new(async move {
            tokio::task::yield_now().await;
            assert!(quantity < 100, "too many");
            quantity.into()
        }))
    };);
    finish(tables, [prepared(tables, module)]).await.unwrap();
    let later: AsyncHandle<Later, 1> = export::<Later>(tables, "pricing", "later").unwrap();
    assert!(matches!(later.call(100).unwrap().await, Err(CallError::Panicked(why)) if why == "too many"));
    later.call(7).unwrap()
}

#[tokio::test]
async fn a_future_keeps_its_version() {
    let tables = new_tables();
    let pending = held(tables).await;
    finish(tables, [prepared(tables, second())]).await.unwrap();
    let error = soft_purge(tables).await.unwrap_err().to_string();
    assert!(error.ends_with("is in use by 1 futures or borrowed handles"), "{error}");
    assert_eq!(pending.await.unwrap(), 7);
    assert_eq!(soft_purge(tables).await.unwrap(), Purged::Unloaded);
}

#[tokio::test]
async fn a_future_may_be_dropped_anywhere_and_panic_there() {
    let tables = new_tables();
    let module = fake!("pricing" "1"; later: Later as fn(u32) -> Pending<u64> = |_| {
        let bomb = Bomb;
        Ok(Pending::new(async move {
            let _bomb = bomb;
            std::future::pending().await
        }))
    };);
    finish(tables, [prepared(tables, module)]).await.unwrap();
    let later = export::<Later>(tables, "pricing", "later").unwrap();
    thread::spawn(move || drop(later.call(7).unwrap())).join().unwrap();
    delete(tables).await.unwrap();
    assert_eq!(soft_purge(tables).await.unwrap(), Purged::Unloaded);
}

#[tokio::test]
async fn a_module_without_the_promise_stays_mapped() {
    let tables = new_tables();
    let module =
        fake!("pricing" "1" unloadable false; price: Price as fn(u32) -> u64 = |quantity| Ok(quantity.into()););
    let (version, unmapped) = watched(tables, module);
    finish(tables, [version]).await.unwrap();
    delete(tables).await.unwrap();
    assert_eq!(purge(tables).await.unwrap(), Purged::Kept);
    assert_eq!(unmapped.load(Relaxed), 0);

    // The system keeps it.
    let mapping = FakeMapping { answer: Unmapped::Kept, ..FakeMapping::new() };
    finish(tables, [Prepared::of(tables, module, Box::new(mapping)).unwrap()]).await.unwrap();
    delete(tables).await.unwrap();
    let mode = PurgeMode { unloads: true, ..PurgeMode::PATIENT };
    assert_eq!(purging(tables, "pricing".into(), mode, Abandoned::default()).await.unwrap(), Purged::Kept);

    let (version, unmapped) = watched(tables, module);
    finish(tables, [version]).await.unwrap();
    delete(tables).await.unwrap();
    assert_eq!(purging(tables, "pricing".into(), mode, Abandoned::default()).await.unwrap(), Purged::Unloaded);
    assert_eq!(unmapped.load(Relaxed), 1);
}

#[tokio::test]
async fn calls_nest_and_each_level_counts() {
    static INNER: std::sync::OnceLock<Handle<Price, 1>> = std::sync::OnceLock::new();
    let tables = new_tables();
    let module = fake!("pricing" "1"; price: Price as fn(u32) -> u64 = |quantity| {
        Ok(if quantity == 0 { 0 } else { 1 + INNER.get().unwrap().call(quantity - 1).unwrap() })
    };);
    finish(tables, [prepared(tables, module)]).await.unwrap();
    INNER.set(price(tables)).unwrap();
    assert_eq!(price(tables).call(100).unwrap(), 100);
    delete(tables).await.unwrap();
    assert_eq!(soft_purge(tables).await.unwrap(), Purged::Unloaded);
}
