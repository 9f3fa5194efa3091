//! Descriptors of probes: name, arguments, and the sessions that record it.
//!
//! Each probe puts a pointer to its descriptor into one section of the object file, so that the recorder knows probes that have never
//! fired.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, Ordering};

use super::once;
use crate::linked::linked;

/// A probe as the recorder sees it. Generated code makes one for each probe.
#[derive(Debug)]
pub struct Descriptor {
    /// Name of the provider.
    pub provider: &'static str,
    /// The probe's name as in the provider definition, with `__`.
    pub name: &'static str,
    /// Its arguments, in order.
    pub arguments: &'static [Argument],
    /// The address of the probe's word, in this program or shared object.
    word: fn() -> *const AtomicU32,
    /// One bit for each session that records the probe.
    sessions: AtomicU32,
    /// Id of its events, once a session has been started.
    id: AtomicU16,
    /// Whether the table of tasks is kept, or lengths of mailboxes are noted, where the probe fires.
    is_kept: AtomicBool,
}

/// The value of the recorder's half of a probe's word by which another process asks for the control socket. Otherwise the half is 1 while
/// sessions record the probe, and 0 while none does; plus [`KEPT`] where the table of tasks is kept.
#[doc(hidden)]
pub const CONTROL_REQUESTED: u16 = 2;

/// The part of the recorder's half that says that the table of tasks is kept where the probe fires. So a program without a table compares
/// no further word.
const KEPT: u16 = 4;

/// One argument of a probe.
#[derive(Debug)]
pub struct Argument {
    /// Its name in the provider definition.
    pub name: &'static str,
    /// Its type.
    pub kind: RecordedKind,
}

/// The type of an argument, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecordedKind {
    /// A signed integer of 32 bits.
    I32,
    /// An unsigned integer of 32 bits.
    U32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 64 bits.
    U64,
    /// A signed integer of 32 bits that counts up, so it rarely fits into fewer.
    Count,
    /// A signed integer of 32 bits that rarely needs more than 8.
    Small,
    /// A string.
    Text,
    /// A string that usually is the name of a port.
    Port,
    /// A string that usually is the name of a process.
    Process,
}

impl RecordedKind {
    pub fn is_text(self) -> bool {
        matches!(self, RecordedKind::Text | RecordedKind::Port | RecordedKind::Process)
    }
}

impl Descriptor {
    /// For generated code.
    #[doc(hidden)]
    pub const fn new(
        provider: &'static str,
        name: &'static str,
        arguments: &'static [Argument],
        word: fn() -> *const AtomicU32,
    ) -> Descriptor {
        Descriptor {
            provider,
            name,
            arguments,
            word,
            sessions: AtomicU32::new(0),
            id: AtomicU16::new(0),
            is_kept: AtomicBool::new(false),
        }
    }

    /// The probe's name as tools show it: `efile_drv-entry`.
    pub fn tool_name(&self) -> String {
        self.name.replace("__", "-")
    }

    /// The sessions that record the probe, one bit each.
    #[inline]
    pub fn sessions(&self) -> u32 {
        // Relaxed: a thread that acts on a bit pins first and reads again (`begin`).
        self.sessions.load(Ordering::Relaxed)
    }

    /// The same, for a thread that acts on a bit.
    #[inline]
    pub fn sessions_acquired(&self) -> u32 {
        self.sessions.load(Ordering::Acquire)
    }

    /// Id of its events.
    #[inline]
    pub fn id(&self) -> u16 {
        // Relaxed: set before any session's bit.
        self.id.load(Ordering::Relaxed)
    }

    /// Sets the id of its events. The caller holds the lock of the sessions.
    pub fn set_id(&self, id: u16) {
        self.id.store(id, Ordering::Relaxed);
    }

    /// Whether both have the same name and arguments.
    pub fn is_like(&self, other: &Descriptor) -> bool {
        let is_like = |(one, other): (&Argument, &Argument)| (one.name, one.kind) == (other.name, other.kind);
        (self.provider, self.name, self.arguments.len()) == (other.provider, other.name, other.arguments.len())
            && self.arguments.iter().zip(other.arguments).all(is_like)
    }

    /// Sets or clears one session's bit; the caller holds the lock of the sessions.
    pub fn set_session(&self, number: usize, on: bool) {
        let bit = 1 << number;
        // Release: a thread that sees the bit sees the session's rings. Partner: the Acquire of `sessions_acquired`.
        let before = if on {
            self.sessions.fetch_or(bit, Ordering::Release)
        } else {
            self.sessions.fetch_and(!bit, Ordering::Release)
        };
        let sessions = if on { before | bit } else { before & !bit };
        self.half().store(self.unasked(sessions), Ordering::Relaxed);
    }

    /// Notes whether the table of tasks is kept, or lengths of mailboxes are noted, where the probe fires. The caller holds the lock of
    /// the sessions.
    #[cfg(all(recorded, target_os = "linux"))]
    pub fn keep(&self, on: bool) {
        self.is_kept.store(on, Ordering::Relaxed);
        self.half().store(self.unasked(self.sessions()), Ordering::Relaxed);
    }

