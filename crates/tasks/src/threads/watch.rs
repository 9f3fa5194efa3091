//! Threads that are looked at many times a second: most looks hold none.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::answer::{SystemCall, Thread};
use super::polled::Heaps;
use super::reading::{Stacks, copied, system_call, without_stack};
use crate::error::Error;
use crate::kernel::{self, ThreadFiles};
use crate::memory::live::Process;
use crate::program::Program;
use crate::reading::DebugInformation;

/// Looks at the threads of a program. Its knowledge of the program's code is prepared once.
pub struct Watch<'w, 'm, 'a> {
    process: &'w Process,
    heaps: &'w Heaps<'w>,
    stacks: &'w mut Stacks<'m, 'a>,
    files: HashMap<u32, ThreadFiles>,
}

/// Where a thread is, as the kernel shows it without holding the thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Glance {
    /// On a CPU, or ready for one.
    Runs,
    /// In a system call, or blocked outside of one.
    Stays(Stay),
}

/// A thread that is not running.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Stay {
    /// The system call. `None` if it is in none: it waits for a page, or stands still.
    pub system_call: Option<SystemCall>,
    /// The call's first argument.
    pub argument: u64,
    /// The kernel's text, with all arguments and registers.
    text: String,
}

impl Program {
    /// Lets `run` look at threads, as often as it likes.
    ///
    /// # Errors
    ///
    /// If the program has ended, or this is a core file.
    pub fn watch<R>(
        &self,
        information: &DebugInformation<'_>,
        run: impl FnOnce(Watch<'_, '_, '_>) -> R,
    ) -> Result<R, Error> {
        self.with_stacks(
            information,
            |_, _| (),
            |(), process, heaps, stacks| run(Watch { process, heaps, stacks, files: HashMap::new() }),
        )
    }
}

impl Watch<'_, '_, '_> {
    /// Returns the ids of the threads, in order.
    #[must_use]
    pub fn threads(&self) -> Vec<u32> {
        kernel::threads(self.process)
    }

    /// Returns where a thread is, by one file of the kernel's. `None` if it has ended, or if the kernel does not tell.
    #[must_use]
    pub fn glance(&mut self, tid: u32) -> Option<Glance> {
        let Some(text) = self.files(tid)?.call_text() else {
            self.files.remove(&tid);
            return None;
        };
        if text.starts_with("running") {
            return Some(Glance::Runs);
        }
        let call = kernel::call_in(&text);
        let argument = call.map_or(0, |call| call.arguments[0]);
        Some(Glance::Stays(Stay { system_call: call.map(|call| system_call(call.number, argument)), argument, text }))
    }

    /// Returns how often a thread has begun to run on a CPU. `None` if the kernel does not tell.
    #[must_use]
    pub fn runs(&mut self, tid: u32) -> Option<u64> {
        self.files(tid)?.runs()
    }

    fn files(&mut self, tid: u32) -> Option<&ThreadFiles> {
        match self.files.entry(tid) {
            Entry::Occupied(known) => Some(known.into_mut()),
            Entry::Vacant(new) => Some(new.insert(ThreadFiles::open(self.process, tid)?)),
        }
    }

    /// Returns a thread with the functions that it is in. Holds it for less than a millisecond. `None` if it has ended.
    #[must_use]
    pub fn thread(&mut self, tid: u32) -> Option<Thread> {
        let (told, copy) = copied(self.process, tid, self.heaps)?;
        Some(match copy {
            Ok(copy) => self.stacks.thread(tid, told, &copy),
            Err((ending, _)) => without_stack(tid, told, ending),
        })
    }
}
