//! Modules that misbehave while they are loaded.

use std::time::Duration;

use dyntrace::code::{self, Error, LoadError};

use crate::support::{Turn, load, module};

async fn failure(name: &str) -> LoadError {
    match code::prepare(module(name)).await {
        Err(Error::Load(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_hook_that_panics() {
    let _turn = Turn::take().await;
    let kept = code::kept();
    let error = failure("panicking").await.to_string();
    assert_eq!(error, "on_load of panicking 1.0.0 failed: it panicked: no flour");
    assert_eq!(code::kept(), kept + 1, "its code has run");
}

#[tokio::test]
async fn a_hook_that_does_not_return() {
    let turn = Turn::take().await;
    code::allow(turn.policy().patience(Duration::from_millis(50))).unwrap();
    let before = code::given_up();
    let error = failure("stuck").await;
    assert!(matches!(&error, LoadError::TooSlow { hook: "on_load", of, .. } if of == "stuck 1.0.0"), "{error}");
    assert_eq!(code::given_up(), before + 1);
    code::allow(turn.policy()).unwrap();
    load([&module("pricing_1")]).await.unwrap();
}

#[tokio::test]
async fn two_exports_of_one_name() {
    let turn = Turn::take().await;
    let error = failure("twice").await.to_string();
    for part in ["twice", "bake", "fn(u32) -> u32", "fn(f64) -> f64"] {
        assert!(error.contains(part), "{part}: {error}");
    }
    assert_eq!(turn.copies().len(), 0);
}

#[tokio::test]
async fn many_are_prepared_at_once() {
    let turn = Turn::take().await;
    let preparing: Vec<_> = (0..30).map(|_| tokio::spawn(code::prepare(module("pricing_1")))).collect();
    let mut prepared = Vec::new();
    for one in preparing {
        prepared.push(one.await.unwrap().unwrap());
    }
    assert_eq!(turn.copies().len(), 30);
    drop(prepared);
    assert_eq!(turn.copies().len(), 0);
}

#[tokio::test]
async fn one_that_is_dropped_leaves_nothing() {
    let turn = Turn::take().await;
    for _ in 0..5 {
        let preparing = tokio::spawn(code::prepare(module("pricing_1")));
        tokio::task::yield_now().await;
        preparing.abort();
    }
    // Jobs in progress end in time.
    while !turn.copies().is_empty() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
