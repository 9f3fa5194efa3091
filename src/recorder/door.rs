//! What this room does for guests: it writes their events into the host's rings.

use super::filter::Field;
use super::payload::Payload;
use super::slot::SLOTS;
use super::taken;
use super::trigger;
use crate::host::OfHost;

/// The host's functions.
pub(crate) struct Door {
    /// Records an event of a probe with this id in this session; the thread is pinned.
    pub(super) record: fn(usize, u16, &dyn Event),
    pub(super) trigger: fn(),
    pub(super) taken: fn() -> u32,
    pub(super) set_taken: fn(u32),
}

pub(super) static HOST: OfHost<Door> = OfHost::new();

pub(crate) static DOOR: Door = Door {
    record: |session, id, event| SLOTS[session].record(session, id, &OfGuest(event)),
    trigger: trigger::trigger,
    taken: taken::now,
    set_taken: taken::set_now,
};

/// This copy is a guest from now on.
pub(crate) fn enter(door: &'static Door) {
    HOST.install(door);
}

/// The arguments of a firing in a guest: any [`Payload`].
pub(super) trait Event {
    fn bytes(&self) -> usize;

    /// # Safety
    ///
    /// As that of [`Payload::put`].
    unsafe fn write(&self, at: *mut u8);

    fn time(&self) -> Option<u64>;

    fn fields(&self, look: &mut dyn FnMut(&[Field<'_>]));
}

impl<P: Payload> Event for P {
    fn bytes(&self) -> usize {
        self.size()
    }

    unsafe fn write(&self, at: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe { self.put(at) }
    }

    fn time(&self) -> Option<u64> {
        Payload::time(self)
    }

    fn fields(&self, look: &mut dyn FnMut(&[Field<'_>])) {
        self.show(look);
    }
}

/// And back.
struct OfGuest<'a>(&'a dyn Event);

impl Payload for OfGuest<'_> {
    fn size(&self) -> usize {
        self.0.bytes()
    }

    unsafe fn put(&self, at: *mut u8) {
        // SAFETY: as the caller promises.
        unsafe { self.0.write(at) }
    }

    fn time(&self) -> Option<u64> {
        self.0.time()
    }

    fn show<R>(&self, look: impl FnOnce(&[Field<'_>]) -> R) -> R {
        let (mut look, mut answer) = (Some(look), None);
        self.0.fields(&mut |fields| answer = look.take().map(|look| look(fields)));
        answer.expect("a payload shows its fields once")
    }
}
