//! A wait names the thread that is stopped in a hit.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use dyntrace::trace::{HeldUp, Session};
use dyntrace::traced;

use super::counting;
use crate::signals::Timer;
use crate::support::alone;

/// The system's number of the thread.
const NAME: &str = "kept-in-a-hit";

/// Whether the signal handler holds the thread.
static IS_KEPT: AtomicBool = AtomicBool::new(false);
/// Number of times that the handler has held it.
static KEPT: AtomicU64 = AtomicU64::new(0);
/// Number of times that it was released.
static ROUNDS: AtomicU64 = AtomicU64::new(0);
static IS_OVER: AtomicBool = AtomicBool::new(false);

#[traced]
#[inline(never)]
fn hit(number: u64) -> u64 {
    black_box(number)
}

#[traced]
fn other() {}

fn handler() {
    if IS_KEPT.load(Ordering::Relaxed) {
        KEPT.fetch_add(1, Ordering::Relaxed);
        while IS_KEPT.load(Ordering::Relaxed) {
            thread::yield_now();
        }
    }
}

/// Sets a pattern while the thread is held, and returns the thread that delayed the setting, if it was in a hit.
async fn set_beside_it(watch: &Session) -> Option<(HeldUp, Session)> {
    // Releases the thread first.
    let before = ROUNDS.load(Ordering::Relaxed);
    while ROUNDS.load(Ordering::Relaxed) == before {
        tokio::task::yield_now().await;
    }
    let before = KEPT.load(Ordering::Relaxed);
    IS_KEPT.store(true, Ordering::Relaxed);
    while KEPT.load(Ordering::Relaxed) == before {
        tokio::task::yield_now().await;
    }
    let seen = async {
        loop {
            if let Some(held_up) = watch.info().held_up {
                return held_up;
            }
            tokio::task::yield_now().await;
        }
    };
    let mut setting = std::pin::pin!(counting("**::held_up::other do silent, count"));
    let seen = tokio::select! {
        biased;
        set = &mut setting => Err(set),
        seen = seen => Ok(seen),
    };
    IS_KEPT.store(false, Ordering::Relaxed);
    match seen {
        Ok(seen) => Some((seen, setting.await)),
        Err(set) => {
            // Before the next setting, or this one's removal might be delayed then.
            set.close().await;
            None
        }
    }
}

#[test]
fn a_session_names_who_held_it_up() {
    let _alone = alone();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    // The linker drops an uncalled function with its site.
    other();
    runtime.block_on(async {
        let watch = counting("**::held_up::hit do silent, count").await;
        let thread = thread::Builder::new().name(NAME.into()).spawn(|| {
            // A handler cannot allocate the thread's data for its first count.
            hit(0);
            let _timer = Timer::start(Duration::from_millis(1), Duration::from_millis(1), handler);
            while !IS_OVER.load(Ordering::Relaxed) {
                (0..1000).for_each(|number| _ = hit(number));
                ROUNDS.fetch_add(1, Ordering::Relaxed);
            }
        });
        // A signal interrupts a hit often, not always. And the delayed setting may be another test's, queued before this one, which then has
        // nothing to wait for.
        let (now, held_up) = loop {
            if let Some((now, set)) = set_beside_it(&watch).await
                && let Some(held_up) = set.close().await.held_up
            {
                break (now, held_up);
            }
        };
        for held_up in [now, held_up] {
            assert!(held_up.threads.iter().any(|thread| thread.ends_with(&format!("({NAME})"))), "{held_up}");
            assert!(!held_up.time.is_zero());
        }
        IS_OVER.store(true, Ordering::Relaxed);
        thread.unwrap().join().unwrap();
    });
}
