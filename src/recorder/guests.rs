//! The recorder as its guests call it (see [`host`](dyntrace_probes::host)).

use dyntrace_probes::rings::decision;
use dyntrace_probes::rings::field::Field;
use dyntrace_probes::rings::form::Form;
use dyntrace_probes::rings::host::{DynPayload, HostRecorder};
use dyntrace_probes::rings::payload::Payload;
use dyntrace_probes::rings::slot::SLOTS;

use super::trigger;

pub(crate) static HOST_RECORDER: HostRecorder = HostRecorder {
    record: |session, id, event| SLOTS[session].record(session, id, &GuestPayload(event)),
    trigger: trigger::trigger,
    decision: decision::current,
    set_decision: decision::set_current,
};

/// Arguments of a guest's firing.
#[derive(Clone, Copy)]
struct GuestPayload<'a>(&'a dyn DynPayload);

impl Payload for GuestPayload<'_> {
    fn form(&self) -> Form {
        self.0.dyn_form()
    }

    fn size(&self, form: Form) -> usize {
        self.0.dyn_size(form)
    }

    unsafe fn put(&self, at: *mut u8, form: Form) {
        // SAFETY: as the caller promises.
        unsafe { self.0.dyn_put(at, form) }
    }

    fn time(&self) -> Option<u64> {
        self.0.dyn_time()
    }

    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        let (mut look, mut answer) = (Some(look), None);
        self.0.dyn_show(&mut |fields| answer = look.take().map(|look| look(fields)));
        answer.expect("a payload shows its fields once")
    }
}
