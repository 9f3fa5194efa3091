//! Trace flags of processes, as the actions `set` and `clear` of a session's patterns leave them.
//!
//! Only the process itself sets and reads its flags, so they lie in one of the [words](crate::process::word) that belong to the process.
//! Nothing is shared, locked, or freed when a process ends. Each session with such patterns has a word for itself while it lasts. A word
//! holds the number of the session that wrote it, and means nothing to later sessions.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dyntrace_probes::forks::hold_across_forks;

use crate::breakpoint::error::Error;
use crate::breakpoint::pattern::Actions;
use dyntrace_processes::process::{self, Pid, PidFilter, Processes, WORDS};

/// The flags of one session.
pub(crate) struct ProcessFlags {
    word: usize,
    /// In the bits of [`NUMBER`].
    number: u32,
}

/// Its children inherit its flags.
const SET_ON_SPAWN: u32 = process::INHERITED;
/// The session matches its calls.
const CALL: u32 = 1 << 1;
/// The session does not match its calls. With neither flag, the session's list of processes decides.
const NO_CALL: u32 = 1 << 2;
/// Its calls send no events.
const SILENT: u32 = 1 << 3;
/// The bits of the session's number.
const NUMBER: u32 = !(SET_ON_SPAWN | CALL | NO_CALL | SILENT);

/// The words that sessions have.
static TAKEN: Mutex<[bool; WORDS]> = Mutex::new([false; WORDS]);

/// No code panics under this lock.
fn taken() -> MutexGuard<'static, [bool; WORDS]> {
    TAKEN.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ProcessFlags {
    pub(crate) fn new() -> Result<ProcessFlags, Error> {
        hold_across_forks!([bool; WORDS], taken());
        static LAST: AtomicU32 = AtomicU32::new(0);
        let mut taken = taken();
        let word = taken.iter().position(|taken| !taken).ok_or(Error::TooManyFlagging { most: WORDS })?;
        taken[word] = true;
        // Relaxed: numbers only have to differ. No session has number 0.
        let number = LAST.fetch_add(SILENT << 1, Ordering::Relaxed).wrapping_add(SILENT << 1).max(SILENT << 1);
        Ok(ProcessFlags { word, number })
    }

    fn flags(&self) -> u32 {
        let word = process::word(self.word);
        if word & NUMBER == self.number { word & !NUMBER } else { 0 }
    }

    /// Returns whether calls of the current process are matched, if a flag says so.
    fn call(&self) -> Option<bool> {
        match self.flags() & (CALL | NO_CALL) {
            0 => None,
            flags => Some(flags == CALL),
        }
    }

    pub(crate) fn is_silent(&self) -> bool {
        self.flags() & SILENT != 0
    }

    /// Changes the flags for the next calls of the current process.
    pub(crate) fn change(&self, actions: Actions) {
        let Actions { set, clear, .. } = actions;
        let when = |is_wanted: bool, flags: u32| if is_wanted { flags } else { 0 };
        // The session matches this call. The children inherit that, though the session's list does not have them.
        let calls = set.call || (set.set_on_spawn && !clear.call);
        let away = when(calls || clear.call, CALL | NO_CALL)
            | when(clear.silent, SILENT)
            | when(clear.set_on_spawn, SET_ON_SPAWN);
        let new = when(calls, CALL)
            | when(clear.call, NO_CALL)
            | when(set.silent, SILENT)
            | when(set.set_on_spawn, SET_ON_SPAWN);
        process::set_word(self.word, self.number | self.flags() & !away | new);
    }
}

impl Drop for ProcessFlags {
    fn drop(&mut self) {
        taken()[self.word] = false;
    }
}

/// The processes whose calls a session matches.
#[derive(Clone, Default)]
pub(crate) struct ProcessFilter {
    /// The named processes; `None`: all.
    pub(crate) named: Option<Arc<Processes>>,
    /// The flags that its patterns set.
    pub(crate) flags: Option<Arc<ProcessFlags>>,
}

