//! What the program and its modules tell each other: each has a copy, as if from a crate that they share.

use dyntrace::code::Layout;

#[derive(Clone, Debug, Layout)]
pub struct Order {
    pub item: String,
    pub quantity: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Layout)]
pub struct Cents(pub u64);
