//! Finishing, upgrading and purging, with fake modules.

use std::future::Future;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use super::change::changing::{Abandoned, Changing};
use super::change::finish::{sequence, upgrade};
use super::change::purge::{PurgeMode, deletion, purging};
use super::fake::{FakeMapping, fake, new_tables};
use super::load::job::run_job;
use super::lookup::find::find;
use super::version::descriptor::{Descriptor, ModuleState};
use super::version::image::{Mapping, Unmapped};
use super::version::prepared::Prepared;
use super::version::tables::Tables;
use super::{AsyncHandle, CallError, Error, Handle, OnMissing, Pending, Purged, Signature, View, history, list};
use crate::thread_progress::{permission, pin};

type Price = fn(u32) -> u64;

fn first() -> &'static Descriptor {
    fake!("pricing" "1"; price: Price as fn(u32) -> u64 = |quantity| Ok(u64::from(quantity)); gone: fn() -> u8 as fn() -> u8 = || Ok(1);)
}

fn second() -> &'static Descriptor {
    fake!("pricing" "2"; price: Price as fn(u32) -> u64 = |quantity| Ok(2 * u64::from(quantity));)
}

fn third() -> &'static Descriptor {
    fake!("pricing" "3"; price: Price as fn(u32) -> u64 = |quantity| Ok(3 * u64::from(quantity));)
}

fn prepared(tables: &'static Tables, descriptor: &'static Descriptor) -> Prepared {
    Prepared::of(tables, descriptor, Box::new(FakeMapping::new())).unwrap()
}

/// A prepared version, and the count of calls of its `unmap`.
fn watched(tables: &'static Tables, descriptor: &'static Descriptor) -> (Prepared, Arc<AtomicUsize>) {
    let mapping = FakeMapping::new();
    let unmapped = Arc::clone(&mapping.unmapped);
    (Prepared::of(tables, descriptor, Box::new(mapping)).unwrap(), unmapped)
}

async fn finish(tables: &'static Tables, prepared: impl IntoIterator<Item = Prepared>) -> Result<(), Error> {
    let prepared = prepared.into_iter().collect();
    Changing::new(|abandoned| sequence(tables, prepared, abandoned)).await
}

async fn purge(tables: &'static Tables) -> Result<Purged, Error> {
    Changing::new(|abandoned| purging(tables, "pricing".into(), PurgeMode::PATIENT, abandoned)).await
}

async fn soft_purge(tables: &'static Tables) -> Result<Purged, Error> {
    let mode = PurgeMode { waits: false, ..PurgeMode::PATIENT };
    Changing::new(|abandoned| purging(tables, "pricing".into(), mode, abandoned)).await
}

async fn delete(tables: &'static Tables) -> Result<(), Error> {
    Changing::new(|abandoned| deletion(tables, "pricing".into(), abandoned)).await
}

fn export<F: Signature>(tables: &Tables, module: &str, name: &str) -> Result<F::Handle, Error> {
    find(tables, module, name, F::HASH, F::text()).map(F::Handle::from)
}

fn price(tables: &Tables) -> Handle<Price, 1> {
    export::<Price>(tables, "pricing", "price").unwrap()
}

#[tokio::test]
async fn calls_follow_upgrades() {
    let tables = new_tables();
    finish(tables, [prepared(tables, first())]).await.unwrap();
    let (price, gone) = (price(tables), export::<fn() -> u8>(tables, "pricing", "gone").unwrap());
    assert_eq!((price.call(7).unwrap(), gone.call().unwrap()), (7, 1));
    finish(tables, [prepared(tables, second())]).await.unwrap();
    assert_eq!(price.call(7).unwrap(), 14);
    assert!(matches!(gone.call(), Err(CallError::Missing { module: "pricing", export: "gone" })));
    assert_eq!(purge(tables).await.unwrap(), Purged::Unloaded);
    // Through all three indices, and round again.
    for descriptor in [third(), first(), second(), third()] {
        finish(tables, [prepared(tables, descriptor)]).await.unwrap();
        let factor = descriptor.version.parse::<u64>().unwrap();
        assert_eq!((price.call(7).unwrap(), gone.call().is_ok()), (7 * factor, factor == 1));
        assert_eq!(purge(tables).await.unwrap(), Purged::Unloaded);
    }
}

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