impl ProcessFilter {
    pub(crate) fn takes_every_process(&self) -> bool {
        self.named.as_ref().is_none_or(|named| named.are_all()) && self.flags.is_none()
    }

    pub(crate) fn pid_filter(&self) -> PidFilter {
        match &self.named {
            Some(named) if self.flags.is_none() => named.pid_filter(),
            _ => PidFilter::ALL,
        }
    }

    /// Returns whether it passes the current process. Calls `current` only if needed.
    #[inline]
    pub(crate) fn is_for(&self, current: impl FnOnce() -> Pid) -> bool {
        let said = self.flags.as_ref().and_then(|flags| flags.call());
        said.unwrap_or_else(|| self.named.as_ref().is_none_or(|named| named.contains(current())))
    }

    /// Prepares the filter for a pattern with these actions.
    pub(crate) fn prepare(&mut self, actions: Actions) -> Result<Prepared, Error> {
        if !actions.changes_flags() {
            return Ok(Prepared::default());
        }
        let is_first = self.flags.is_none();
        if is_first {
            self.flags = Some(Arc::new(ProcessFlags::new()?));
        }
        let limits = actions.set.call && self.named.is_none();
        if limits {
            self.named = Some(Arc::default());
        }
        Ok(Prepared { is_first, limits })
    }

    /// Undoes the preparation for a pattern that was set nowhere, where no other one needs it. Returns whether that changes which calls
    /// other patterns match.
    pub(crate) fn take_back(&mut self, prepared: Prepared) -> bool {
        if prepared.is_first {
            self.flags = None;
        }
        // Unless the program has named processes meanwhile.
        if prepared.limits && self.named.as_deref() == Some(&Processes::default()) {
            self.named = None;
        }
        prepared.concerns_others()
    }
}

/// The changes of a pattern in the filter of its session.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Prepared {
    /// It was the first one that changes flags.
    is_first: bool,
    /// It limits the session to flagged processes.
    limits: bool,
}

impl Prepared {
    /// Returns whether that changes which calls other patterns match.
    pub(crate) fn concerns_others(self) -> bool {
        self.is_first || self.limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::breakpoint::pattern::Flags;

    const NONE: Flags = Flags { call: false, silent: false, set_on_spawn: false };
    const BOTH: Flags = Flags { call: true, silent: true, set_on_spawn: false };

    fn change(filter: &ProcessFilter, set: Flags, clear: Flags) {
        filter.flags.as_ref().unwrap().change(Actions { set, clear, ..Actions::default() });
    }

    #[test]
    fn flags_are_of_one_session_and_one_process() {
        let setting = Actions { set: BOTH, ..Actions::default() };
        let [mut one, mut other] = [ProcessFilter::default(), ProcessFilter::default()];
        let prepared =
            |filter: &mut ProcessFilter, actions| filter.prepare(actions).ok().map(Prepared::concerns_others);
        assert_eq!(prepared(&mut one, Actions::default()), Some(false));
        assert!(one.takes_every_process() && one.is_for(process::current));
        assert_eq!([&mut one, &mut other].map(|filter| prepared(filter, setting)), [Some(true); 2]);
        assert_eq!(prepared(&mut one, setting), Some(false));
        assert!(!one.is_for(process::current));
        change(&one, BOTH, NONE);
        let says =
            |filter: &ProcessFilter| (filter.is_for(process::current), filter.flags.as_ref().unwrap().is_silent());
        assert_eq!((says(&one), says(&other)), ((true, true), (false, false)));
        std::thread::scope(|scope| scope.spawn(|| assert_eq!(says(&one), (false, false))).join().unwrap());
        change(&one, NONE, Flags { call: true, ..NONE });
        assert_eq!(says(&one), (false, true));
        change(&one, Flags { call: true, ..NONE }, Flags { silent: true, ..NONE });
        assert_eq!(says(&one), (true, false));
        // The next session with this word finds no flags.
        drop(one);
        let mut next = ProcessFilter::default();
        assert_eq!(prepared(&mut next, setting), Some(true));
        assert_eq!(says(&next), (false, false));
    }
}
