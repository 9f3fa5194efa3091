//! The switch of the inline path.

use std::sync::atomic::{AtomicU8, Ordering};

use dyntrace_processes::environment;

/// Whether a driver tries operations on the caller's thread: see [`Driver::inline`](crate::efile::Driver::inline).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Inline {
    /// All operations go to the pool.
    Off,
    /// Tries operations, but pauses where attempts were slow or missed: for each command on each file system by itself. A task that had
    /// many answers in a row yields after 10 to 50 us. The default.
    #[default]
    Adaptive,
    /// Tries every operation on regular files and names. A task yields when its budget of operations is spent, however long they took.
    Always,
}

/// By their numbers.
const MODES: [Inline; 3] = [Inline::Off, Inline::Adaptive, Inline::Always];

/// No mode's number.
const UNREAD: u8 = u8::MAX;

impl From<bool> for Inline {
    /// `true` is [`Always`](Inline::Always).
    fn from(inline: bool) -> Inline {
        if inline { Inline::Always } else { Inline::Off }
    }
}

impl Inline {
    /// Returns the default: `DYNTRACE_INLINE`, if it holds one of the names when this is first called.
    pub(in crate::efile) fn by_default() -> Inline {
        static DEFAULT: AtomicU8 = AtomicU8::new(UNREAD);
        let mut mode = DEFAULT.load(Ordering::Relaxed);
        if mode == UNREAD {
            let named = environment::var("DYNTRACE_INLINE").and_then(|text| named(text.to_str()?));
            mode = named.unwrap_or_default() as u8;
            // Each thread finds the same.
            DEFAULT.store(mode, Ordering::Relaxed);
        }
        MODES[usize::from(mode)]
    }

    pub(in crate::efile) fn is_on(self) -> bool {
        self != Inline::Off
    }
}

fn named(text: &str) -> Option<Inline> {
    match text {
        "0" | "off" => Some(Inline::Off),
        "adaptive" => Some(Inline::Adaptive),
        "1" | "always" => Some(Inline::Always),
        _ => None,
    }
}

/// A mode that any thread may change.
#[derive(Debug)]
pub(super) struct SharedMode(AtomicU8);

impl SharedMode {
    pub(super) fn new(mode: Inline) -> SharedMode {
        SharedMode(AtomicU8::new(mode as u8))
    }

    // Relaxed, both: one attempt more or less is harmless.
    pub(super) fn get(&self) -> Inline {
        MODES[usize::from(self.0.load(Ordering::Relaxed)).min(2)]
    }

    pub(super) fn set(&self, mode: Inline) {
        self.0.store(mode as u8, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_the_variable_are_known_and_others_are_not() {
        let of = |text| named(text);
        assert_eq!([of("0"), of("off")], [Some(Inline::Off); 2]);
        assert_eq!([of("1"), of("always")], [Some(Inline::Always); 2]);
        assert_eq!(of("adaptive"), Some(Inline::Adaptive));
        assert_eq!([of(""), of("2"), of("Adaptive"), of(" 1")], [None; 4]);
    }

    #[test]
    fn a_shared_mode_keeps_each() {
        let shared = SharedMode::new(Inline::Off);
        for mode in [Inline::Always, Inline::Adaptive, Inline::Off] {
            shared.set(mode);
            assert_eq!(shared.get(), mode);
        }
    }
}
