//! The types that the program and its modules exchange. Each compiles its own copy, as of a shared crate.

use dyntrace::code::Layout;

#[derive(Clone, Debug, Layout)]
pub struct Order {
    pub item: String,
    pub quantity: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Layout)]
pub struct Cents(pub u64);
