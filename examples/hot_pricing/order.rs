//! The types that the service and its module exchange. Both compile them, and loading compares their layouts.

use dyntrace::code::Layout;

#[derive(Debug, Layout)]
pub struct Order {
    pub quantity: u64,
}

#[derive(Debug, Layout)]
pub struct Price {
    pub cents: u64,
    /// The number of the load that answered, counted from 1 over all versions.
    pub load: u64,
}
