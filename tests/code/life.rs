//! Modules that are loaded, replaced, called by each other and purged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread;

use dyntrace::code::{self, CallError, Error, Pending, Purged};

use crate::support::{Turn, clear, load, module};
use crate::types::{Cents, Order};

fn order(quantity: u32) -> Order {
    Order { item: "rye".into(), quantity }
}

#[tokio::test]
async fn a_handle_follows_upgrades() {
    let _turn = Turn::take().await;
    load([&module("pricing_1")]).await.unwrap();
    let price = code::lookup::<fn(&Order) -> Cents>("pricing", "price").unwrap();
    let dropped = code::lookup::<fn()>("pricing", "dropped").unwrap();
    assert_eq!(price.call(&order(2)).unwrap(), Cents(260));
    dropped.call().unwrap();

    load([&module("pricing_2")]).await.unwrap();
    assert_eq!(price.call(&order(2)).unwrap(), Cents(300));
    assert_eq!(code::lookup::<fn() -> u64>("pricing", "taken_over").unwrap().call().unwrap(), 17);
    assert!(matches!(dropped.call(), Err(CallError::Missing { .. })));

    let again = load([&module("pricing_1")]).await.unwrap_err();
    assert!(matches!(again, Error::OldInUse { .. }), "{again}");
    assert_eq!(code::purge("pricing").await.unwrap(), Purged::Unloaded);
    assert_eq!(price.call(&order(1)).unwrap(), Cents(150));
}

#[tokio::test]
async fn values_come_and_go() {
    let _turn = Turn::take().await;
    load([&module("pricing_1")]).await.unwrap();
    let label = code::lookup::<fn(Order, &mut String) -> String>("pricing", "label").unwrap();
    let mut labels = String::from("labels");
    assert_eq!(label.call(order(3), &mut labels).unwrap(), "3 x rye");
    assert_eq!(labels, "labels; rye");
    let later = code::lookup::<fn(u32) -> Pending<u64>>("pricing", "later").unwrap();
    assert_eq!(later.call(7).unwrap().await.unwrap(), 7);
}

#[tokio::test]
async fn a_panic_stays_in_its_module() {
    let _turn = Turn::take().await;
    load([&module("pricing_1")]).await.unwrap();
    let price = code::lookup::<fn(&Order) -> Cents>("pricing", "price").unwrap();
    let panicked = |error| match error {
        CallError::Panicked(message) => message,
        other => panic!("{other}"),
    };
    assert_eq!(panicked(price.call(&order(0)).unwrap_err()), "no bread for rye");
    let later = code::lookup::<fn(u32) -> Pending<u64>>("pricing", "later").unwrap();
    assert_eq!(panicked(later.call(0).unwrap().await.unwrap_err()), "no bread later");
    assert_eq!(price.call(&order(1)).unwrap(), Cents(130));
}

/// Unwinding uses tables of the platform, which change with every library that is mapped or unmapped.
#[tokio::test]
async fn panics_while_others_come_and_go() {
    const PANICS: u32 = 10;
    let _turn = Turn::take().await;
    load([&module("pricing_1")]).await.unwrap();
    let later = code::lookup::<fn(u32) -> Pending<u64>>("pricing", "later").unwrap();
    let price = code::lookup::<fn(&Order) -> Cents>("pricing", "price").unwrap();
    let panicking = [(); 2].map(|()| {
        thread::spawn(move || {
            for _ in 0..PANICS {
                let error = price.call(&order(0)).unwrap_err().to_string();
                assert!(error.ends_with("no bread for rye"), "{error}");
                drop(later.call(7).unwrap());
            }
        })
    });
    while !panicking.iter().all(thread::JoinHandle::is_finished) {
        // The same version replaces itself, beside other modules.
        load([&module("pricing_1"), &module("billing")]).await.unwrap();
        assert_eq!(code::purge("pricing").await.unwrap(), Purged::Unloaded);
        clear("billing").await;
    }
    panicking.into_iter().for_each(|thread| thread.join().unwrap());
}

#[tokio::test]
async fn modules_call_each_other() {
    let _turn = Turn::take().await;
    let alone = load([&module("billing")]).await.unwrap_err();
    assert!(matches!(alone, Error::Import { .. }), "{alone}");
    let alone = alone.to_string();
    for part in ["billing", "pricing::price", "Order", "Cents", "together"] {
        assert!(alone.contains(part), "{part}: {alone}");
    }
    load([&module("billing"), &module("pricing_1")]).await.unwrap();
    let bill = code::lookup::<fn(&Order) -> String>("billing", "bill").unwrap();
    assert_eq!(bill.call(&order(2)).unwrap(), "260 cents");
    load([&module("pricing_2")]).await.unwrap();
    assert_eq!(bill.call(&order(2)).unwrap(), "300 cents");
    assert!(bill.call(&order(0)).is_ok());
    clear("pricing").await;
    assert!(bill.call(&order(2)).unwrap().starts_with("no bill: cannot call pricing::price"));
}

