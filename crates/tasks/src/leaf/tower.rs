//! tower's `Oneshot`: it waits until a service is ready, then for the service's future.

use super::Site;
use crate::future::{Value, is_trait_object};
use crate::listing::{Await, Progress};

/// Structs around a service's box.
const WRAPPERS: u32 = 8;

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let (name, state) = steady.variant(&steady.field(site.value, "state")?)?;
    match name.as_str() {
        "NotReady" => {
            let mut shown = Await::default();
            let service = service(site, steady.field(&state, "svc")?)?;
            site.walk.collect(&service, site.frame, false, site.depth + 1, &mut shown);
            (!shown.awaits.is_empty()).then_some(shown)
        }
        "Called" => Some(site.walk.future(&steady.field(&state, "fut")?, site.frame, site.depth + 1)),
        "Done" => Some(Await { progress: Progress::Returned, ..Await::default() }),
        _ => None,
    }
}

/// Returns the service in a box, if it is in one. Its fields have the futures for which it waits to be ready.
fn service(site: &Site<'_, '_>, outer: Value) -> Option<Value> {
    let mut value = outer.clone();
    for _ in 0..WRAPPERS {
        if is_trait_object(&value.kind) {
            return site.walk.behind(&value);
        }
        let Some(only) = value.kind.members.first().filter(|_| value.kind.members.len() == 1) else { break };
        value = site.walk.steady.member(&value, only)?;
    }
    Some(outer)
}
