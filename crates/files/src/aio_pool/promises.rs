//! Promises: detached jobs that have not ended. The end of a runtime and the exit of the process wait for them. Plain data under the
//! pool's lock.
//!
//! 1. A detached job *makes* a promise when the pool accepts it, for the runtime that its thread is in.
//! 2. The worker that has run it, or the thread that refuses it, *fulfils* the promise. A CLOSE that a worker submits while it ends a
//!    WRITE makes its promise before that of the WRITE is fulfilled, for the same runtime: the count does not reach 0 in between.
//! 3. When the process exits, promises are *closed*: other threads may submit more jobs, and the exit does not wait for those.

use tokio::runtime::Id;

/// The runtime in which a detached job was accepted, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Promise(pub Option<Id>);

/// Which promises a thread waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scope {
    Process,
    Runtime(Id),
}

impl Scope {
    fn covers(self, promise: Promise) -> bool {
        match self {
            Scope::Process => true,
            Scope::Runtime(id) => promise.0 == Some(id),
        }
    }
}

/// How many promises are open, by runtime. A vector: a program has few runtimes.
pub(super) struct Promises {
    open: Vec<(Promise, usize)>,
    closed: bool,
}

impl Promises {
    pub fn new() -> Self {
        Promises { open: Vec::new(), closed: false }
    }

    /// Step 1. Returns `None` if promises are closed.
    // Not inlined: the submission of every job would save more registers for it.
    #[inline(never)]
    pub fn make(&mut self, promise: Promise) -> Option<Promise> {
        if self.closed {
            return None;
        }
        match self.open.iter_mut().find(|(other, _)| *other == promise) {
            Some((_, count)) => *count += 1,
            None => self.open.push((promise, 1)),
        }
        Some(promise)
    }

    /// Step 2.
    pub fn fulfil(&mut self, promise: Promise) {
        if let Some(index) = self.open.iter().position(|(other, _)| *other == promise) {
            self.open[index].1 -= 1;
            // The entries in use now come again, so a few stay.
            if self.open[index].1 == 0 && self.open.len() > 4 {
                self.open.swap_remove(index);
            }
        }
    }

    /// Step 3.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn open(&self, scope: Scope) -> usize {
        self.open.iter().filter(|(promise, _)| scope.covers(*promise)).map(|(_, count)| count).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_runtime_has_its_own_promises() {
        let runtimes: Vec<_> = (0..8).map(|_| tokio::runtime::Builder::new_current_thread().build().unwrap()).collect();
        let promised: Vec<_> = runtimes.iter().map(|runtime| Promise(Some(runtime.handle().id()))).collect();
        let mut promises = Promises::new();
        for &promise in promised.iter().chain(&promised).chain(&[Promise(None)]) {
            assert_eq!(promises.make(promise), Some(promise));
        }
        let of = |index: usize| Scope::Runtime(runtimes[index].handle().id());
        assert_eq!((promises.open(of(0)), promises.open(Scope::Process)), (2, 17));
        promises.fulfil(promised[0]);
        promises.fulfil(promised[0]);
        assert_eq!((promises.open(of(0)), promises.open(of(1)), promises.open(Scope::Process)), (0, 2, 15));
        promises.close();
        assert_eq!(promises.make(promised[0]), None);
        assert_eq!(promises.open(of(0)), 0);
    }
}
