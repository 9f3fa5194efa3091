//! The next version of the module: a higher price, one export fewer.
#![cfg(target_os = "linux")]

#[path = "../types.rs"]
mod types;

use std::sync::atomic::{AtomicU64, Ordering};

use dyntrace::code::ModuleState;
use types::{Cents, Order};

static TAKEN_OVER: AtomicU64 = AtomicU64::new(0);

#[dyntrace::export]
fn price(order: &Order) -> Cents {
    Cents(u64::from(order.quantity) * 150)
}

#[dyntrace::export]
fn taken_over() -> u64 {
    TAKEN_OVER.load(Ordering::Relaxed)
}

fn on_upgrade(old: ModuleState) -> Result<(), String> {
    let number = match (old.form, <[u8; 8]>::try_from(old.bytes)) {
        (1, Ok(bytes)) => u64::from_le_bytes(bytes),
        (form, _) => return Err(format!("a state of form {form} is unknown here")),
    };
    TAKEN_OVER.store(number, Ordering::Relaxed);
    Ok(())
}

dyntrace::module!(
    "pricing",
    version = "2.0.0",
    on_upgrade = on_upgrade,
    // SAFETY: no thread, reference or code of the module outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() }
);
