//! Version 1 of the module `pricing`.
#![cfg(target_os = "linux")]

mod load;
mod order;

use order::{Order, Price};

#[dyntrace::export]
fn price(order: &Order) -> Price {
    Price { cents: order.quantity * 130, load: load::load() }
}

dyntrace::module!(
    "pricing",
    version = "1.0.0",
    // SAFETY: no thread, reference or code of the module outlives a call of its exports.
    unloadable = unsafe { dyntrace::code::Unloadable::new() },
    state = load::state,
    on_upgrade = load::on_upgrade
);
