//! A module that imports an export with a wrong signature: its `Order` has another field.
#![cfg(target_os = "linux")]

use dyntrace::code::Layout;

#[derive(Layout)]
struct Order {
    item: String,
    weight: u32,
}

#[derive(Layout)]
struct Cents(u64);

dyntrace::import! {
    static PRICE: fn(&Order) -> Cents = "pricing", "price";
}

#[dyntrace::export]
fn bill(order: Order) -> u64 {
    PRICE.call(&order).map_or(0, |cents| cents.0)
}

dyntrace::module!(
    "other_signature",
    version = "1.0.0",
    // SAFETY: no thread, reference or code of the module outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
