//! A program that forks while modules are loaded.

use dyntrace::code::{self, Purged};
use tokio::runtime::{Builder, Runtime};

use crate::forked::in_child;
use crate::support::{Turn, load, module};
use crate::types::{Cents, Order};

fn runtime() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

#[test]
fn a_child_has_the_modules_and_changes_its_own() {
    let turn = runtime().block_on(async {
        let turn = Turn::take().await;
        load([&module("pricing_1")]).await.unwrap();
        turn
    });
    let price = code::lookup::<fn(&Order) -> Cents>("pricing", "price").unwrap();
    let order = Order { item: "rye".into(), quantity: 2 };
    in_child(|| {
        assert_eq!(price.call(&order).unwrap(), Cents(260));
        runtime().block_on(async {
            load([&module("pricing_2")]).await.unwrap();
            assert_eq!(price.call(&order).unwrap(), Cents(300));
            assert_eq!(code::purge("pricing").await.unwrap(), Purged::Unloaded);
        });
        assert_eq!(price.call(&order).unwrap(), Cents(300));
    });
    assert_eq!(price.call(&order).unwrap(), Cents(260));
    assert_eq!(turn.copies().iter().filter(|copy| copy.to_string_lossy().contains("pricing_1")).count(), 1);
    runtime().block_on(async {
        load([&module("pricing_2")]).await.unwrap();
        assert_eq!(code::purge("pricing").await.unwrap(), Purged::Unloaded);
    });
    assert_eq!(price.call(&order).unwrap(), Cents(300));
}
