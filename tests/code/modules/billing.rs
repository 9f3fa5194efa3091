//! A module that calls another module.
#![cfg(target_os = "linux")]

#[path = "../types.rs"]
mod types;

use types::{Cents, Order};

dyntrace::import! {
    static PRICE: fn(&Order) -> Cents = "pricing", "price";
}

#[dyntrace::export]
fn bill(order: &Order) -> String {
    match PRICE.call(order) {
        Ok(Cents(cents)) => format!("{cents} cents"),
        Err(error) => format!("no bill: {error}"),
    }
}

dyntrace::module!(
    "billing",
    version = "1.0.0",
    // SAFETY: no thread, reference or code of the module outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
