//! `JoinHandle`.

use super::{Site, waits};
use crate::listing::{Await, WaitsFor};

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let address = site.number(&["raw", "ptr", "pointer"])?;
    Some(waits(WaitsFor::Join { address, task: (site.walk.reader.tasks)(address) }))
}