#[tokio::test]
async fn types_with_other_fields_are_other_types() {
    let _turn = Turn::take().await;
    load([&module("pricing_1")]).await.unwrap();
    let error = load([&module("other_signature")]).await.unwrap_err();
    assert!(matches!(&error, Error::Import { has: Some(_), .. }), "{error}");
    let error = error.to_string();
    for part in ["other_signature", "pricing::price", "other_signature::Order", "types::Order"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    let error = code::lookup::<fn(&u32) -> Cents>("pricing", "price").unwrap_err().to_string();
    for part in ["pricing::price", "u32) -> ", "types::Order"] {
        assert!(error.contains(part), "{part}: {error}");
    }
}

#[tokio::test]
async fn one_module_is_not_finished_twice_at_once() {
    let _turn = Turn::take().await;
    let error = load([&module("pricing_1"), &module("pricing_2")]).await.unwrap_err();
    assert!(matches!(error, Error::Twice { .. }), "{error}");
    assert!(code::list().is_empty());
    load([&module("pricing_1")]).await.unwrap();
    assert_eq!(code::list().len(), 1);
}

#[tokio::test]
async fn a_state_that_the_new_version_does_not_know() {
    let _turn = Turn::take().await;
    load([&module("pricing_2")]).await.unwrap();
    // It has no `state`, which gives form 0.
    let error = load([&module("pricing_2")]).await.unwrap_err().to_string();
    assert_eq!(error, "on_upgrade of pricing 2.0.0 failed: a state of form 0 is unknown here");
    let price = code::lookup::<fn(&Order) -> Cents>("pricing", "price").unwrap();
    assert_eq!(price.call(&order(1)).unwrap(), Cents(150));
    assert_eq!(code::list().len(), 1);
}

#[tokio::test]
async fn a_module_with_running_threads_stays_mapped() {
    let _turn = Turn::take().await;
    load([&module("restless")]).await.unwrap();
    let tick = code::lookup::<fn() -> &'static AtomicU64>("restless", "tick").unwrap();
    let ticks = tick.call().unwrap();
    let remember = code::lookup::<fn(u64)>("restless", "remember").unwrap();
    let kept = code::kept();
    let other = thread::spawn(move || remember.call(1).is_ok());
    assert!(other.join().unwrap());
    code::delete("restless").await.unwrap();
    assert_eq!(code::purge("restless").await.unwrap(), Purged::Kept);
    assert_eq!(code::kept(), kept + 1);
    let before = ticks.load(Ordering::Relaxed);
    while ticks.load(Ordering::Relaxed) == before {
        thread::yield_now();
    }
}

#[tokio::test]
async fn a_module_that_threads_will_come_back_to_is_not_unloaded() {
    let _turn = Turn::take().await;
    load([&module("forgetful")]).await.unwrap();
    let note = code::lookup::<fn(String) -> usize>("forgetful", "note").unwrap();
    let (go, may_go) = mpsc::channel::<()>();
    let (noted, is_noted) = mpsc::channel();
    let thread = thread::spawn(move || {
        noted.send(note.call("rye".into())).unwrap();
        may_go.recv().unwrap_err();
    });
    assert_eq!(is_noted.recv().unwrap().unwrap(), 1);
    code::delete("forgetful").await.unwrap();
    assert_eq!(code::purge("forgetful").await.unwrap(), Purged::Kept);
    drop(go);
    thread.join().expect("its notes are dropped by code that is there");
}

#[tokio::test]
async fn a_library_that_is_unloaded_takes_its_copy_with_it() {
    let turn = Turn::take().await;
    let kept = code::kept();
    for _ in 0..20 {
        load([&module("pricing_1")]).await.unwrap();
        assert_eq!(turn.copies().len(), 1);
        code::delete("pricing").await.unwrap();
        assert_eq!(code::purge("pricing").await.unwrap(), Purged::Unloaded);
        assert_eq!(turn.copies().len(), 0);
    }
    drop(code::prepare(module("pricing_1")).await.unwrap());
    assert_eq!(turn.copies().len(), 0);
    assert_eq!(code::kept(), kept);
}
