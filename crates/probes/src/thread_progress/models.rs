//! Models: every order of steps of a few threads, and every value that a load may see.
//!
//! Not modelled: `membarrier`, which loom does not know; `tgkill` and threads that end; forks. Pins have barriers of their own here: a
//! pin's fence stands where the waiting thread's barrier would interrupt it. Signal handlers are calls at the places where a signal
//! could arrive.

use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use loom::cell::UnsafeCell;

use super::os;
use super::pending::late;
use super::pin::{OWN, REGISTRY, claim, pin};
use super::record::Record;
use super::wait::{wait, wait_blocking};
use crate::primitives::atomic::{AtomicUsize, Ordering};
use crate::primitives::{self, Condvar, Mutex, thread};

/// Two values and which of them readers follow. Loom reports a reader that is inside one when it is changed.
struct Published {
    current: AtomicUsize,
    values: [UnsafeCell<u32>; 2],
}

impl Published {
    fn new() -> Arc<Published> {
        let values = [UnsafeCell::new(0), UnsafeCell::new(0)];
        Arc::new(Published { current: AtomicUsize::new(0), values })
    }

    /// To be called while pinned.
    fn read(&self) {
        // Relaxed: pins and waits alone must keep order. The values themselves are there from the beginning.
        let current = self.current.load(Ordering::Relaxed);
        // SAFETY: loom's cell checks that no other thread writes meanwhile.
        self.values[current].with(|value| unsafe { *value });
    }

    fn replace(&self) {
        self.replace_after(|| wait_blocking(Duration::from_secs(60)).unwrap());
    }

    fn replace_after(&self, wait: impl FnOnce()) {
        self.current.store(1, Ordering::Relaxed);
        wait();
        // SAFETY: loom's cell checks that no other thread reads meanwhile.
        self.values[0].with_mut(|value| unsafe { *value = 1 });
    }
}

/// Wakes a thread that runs a future.
#[derive(Default)]
struct Alarm {
    has_rung: Mutex<bool>,
    bell: Condvar,
}

impl Wake for Alarm {
    fn wake(self: Arc<Alarm>) {
        *primitives::lock(&self.has_rung) = true;
        self.bell.notify_one();
    }
}

fn block_on(mut future: impl Future + Unpin) {
    let alarm = Arc::new(Alarm::default());
    let waker = Waker::from(Arc::clone(&alarm));
    while Pin::new(&mut future).poll(&mut Context::from_waker(&waker)).is_pending() {
        let mut has_rung = primitives::lock(&alarm.has_rung);
        while !*has_rung {
            has_rung = primitives::wait(&alarm.bell, has_rung);
        }
        *has_rung = false;
    }
}

fn model(interrupted: Option<usize>, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = interrupted;
    builder.check(model);
}

#[test]
fn loom_progress_a_wait_outlasts_pins() {
    model(None, || {
        let published = Published::new();
        let reader = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                let pinned = pin().unwrap();
                published.read();
                drop(pinned);
            })
        };
        published.replace();
        reader.join().unwrap();
    });
}

/// Pins again while it is waited for: the second pin may be taken for the first one or not, but not followed too far.
#[test]
fn loom_progress_a_wait_outlasts_pins_of_two_threads_that_come_again() {
    model(Some(3), || {
        let published = Published::new();
        let readers = [1, 2].map(|times| {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                for _ in 0..times {
                    let _pinned = pin().unwrap();
                    published.read();
                }
            })
        });
        published.replace();
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

#[test]
fn loom_progress_a_task_that_waits_outlasts_pins_of_two_threads() {
    model(Some(2), || {
        let published = Published::new();
        let readers = [(); 2].map(|()| {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                let _pinned = pin().unwrap();
                published.read();
            })
        });
        published.replace_after(|| block_on(wait()));
        readers.into_iter().for_each(|reader| reader.join().unwrap());
    });
}

/// Two tasks wait, and one of them is dropped. The maintenance thread ends, and another may start.
#[test]
fn loom_progress_a_wait_that_is_dropped_leaves_nothing() {
    model(Some(2), || {
        let published = Published::new();
        let reader = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                let _pinned = pin().unwrap();
                published.read();
            })
        };
        let mut dropped = wait();
        let _ = Pin::new(&mut dropped).poll(&mut Context::from_waker(Waker::noop()));
        drop(dropped);
        published.replace_after(|| block_on(wait()));
        reader.join().unwrap();
        assert!(late(Duration::ZERO).is_empty());
    });
}

#[test]
fn loom_progress_a_task_does_not_sleep_where_nobody_is_inside() {
    model(None, || {
        thread::spawn(|| drop(pin().unwrap())).join().unwrap();
        assert_eq!(Pin::new(&mut wait()).poll(&mut Context::from_waker(Waker::noop())), Poll::Ready(None));
    });
}

#[test]
fn loom_progress_the_outermost_pin_counts() {
    model(Some(4), || {
        let published = Published::new();
        let reader = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                let _outer = pin().unwrap();
                drop(pin().unwrap());
                published.read();
            })
        };
        published.replace();
        reader.join().unwrap();
    });
}

/// Handlers that pin between the load and the store of an outer pin's beginning, and inside of it.
#[test]
fn loom_progress_handlers_come_in_anywhere() {
    model(Some(3), || {
        let published = Published::new();
        let handler = |published: &Published| {
            let _pinned = pin().unwrap();
            published.read();
        };
        let reader = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                let record = claim().unwrap();
                let outside = record.own_word();
                handler(&published);
                record.set_word(outside.entered()); // sets completions back
                loom::sync::atomic::fence(Ordering::SeqCst);
                published.read();
                handler(&published);
                record.leave(outside.after_pin());
            })
        };
        published.replace();
        reader.join().unwrap();
    });
}

/// The writes of a pinned thread are visible after the wait.
#[test]
fn loom_progress_what_was_done_inside_happened_before() {
    model(None, || {
        let published = Published::new();
        let writer = {
            let published = Arc::clone(&published);
            thread::spawn(move || {
                let _pinned = pin().unwrap();
                if published.current.load(Ordering::Relaxed) == 0 {
                    // SAFETY: loom's cell checks that no other thread uses it.
                    published.values[0].with_mut(|value| unsafe { *value += 1 });
                }
            })
        };
        published.replace();
        writer.join().unwrap();
    });
}

/// More threads than a block has records, one of them after a thread that ended: each gets a record of its own.
#[test]
fn loom_progress_each_thread_has_its_own_record() {
    const ENDED: u32 = 99;
    model(Some(3), || {
        REGISTRY.claim(ENDED, |_| false).unwrap();
        let claim = || REGISTRY.claim(os::thread_id(), |thread| thread == ENDED).unwrap();
        let others = [(); 2].map(|()| thread::spawn(move || std::ptr::from_ref(claim()).addr()));
        let own = std::ptr::from_ref(claim()).addr();
        let [one, two] = others.map(|other| other.join().unwrap());
        assert!(own != one && one != two && two != own);
    });
}

/// A first pin is interrupted by a handler's first pin, before and after the record is taken.
#[test]
fn loom_progress_a_handler_may_claim_first() {
    model(None, || {
        let handlers: &Record = claim().unwrap();
        OWN.with(|own| own.set(None));
        let own = claim().unwrap();
        assert!(std::ptr::eq(own, handlers), "the id names the record");
        assert!(std::ptr::eq(claim().unwrap(), own));
        assert!(OWN.with(Cell::get).is_some());
    });
}