#[tokio::test]
async fn what_is_not_there_is_named() {
    let tables = new_tables();
    let error = |answer: Result<Handle<Price, 1>, Error>| answer.unwrap_err().to_string();
    assert_eq!(
        error(export::<Price>(tables, "pricing", "price")),
        "cannot find an export of module pricing: it has no current version"
    );
    finish(tables, [prepared(tables, first())]).await.unwrap();
    assert_eq!(
        error(export::<Price>(tables, "pricing", "prise")),
        "cannot find pricing::prise: version 1 does not export it; near it: price"
    );
    let wrong = export::<fn(&str) -> u64>(tables, "pricing", "price").unwrap_err().to_string();
    assert!(wrong.ends_with(": it is fn(u32) -> u64, or a type in it has other fields there"), "{wrong}");
}

#[tokio::test]
async fn another_signature_is_another_export() {
    let tables = new_tables();
    finish(tables, [prepared(tables, first())]).await.unwrap();
    let before = price(tables);
    let other = fake!("pricing" "2"; price: fn(u32) -> u32 as fn(u32) -> u32 = |quantity| Ok(quantity + 1););
    finish(tables, [prepared(tables, other)]).await.unwrap();
    assert!(matches!(before.call(7), Err(CallError::Missing { .. })));
    assert_eq!(export::<fn(u32) -> u32>(tables, "pricing", "price").unwrap().call(7).unwrap(), 8);
}

#[tokio::test]
async fn panics_become_errors() {
    let tables = new_tables();
    let module = fake!("pricing" "1"; price: Price as fn(u32) -> u64 = |_| caught(|| panic!("no such order")););
    finish(tables, [prepared(tables, module)]).await.unwrap();
    let error = price(tables).call(7).unwrap_err();
    assert_eq!(error.to_string(), "the called function panicked: no such order");
    finish(tables, [prepared(tables, first())]).await.unwrap();
    assert_eq!(soft_purge(tables).await.unwrap(), Purged::Unloaded, "it is not inside any more");
}

#[tokio::test]
async fn references_go_through() {
    let tables = new_tables();
    type Add = fn(&mut Vec<String>, &str) -> usize;
    let module = fake!("list" "1"; add: Add as fn(&mut Vec<String>, &str) -> usize = |list, item| {
        list.push(item.to_owned());
        Ok(list.len())
    };);
    finish(tables, [prepared(tables, module)]).await.unwrap();
    let add = export::<Add>(tables, "list", "add").unwrap();
    let mut list = Vec::new();
    let item = String::from("bread");
    assert_eq!((add.call(&mut list, &item).unwrap(), add.call(&mut list, "milk").unwrap()), (1, 2));
    assert_eq!(list, ["bread", "milk"]);
}

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

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
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

