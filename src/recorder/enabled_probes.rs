//! Probes whose call sites run for another room, as if a tracer looked.

use dyntrace_probes::rings::descriptor::Descriptor;

use super::sessions::sessions;

/// Has the call sites of probes run, or no longer. The table of tasks keeps its own probes.
#[cfg_attr(not(feature = "mailbox"), allow(dead_code, reason = "it is for mailboxes"))]
pub(crate) fn keep(probes: &[&'static Descriptor], on: bool) {
    let _sessions = sessions();
    for probe in probes {
        probe.keep(on);
    }
}
