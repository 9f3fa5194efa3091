//! Trace flags of processes, as the actions `set` and `clear` of a session's patterns leave them.
//!
//! A flag is set by the process that it is of, and asked for by that process: so each has its own with it, in one of the
//! [words](crate::process::word) that go where the process goes. There is nothing to share, to lock, or to free when a process
//! ends. Sessions that have such patterns take turns with the words: a word bears the number of the session that wrote it, and
//! says nothing to another one.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::breakpoint::error::Error;
use crate::breakpoint::pattern::{Actions, Flags};
use crate::forks::hold_across_forks;
use crate::process::{self, Pid, Processes, Sieve, WORDS};

/// One session's.
pub(crate) struct ProcessFlags {
    place: usize,
    /// In the bits of [`NUMBER`].
    number: u32,
}

/// Processes that it spawns inherit its flags.
const SET_ON_SPAWN: u32 = process::INHERITED;
/// Its calls are looked at.
const CALL: u32 = 1 << 1;
/// They are not. Neither: the session's list says it.
const NO_CALL: u32 = 1 << 2;
/// Its calls send no events.
const SILENT: u32 = 1 << 3;
/// So many sessions are told from each other.
const NUMBER: u32 = !(SET_ON_SPAWN | CALL | NO_CALL | SILENT);

/// Which places are a session's.
static TAKEN: Mutex<[bool; WORDS]> = Mutex::new([false; WORDS]);

/// Nothing panics under this lock.
fn taken() -> MutexGuard<'static, [bool; WORDS]> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProcessFlags {
    pub(crate) fn new() -> Result<ProcessFlags, Error> {
        hold_across_forks!([bool; WORDS], taken());
        static LAST: AtomicU32 = AtomicU32::new(0);
        let mut taken = taken();
        let place = taken.iter().position(|taken| !taken).ok_or(Error::TooManyFlagging { most: WORDS })?;
        taken[place] = true;
        // Relaxed: only that numbers differ matters. No word has number 0.
        let number = LAST.fetch_add(SILENT << 1, Ordering::Relaxed).wrapping_add(SILENT << 1).max(SILENT << 1);
        Ok(ProcessFlags { place, number })
    }

    /// Of the current process.
    fn flags(&self) -> u32 {
        let word = process::word(self.place);
        if word & NUMBER == self.number { word & !NUMBER } else { 0 }
    }

    /// Whether calls of the current process are looked at, if that was said.
    fn call(&self) -> Option<bool> {
        match self.flags() & (CALL | NO_CALL) {
            0 => None,
            flags => Some(flags == CALL),
        }
    }

    /// Whether the current process sends no events.
    pub(crate) fn is_silent(&self) -> bool {
        self.flags() & SILENT != 0
    }

    /// For the next calls of the current process.
    pub(crate) fn change(&self, actions: Actions) {
        let Actions { set, clear, .. } = actions;
        let when = |is_wanted: bool, flags: u32| if is_wanted { flags } else { 0 };
        // The session looks at this call. It shall look at those of a child too, which its list does not have.
        let calls = set.call || (set.set_on_spawn && !clear.call);
        let away = when(calls || clear.call, CALL | NO_CALL)
            | when(clear.silent, SILENT)
            | when(clear.set_on_spawn, SET_ON_SPAWN);
        let new = when(calls, CALL)
            | when(clear.call, NO_CALL)
            | when(set.silent, SILENT)
            | when(set.set_on_spawn, SET_ON_SPAWN);
        process::set_word(self.place, self.number | self.flags() & !away | new);
    }
}

impl Drop for ProcessFlags {
    fn drop(&mut self) {
        taken()[self.place] = false;
    }
}

/// Which processes a session is about.
#[derive(Clone, Default)]
pub(crate) struct ProcessFilter {
    /// Those: all, as long as nobody has named some.
    pub(crate) named: Option<Arc<Processes>>,
    /// Where actions of its patterns say more.
    pub(crate) flags: Option<Arc<ProcessFlags>>,
}

impl ProcessFilter {
    /// Whether no process can be one that it is not about.
    pub(crate) fn is_everybodys(&self) -> bool {
        self.named.as_ref().is_none_or(|named| named.are_all()) && self.flags.is_none()
    }

    /// Who may be one that it is about.
    pub(crate) fn sieve(&self) -> Sieve {
        match &self.named {
            Some(named) if self.flags.is_none() => named.sieve(),
            _ => Sieve::ALL,
        }
    }

    /// Whether it is about the current process, which is only asked for where that has to be known.
    #[inline]
    pub(crate) fn is_for(&self, current: impl FnOnce() -> Pid) -> bool {
        let said = self.flags.as_ref().and_then(|flags| flags.call());
        said.unwrap_or_else(|| self.named.as_ref().is_none_or(|named| named.contains(current())))
    }

    /// Sees to it that a pattern with these actions can be served: whether it changes what others of the session look at.
    pub(crate) fn prepare(&mut self, actions: Actions) -> Result<bool, Error> {
        let Actions { set, clear, .. } = actions;
        if set == Flags::default() && clear == Flags::default() {
            return Ok(false);
        }
        let is_first = self.flags.is_none();
        if is_first {
            self.flags = Some(Arc::new(ProcessFlags::new()?));
        }
        let limits = set.call && self.named.is_none();
        if limits {
            self.named = Some(Arc::default());
        }
        Ok(is_first || limits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: Flags = Flags { call: false, silent: false, set_on_spawn: false };
    const BOTH: Flags = Flags { call: true, silent: true, set_on_spawn: false };

    fn change(whose: &ProcessFilter, set: Flags, clear: Flags) {
        whose.flags.as_ref().unwrap().change(Actions { set, clear, ..Actions::default() });
    }

    #[test]
    fn flags_are_of_one_session_and_one_process() {
        let setting = Actions { set: BOTH, ..Actions::default() };
        let [mut one, mut other] = [ProcessFilter::default(), ProcessFilter::default()];
        assert_eq!(one.prepare(Actions::default()).ok(), Some(false));
        assert!(one.is_everybodys() && one.is_for(process::current));
        assert_eq!([&mut one, &mut other].map(|whose| whose.prepare(setting).ok()), [Some(true); 2]);
        assert_eq!(one.prepare(setting).ok(), Some(false));
        assert!(!one.is_for(process::current));
        change(&one, BOTH, NONE);
        let says = |whose: &ProcessFilter| (whose.is_for(process::current), whose.flags.as_ref().unwrap().is_silent());
        assert_eq!((says(&one), says(&other)), ((true, true), (false, false)));
        std::thread::scope(|scope| scope.spawn(|| assert_eq!(says(&one), (false, false))).join().unwrap());
        change(&one, NONE, Flags { call: true, ..NONE });
        assert_eq!(says(&one), (false, true));
        change(&one, Flags { call: true, ..NONE }, Flags { silent: true, ..NONE });
        assert_eq!(says(&one), (true, false));
        // What comes in its place finds nothing of it.
        drop(one);
        let mut next = ProcessFilter::default();
        assert_eq!(next.prepare(setting).ok(), Some(true));
        assert_eq!(says(&next), (false, false));
    }
}
