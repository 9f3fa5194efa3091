//! Expansions of the macros need no `unsafe` of the user.
#![forbid(unsafe_code)]

use dyntrace::code::Layout;

#[derive(Layout)]
struct Order {
    quantity: u32,
}

dyntrace::import! {
    static RATE: fn(u32) -> u32 = "tax", "rate";
}

#[dyntrace::export]
fn price(order: &Order) -> u32 {
    order.quantity * RATE.call(7).unwrap_or(130)
}

#[dyntrace::export]
async fn later(quantity: u32) -> u32 {
    quantity
}

#[dyntrace::traced]
fn bake(bread: &str) -> usize {
    bread.len()
}

#[dyntrace::traced(caller)]
async fn deliver(bread: String) -> usize {
    bread.len()
}

dyntrace::module!("pricing", version = "1");

fn main() {
    price(&Order { quantity: 2 });
    drop(later(7));
    bake("rye");
    drop(deliver("rye".into()));
    dyntrace::p!(17, "stored");
}
