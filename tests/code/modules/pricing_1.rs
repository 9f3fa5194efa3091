//! A module: bread for 130 each.
#![cfg(target_os = "linux")]

#[path = "../types.rs"]
mod types;

use dyntrace::code::ModuleState;
use types::{Cents, Order};

#[dyntrace::export]
fn price(order: &Order) -> Cents {
    assert!(order.quantity > 0, "no bread for {}", order.item);
    Cents(u64::from(order.quantity) * 130)
}

#[dyntrace::export]
fn label(order: Order, before: &mut String) -> String {
    before.push_str("; ");
    before.push_str(&order.item);
    format!("{} x {}", order.quantity, order.item)
}

#[dyntrace::export]
async fn later(quantity: u32) -> u64 {
    assert!(quantity > 0, "no bread later");
    u64::from(quantity)
}

#[dyntrace::export]
fn dropped() {}

fn state() -> ModuleState {
    ModuleState { form: 1, bytes: 17_u64.to_le_bytes().into() }
}

dyntrace::module!(
    "pricing",
    version = "1.0.0",
    // SAFETY: no thread, reference or code of the module outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() },
    state = state
);