    /// Whether its call sites run for another room.
    #[inline]
    pub fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::Relaxed)
    }

    /// Whether a probe's word is not zero for the table of tasks alone. The caller has the word: it costs less than the call of
    /// [`word`](Self::word).
    #[cfg(recorded)]
    #[inline(always)]
    pub fn is_only_kept(word: &AtomicU32) -> bool {
        let high = if cfg!(target_endian = "little") { 16 } else { 0 };
        word.load(Ordering::Relaxed) == u32::from(KEPT) << high
    }

    /// The value of the half while no other process asks.
    fn unasked(&self, sessions: u32) -> u16 {
        u16::from(sessions != 0) | if self.is_kept.load(Ordering::Relaxed) { KEPT } else { 0 }
    }

    /// Clears the bits of all sessions, and forgets the table of tasks: for a forked child, which has one thread.
    pub fn clear_sessions(&self) {
        self.sessions.store(0, Ordering::Relaxed);
        self.is_kept.store(false, Ordering::Relaxed);
        self.half().store(0, Ordering::Relaxed);
    }

    /// Whether another process has asked for the control socket by this probe's word.
    #[cfg(any(recorded, test))]
    pub fn is_control_requested(&self) -> bool {
        self.half().load(Ordering::Relaxed) == CONTROL_REQUESTED
    }

    /// Takes the request back. Returns `true` to one of the threads that see it. The caller holds the lock of the sessions.
    #[cfg(any(recorded, test))]
    pub fn take_control_request(&self) -> bool {
        let without = self.unasked(self.sessions());
        // Fails if another thread took it, or a session's start or end overwrote it.
        self.half().compare_exchange(CONTROL_REQUESTED, without, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The same where no session has ever been, without the lock.
    #[cfg(all(recorded, target_os = "linux"))]
    pub fn take_first_control_request(&self) -> bool {
        let is_taken = self.take_control_request();
        if is_taken {
            // The first session may have started meanwhile, and another process may have asked again: then this has cleared the session's
            // bit. Fails if the half has changed again.
            let now = self.unasked(self.sessions());
            let _ = self.half().compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        }
        is_taken
    }

    /// The recorder's half of the word. The other half is the tracers'; the kernel counts in it without a lock.
    fn half(&self) -> &AtomicU16 {
        let high = usize::from(cfg!(target_endian = "little"));
        // SAFETY: the word is a static of 4 aligned bytes, which changes behind shared references only.
        unsafe { AtomicU16::from_ptr((self.word)().cast_mut().cast::<u16>().add(high)) }
    }
}

/// A probe's entry in the section of the object file.
#[doc(hidden)]
#[derive(Debug)]
#[repr(transparent)]
pub struct ProbeEntry(Option<&'static Descriptor>);

impl ProbeEntry {
    /// For generated code.
    pub const fn new(descriptor: &'static Descriptor) -> ProbeEntry {
        ProbeEntry(Some(descriptor))
    }

    pub fn descriptor(&self) -> Option<&'static Descriptor> {
        self.0
    }
}

/// All probes of this copy's program or shared object, in the order of the ids of their events.
pub fn probes() -> &'static [&'static Descriptor] {
    static PROBES: AtomicPtr<Vec<&'static Descriptor>> = AtomicPtr::new(ptr::null_mut());
    // Threads that make the list at the same time make the same.
    let probes: &Vec<_> = once::get_or_init(&PROBES, || {
        let mut probes: Vec<_> = probe_entries().iter().filter_map(ProbeEntry::descriptor).collect();
        // dyntrace's own first: only the first classes have compact headers.
        probes.sort_by_key(|probe| (probe.provider != "dyntrace", probe.provider, probe.name));
        for (id, probe) in (0..).zip(&probes) {
            probe.set_id(id);
        }
        probes
    });
    probes
}

/// All entries of the section.
#[doc(hidden)]
pub fn probe_entries() -> &'static [ProbeEntry] {
    linked!("dyntrace_probes": ProbeEntry = ProbeEntry(None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_control_keeps_the_sessions() {
        static WORD: AtomicU32 = AtomicU32::new(0);
        static PROBE: Descriptor = Descriptor::new("test", "asked", &[], || &raw const WORD);
        let request = || PROBE.half().store(CONTROL_REQUESTED, Ordering::Relaxed);
        let half = || PROBE.half().load(Ordering::Relaxed);
        assert!(!PROBE.is_control_requested() && !PROBE.take_control_request());
        for (sessions, left) in [(false, 0), (true, 1)] {
            PROBE.set_session(3, sessions);
            request();
            assert!(PROBE.is_control_requested());
            assert!(PROBE.take_control_request());
            assert!(!PROBE.take_control_request(), "one thread takes it");
            assert_eq!((half(), PROBE.sessions() != 0), (left, sessions));
        }
        request();
        PROBE.set_session(3, false);
        assert_eq!((half(), PROBE.take_control_request()), (0, false), "a session's end overwrites the request");
    }
}