#[tokio::test]
async fn what_may_not_be_unloaded_is_kept() {
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

#[tokio::test]
async fn a_view_sees_one_state() {
    let tables = new_tables();
    finish(tables, [prepared(tables, first())]).await.unwrap();
    let price = price(tables);
    let mut finishing = Box::pin(finish(tables, [prepared(tables, second())]));
    let borrowed = View::of(tables, |view| {
        let borrowed = price.borrow(view).unwrap();
        // This thread is pinned, so there are no two commits meanwhile.
        assert!((0..10).all(|_| {
            thread::scope(|scope| {
                let poll = || finishing.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending();
                scope.spawn(poll).join().unwrap()
            })
        }));
        assert_eq!(view.modules()[0].current.as_ref().unwrap().version.as_ref(), "1");
        borrowed
    });
    finishing.await.unwrap();
    assert_eq!((borrowed.call(7).unwrap(), price.call(7).unwrap()), (7, 14));
    assert!(matches!(soft_purge(tables).await, Err(Error::InUse { .. })));
    drop(borrowed);
    assert_eq!(soft_purge(tables).await.unwrap(), Purged::Unloaded);
}

/// With the process's tables.
#[tokio::test]
async fn a_handler_may_see_to_it_that_the_export_is_there() {
    let tables = super::version::tables::tables();
    let asked = Arc::new(AtomicUsize::new(0));
    let module = fake!("handled" "1"; answer: fn() -> u8 as fn() -> u8 = || Ok(42););
    super::finish([Prepared::new(module, Box::new(FakeMapping::new())).unwrap()]).await.unwrap();
    let answer = super::lookup::<fn() -> u8>("handled", "answer").unwrap();
    super::delete("handled").await.unwrap();
    assert!(matches!(answer.call(), Err(CallError::Missing { .. })));
    super::set_error_handler({
        let asked = Arc::clone(&asked);
        move |module, export| {
            assert_eq!((module, export), ("handled", "answer"));
            if asked.fetch_add(1, Relaxed) == 0 {
                return OnMissing::Fail;
            }
            let module = fake!("handled" "2"; answer: fn() -> u8 as fn() -> u8 = || Ok(43););
            let prepared = Prepared::new(module, Box::new(FakeMapping::new())).unwrap();
            let finishing = super::finish([prepared]);
            tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(finishing).unwrap();
            OnMissing::Retry
        }
    });
    assert!(matches!(answer.call(), Err(CallError::Missing { .. })));
    assert_eq!(thread::spawn(move || answer.call()).join().unwrap().unwrap(), 43);
    super::set_error_handler(|_, _| panic!("a handler that panics says nothing"));
    super::purge("handled").await.unwrap();
    super::delete("handled").await.unwrap();
    assert!(matches!(answer.call(), Err(CallError::Missing { .. })));
    super::set_error_handler(|_, _| std::panic::panic_any(Bomb));
    assert!(matches!(answer.call(), Err(CallError::Missing { .. })));
    super::set_error_handler(|_, _| OnMissing::Fail);

    let of_module: Vec<_> = history().into_iter().filter(|event| &*event.module == "handled").collect();
    let seen: Vec<_> = of_module.iter().map(|event| (event.kind, &*event.version)).collect();
    use super::EventKind::{Delete, Load, Purge};
    assert_eq!(seen, [(Load, "1"), (Delete, "1"), (Load, "2"), (Purge, "1"), (Delete, "2")]);
    assert!(list().iter().any(|module| &*module.name == "handled" && module.current.is_none()));
    assert!(super::check("handled").unwrap().is_empty());
    assert_eq!(super::check("nobody"), None);
    let _ = tables;
}

/// Callers beside upgrades: no caller sees an older version after a newer one.
#[test]
fn callers_beside_upgrades_see_no_version_again() {
    const UPGRADES: usize = if cfg!(miri) { 5 } else { 300 };
    let tables = new_tables();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    static GENERATION: AtomicUsize = AtomicUsize::new(0);
    let new = || {
        let odd = fake!("pricing" "odd"; price: Price as fn(u32) -> u64 = |_| Ok(1););
        let even = fake!("pricing" "even"; price: Price as fn(u32) -> u64 = |_| Ok(0););
        prepared(tables, if GENERATION.fetch_add(1, Relaxed).is_multiple_of(2) { even } else { odd })
    };
    runtime.block_on(finish(tables, [new()])).unwrap();
    let price = price(tables);
    let stop = Arc::new(AtomicUsize::new(0));
    let callers = [(); 2].map(|()| {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            let (mut calls, mut changes, mut last) = (0_u64, 0, 0);
            while stop.load(Relaxed) == 0 {
                let answer = price.call(7).unwrap();
                changes += usize::from(answer != last);
                last = answer;
                calls += 1;
            }
            assert!(calls > 0);
            changes
        })
    });
    for _ in 0..UPGRADES {
        runtime.block_on(async {
            finish(tables, [new()]).await.unwrap();
            assert_eq!(purge(tables).await.unwrap(), Purged::Unloaded);
        });
    }
    thread::sleep(Duration::ZERO);
    stop.store(1, Relaxed);
    for caller in callers {
        assert!(caller.join().unwrap() <= UPGRADES, "more changes than upgrades: somebody saw an old version again");
    }
}

/// A part of this program in place of a module.
struct Own {
    start: usize,
    path: PathBuf,
}

impl Mapping for Own {
    fn range(&self) -> Range<usize> {
        self.start..self.start + 4096
    }

    fn bias(&self) -> usize {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let own = maps.lines().find(|line| line.ends_with(self.path.to_str().unwrap())).unwrap();
        usize::from_str_radix(own.split('-').next().unwrap(), 16).unwrap()
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn source(&self) -> &Path {
        &self.path
    }

    unsafe fn unmap(&self) -> Unmapped {
        Unmapped::Kept
    }
}

#[inline(never)]
fn resolved_by_name() {
    std::hint::black_box(());
}

#[tokio::test]
async fn addresses_are_resolved() {
    let tables = new_tables();
    let start = resolved_by_name as *const () as usize;
    let own = Own { start, path: std::env::current_exe().unwrap() };
    finish(tables, [prepared(tables, second()), Prepared::of(tables, fake!("own" "1";), Box::new(own)).unwrap()])
        .await
        .unwrap();
    let place = tables.look(|set| super::lookup::resolve::find(set, start)).unwrap();
    assert_eq!((place.module(), place.version()), ("own", "1"));
    let is_told = place.function().map(|function| function.ends_with("code::tests::resolved_by_name"));
    assert_eq!(is_told, Some(true), "{place}");
    assert!(place.to_string().starts_with("own 1 "), "{place}");
    for outside in [start - 1, start + 4096, 0, usize::MAX] {
        assert!(tables.look(|set| super::lookup::resolve::find(set, outside)).is_none());
    }
}
