//! What the service and its module agree upon: compiled into both, and compared when the module is loaded.

use dyntrace::code::Layout;

#[derive(Debug, Layout)]
pub struct Order {
    pub quantity: u64,
}

#[derive(Debug, Layout)]
pub struct Price {
    pub cents: u64,
    /// Of which load of the module this answer is; counted from 1, and handed on from version to version.
    pub load: u64,
}
