//! The pool from outside: its public interface only.

mod faults;
#[cfg(not(miri))]
mod forks;
mod lanes;
mod life;
#[cfg(all(target_os = "linux", not(miri)))]
mod serial;
mod shards;
mod threads;

use std::sync::{Arc, Mutex};

use crate::aio_pool::{Counts, Fault, Job, Pool};

/// A job that runs a closure, and logs how it was settled.
struct Noted {
    run: Box<dyn FnMut() -> u32 + Send>,
    log: Log,
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    fn job(&self, run: impl FnMut() -> u32 + Send + 'static) -> Noted {
        Noted { run: Box::new(run), log: self.clone() }
    }

    fn note(&self, line: String) {
        self.0.lock().unwrap().push(line);
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

impl Job for Noted {
    type Output = u32;

    fn run(&mut self) -> u32 {
        (self.run)()
    }

    fn count(&self, output: Option<&u32>, counts: &mut Counts) {
        counts.add("noted", "RUN", output.is_some(), 1);
    }

    fn settle(&mut self, outcome: Result<&u32, &Fault>) {
        self.log.note(format!("{outcome:?}"));
    }
}

/// A pool whose jobs `run_one` runs.
fn stepped() -> Pool {
    Pool::builder().threads(0).build()
}
