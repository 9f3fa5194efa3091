//! Forks of a program while functions are traced and settings change.

use std::future::Future;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dyntrace::traced;

use super::{Watch, calls, counting, tracers};
use crate::forked::in_child;
use crate::support::{alone, inside_of, run, times};

#[traced]
fn forked(number: u32) -> u32 {
    number.wrapping_mul(2)
}

#[traced]
fn elsewhere(number: u32) -> u32 {
    number
}

fn block_on<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// The parent's session has ended in the child, which can start others.
fn traces_anew(parents: &Watch) {
    assert_eq!(forked(7), 14);
    assert!(parents.session.info().is_over);
    assert!(block_on(parents.session.set("**::fork::forked")).is_err());
    block_on(async {
        let watch = Watch::on("**::fork::forked do return, count").await;
        assert_eq!(thread::spawn(|| forked(8)).join().unwrap(), 16);
        assert_eq!(forked(9), 18);
        assert_eq!(calls(&watch.session), 2);
        let (events, info) = watch.end().await;
        let told: Vec<_> = events.iter().map(|event| event.text.to_string()).collect();
        assert_eq!((told.join(" "), info.dropped), ("8 16 9 18".to_owned(), 0));
    });
}

#[test]
fn children_trace_anew() {
    if inside_of().is_none() {
        let _alone = alone();
        let place = tempfile::tempdir().unwrap();
        // No other test may fork, or be forked, in this process.
        return run("traced::fork::children_trace_anew", place.path(), &[]);
    }
    let stop = &AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(move || (0..).take_while(|_| !stop.load(Ordering::Relaxed)).map(elsewhere).for_each(drop));
        // At each fork some thread is in a setting, a count or an event. No thread starts or ends meanwhile: if one does during a
        // fork, the child cannot start threads by the standard library.
        let others = block_on(counting("**::fork::elsewhere do return, count, time"));
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                others.counts();
                // After some, the limit is reached; the steps are the same.
                let _ = block_on(others.set("**::fork::elsewhere do return"));
            }
        });
        let _stop = AtEnd(stop);
        let watch = block_on(Watch::on("**::fork::forked do return, count"));
        let forks = times(20, 300);
        for _ in 0..forks {
            forked(1);
            in_child(|| {
                traces_anew(&watch);
                // As above.
                while tracers() > 0 {
                    thread::yield_now();
                }
                in_child(|| traces_anew(&watch));
                traces_anew(&watch);
            });
        }
        assert_eq!(calls(&watch.session), forks as u64);
        let (events, info) = block_on(watch.end());
        assert_eq!(events.len() + info.dropped as usize, 2 * forks);
    });
}

/// Ends the threads, also when the test fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
