//! Detached jobs that have not ended: what the end of a runtime, and the exit of the process, wait for. Plain data under the pool's
//! lock.
//!
//! 1. A detached job *makes* a promise when it is accepted, in the name of the runtime that its thread is in.
//! 2. The worker that has done it, or the thread that refuses it, *keeps* the promise. A CLOSE that a worker submits while it ends a
//!    WRITE is promised before the WRITE's promise is kept, in the same name: the count has no gap between them.
//! 3. When the process exits the promises are *closed*: others may go on to submit, and nobody waits for that.

use tokio::runtime::Id;

/// One job that somebody relies on; the runtime it was accepted in, if any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Promise(pub Option<Id>);

/// Which promises are waited for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Of {
    Everybody,
    Runtime(Id),
}

impl Of {
    fn covers(self, promise: Promise) -> bool {
        match self {
            Of::Everybody => true,
            Of::Runtime(id) => promise.0 == Some(id),
        }
    }
}

/// How many are made and not kept, by runtime. A vector: a program has few runtimes.
pub(super) struct Promises {
    open: Vec<(Promise, usize)>,
    closed: bool,
}

impl Promises {
    pub fn new() -> Self {
        Promises { open: Vec::new(), closed: false }
    }

    /// Step 1. `None`: nobody will wait.
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
    pub fn keep(&mut self, promise: Promise) {
        if let Some(index) = self.open.iter().position(|(other, _)| *other == promise) {
            self.open[index].1 -= 1;
            // The threads' own, and the runtime that works now, come again.
            if self.open[index].1 == 0 && self.open.len() > 4 {
                self.open.swap_remove(index);
            }
        }
    }

    /// Step 3.
    pub fn close(&mut self) {
        self.closed = true;
    }

    pub fn owed(&self, of: Of) -> usize {
        self.open.iter().filter(|(promise, _)| of.covers(*promise)).map(|(_, count)| count).sum()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_runtime_is_owed_its_own() {
        let runtimes: Vec<_> = (0..8).map(|_| tokio::runtime::Builder::new_current_thread().build().unwrap()).collect();
        let promised: Vec<_> = runtimes.iter().map(|runtime| Promise(Some(runtime.handle().id()))).collect();
        let mut promises = Promises::new();
        for &promise in promised.iter().chain(&promised).chain(&[Promise(None)]) {
            assert_eq!(promises.make(promise), Some(promise));
        }
        let of = |index: usize| Of::Runtime(runtimes[index].handle().id());
        assert_eq!((promises.owed(of(0)), promises.owed(Of::Everybody)), (2, 17));
        promises.keep(promised[0]);
        promises.keep(promised[0]);
        assert_eq!((promises.owed(of(0)), promises.owed(of(1)), promises.owed(Of::Everybody)), (0, 2, 15));
        promises.close();
        assert_eq!(promises.make(promised[0]), None);
        assert_eq!(promises.owed(of(0)), 0);
    }
}
