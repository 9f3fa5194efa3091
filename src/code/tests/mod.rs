//! Finishing, upgrading and purging, with fake modules.

mod addresses;
mod finishes;
mod purges;

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Barrier};
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;

use super::change::changing::{Abandoned, Changing};
use super::change::finish::sequence;
use super::change::purge::{PurgeMode, deletion, purging};
use super::fake::{FakeMapping, fake, new_tables};
use super::lookup::find::find;
use super::version::descriptor::Descriptor;
use super::version::image::Unmapped;
use super::version::prepared::Prepared;
use super::version::tables::Tables;
use super::{AsyncHandle, CallError, Error, Handle, OnMissing, Pending, Purged, Signature, View, history, list};

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
async fn errors_name_the_missing_module() {
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

/// Panics when it is dropped.
struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        panic!("dropped");
    }
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
