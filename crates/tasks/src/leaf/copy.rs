//! `tokio::io::copy`: it waits for its reader while its buffer is empty, else for its writer.

use super::Site;
use crate::listing::Await;

pub(super) fn read(site: &Site<'_, '_>) -> Option<Await> {
    let steady = &site.walk.steady;
    let buffer = |name: &str| site.number(&["buf", name]);
    let writes = buffer("pos")? < buffer("cap")? || buffer("need_flush")? != 0 || buffer("read_done")? != 0;
    let (reader, writer) = (steady.field(site.value, "reader")?, steady.field(site.value, "writer")?);
    let mut shown = Await::default();
    let side = if writes { &writer } else { &reader };
    site.walk.collect(side, site.frame, true, site.depth + 1, &mut shown);
    // it reads ahead while it writes, and then both sides wake it
    site.walk.registered(&[&reader, &writer], true, &mut shown);
    (shown.waits_for.is_some() || !shown.awaits.is_empty()).then_some(shown)
}
