//! Finishes: whole or not at all, one after the other.

use std::sync::mpsc::channel;

use dyntrace_probes::thread_progress::pin;

use super::*;
use crate::code::change::finish::upgrade;
use crate::code::load::job::run_job;
use crate::code::version::descriptor::ModuleState;
use crate::permission;

#[tokio::test]
async fn finishing_nothing_changes_nothing() {
    let tables = new_tables();
    for _ in 0..4 {
        finish(tables, []).await.unwrap();
    }
    finish(tables, [prepared(tables, first())]).await.unwrap();
    let price = price(tables);
    for _ in 0..4 {
        finish(tables, []).await.unwrap();
        assert_eq!(price.call(7).unwrap(), 7);
    }
}

#[tokio::test]
async fn both_or_neither() {
    let tables = new_tables();
    let (one, unmapped) = watched(tables, first());
    let error = finish(tables, [one, prepared(tables, second())]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot finish module pricing: two of its versions are in one finish; leave out one of them"
    );
    assert_eq!(unmapped.load(Relaxed), 1);
    assert!(matches!(export::<Price>(tables, "pricing", "price"), Err(Error::NoModule { .. })));

    finish(tables, [prepared(tables, first())]).await.unwrap();
    finish(tables, [prepared(tables, second())]).await.unwrap();
    let tax = fake!("tax" "1"; rate: fn() -> u8 as fn() -> u8 = || Ok(19););
    let error = finish(tables, [prepared(tables, tax), prepared(tables, third())]).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot finish module pricing: its old version 1 is not purged; purge it first (`code::purge`, `dyntrace code purge`)"
    );
    assert!(matches!(export::<fn() -> u8>(tables, "tax", "rate"), Err(Error::NoModule { .. })));
    assert_eq!(price(tables).call(7).unwrap(), 14);
}

#[tokio::test]
async fn imports_are_there_or_come_with_it() {
    let tables = new_tables();
    let shop = fake!("shop" "1"; @import "pricing" price: Price;);
    let error = finish(tables, [prepared(tables, shop)]).await.unwrap_err().to_string();
    assert_eq!(
        error,
        "cannot finish module shop 1: it imports pricing::price, fn(u32) -> u64, which no module exports; finish that one together with it"
    );
    finish(tables, [prepared(tables, shop), prepared(tables, first())]).await.unwrap();
    let bar = fake!("bar" "1"; @import "pricing" price: fn(u32) -> u32;);
    let error = finish(tables, [prepared(tables, bar)]).await.unwrap_err().to_string();
    assert!(error.contains("fn(u32) -> u32, which is exported as fn(u32) -> u64"), "{error}");
}

/// Dropped after any number of polls, with or without a pinned thread: committed as a whole or not at all, without effect on the next.
#[tokio::test]
async fn a_finish_may_be_dropped_at_each_step() {
    for polls in 0..8 {
        for is_pinned in [false, true] {
            let tables = new_tables();
            finish(tables, [prepared(tables, first())]).await.unwrap();
            let price = price(tables);
            let (unpin, unpinned) = channel::<()>();
            let (tell, told) = channel();
            let reader = thread::spawn(move || {
                let pinned = is_pinned.then(|| pin().unwrap());
                tell.send(()).unwrap();
                let _ = unpinned.recv();
                drop(pinned);
            });
            told.recv().unwrap();
            let (version, unmapped) = watched(tables, second());
            let mut finishing = Box::pin(finish(tables, [version]));
            let mut is_over = false;
            for _ in 0..polls {
                is_over = is_over || finishing.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
            }
            drop(finishing);
            drop(unpin);
            reader.join().unwrap();
            // The thread that completes it has the permission meanwhile.
            drop(permission::acquire().await);
            while !is_over && unmapped.load(Relaxed) == 0 && price.call(7).unwrap() == 7 {
                tokio::task::yield_now().await;
            }
            let is_in_force = price.call(7).unwrap() == 14;
            assert!(is_in_force || price.call(7).unwrap() == 7);
            assert!(is_in_force || !is_over);
            assert_eq!(unmapped.load(Relaxed), usize::from(!is_in_force), "after {polls} polls");
            finish(tables, []).await.unwrap();
            assert_eq!(price.call(7).unwrap(), if is_in_force { 14 } else { 7 });
            if is_in_force {
                purge(tables).await.unwrap();
            }
            finish(tables, [prepared(tables, third())]).await.unwrap();
            assert_eq!(price.call(7).unwrap(), 21);
        }
    }
}

#[tokio::test]
async fn one_that_is_not_polled_changes_nothing() {
    let tables = new_tables();
    let (version, unmapped) = watched(tables, first());
    drop(finish(tables, [version]));
    assert_eq!(unmapped.load(Relaxed), 1);
    assert!(export::<Price>(tables, "pricing", "price").is_err());
}

/// A hook's limit may pass before its thread calls it, and the finish fails and drops the new version.
#[tokio::test]
async fn versions_are_in_use_from_before_their_hooks_begin_until_they_return() {
    let tables = new_tables();
    let no_sites =
        Descriptor { exports: Vec::new, imports: Vec::new, sites: || &[], ..Descriptor::new("pricing", "1") };
    let with_state: &'static Descriptor =
        Box::leak(Box::new(Descriptor { probes: || &[], state: Some(|| Ok(ModuleState::default())), ..no_sites }));
    let old = prepared(tables, with_state);
    let on_upgrade = |_| Err("no flour".to_owned());

    let (new, unmapped) = watched(tables, second());
    let given_up = upgrade(old.version(), new.version(), on_upgrade);
    assert_eq!(old.version().holds(), 1);
    drop(new);
    assert_eq!(unmapped.load(Relaxed), 0, "its hook may still be called");
    drop(given_up);

    let (new, unmapped) = watched(tables, second());
    let work = upgrade(old.version(), new.version(), on_upgrade);
    let error = run_job("code-upgrade", Duration::from_secs(60), work).await.unwrap_err().to_string();
    assert!(error.contains("no flour"), "{error}");
    drop(new);
    assert_eq!((unmapped.load(Relaxed), old.version().holds()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn finishes_at_once_go_one_after_the_other() {
    let tables = new_tables();
    let modules =
        [first(), fake!("tax" "1"; rate: fn() -> u8 as fn() -> u8 = || Ok(19);), fake!("bar" "1";), fake!("foo" "1";)];
    let finishing = modules.map(|descriptor| tokio::spawn(finish(tables, [prepared(tables, descriptor)])));
    for finishing in finishing {
        finishing.await.unwrap().unwrap();
    }
    assert_eq!(price(tables).call(7).unwrap(), 7);
    assert_eq!(export::<fn() -> u8>(tables, "tax", "rate").unwrap().call().unwrap(), 19);
}
