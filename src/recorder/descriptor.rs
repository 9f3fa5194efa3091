//! What a probe is to the recorder: its name, its arguments, and which sessions want it.
//!
//! Every probe of a program puts a pointer to its descriptor into one section of the object file, so that all of them are
//! known without any having fired. A probe's place in that section is the id of its events.

use std::sync::atomic::{AtomicU32, Ordering};

/// A probe as the recorder sees it; made by generated code, one for each probe.
#[derive(Debug)]
pub struct Descriptor {
    /// Name of the provider.
    pub provider: &'static str,
    /// The probe's name as in the provider definition, with `__`.
    pub name: &'static str,
    /// Its arguments, in their order.
    pub arguments: &'static [Argument],
    /// Where the word of the probe is, in this program or shared object.
    word: fn() -> *const AtomicU32,
    /// One bit for each session that records the probe.
    sessions: AtomicU32,
}

/// One argument of a probe.
#[derive(Debug)]
pub struct Argument {
    /// Its name in the provider definition.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
}

/// The type of an argument, as it is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A signed integer of 32 bits.
    I32,
    /// An unsigned integer of 32 bits.
    U32,
    /// A signed integer of 64 bits.
    I64,
    /// An unsigned integer of 64 bits.
    U64,
    /// A string.
    Text,
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
        Descriptor { provider, name, arguments, word, sessions: AtomicU32::new(0) }
    }

    /// The probe's name as tools show it: `efile_drv-entry`.
    pub fn tool_name(&self) -> String {
        self.name.replace("__", "-")
    }

    /// The sessions that record the probe, one bit each.
    #[inline]
    pub fn sessions(&self) -> u32 {
        // Relaxed: who goes by a bit pins first and reads again (`record`).
        self.sessions.load(Ordering::Relaxed)
    }
}
