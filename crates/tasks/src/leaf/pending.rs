//! `future::pending`.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

#[allow(clippy::unnecessary_wraps)] // one of the table's functions
pub(super) fn read(_: &Site<'_, '_>) -> Option<Await> {
    Some(waits(WaitsFor::Forever))
}
