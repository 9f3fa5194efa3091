//! Memory allocated by calls: in total, and without the measured calls inside them.

use std::hint::black_box;
use std::panic::catch_unwind;

use dyntrace::trace::{Count, Limits, Memory, Session};
use dyntrace::traced;
use tokio::sync::Mutex;

use crate::support::Watch;

/// One test at a time, so that each counts only its own calls.
static ALONE: Mutex<()> = Mutex::const_new(());

#[traced]
fn leaf(deep: usize) -> Vec<u8> {
    let own = black_box(vec![0; 1000]);
    if deep > 0 { leaf(deep - 1) } else { own }
}

/// Its `Debug` allocates.
struct Wordy;

impl std::fmt::Debug for Wordy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&"x".repeat(10_000))
    }
}

#[traced]
fn branch(_word: Wordy) -> Wordy {
    let mut grows: Vec<u8> = Vec::with_capacity(100);
    grows.reserve_exact(300);
    black_box(&mut grows).shrink_to_fit();
    // Neither of them counts: one is freed, the other one is another thread's.
    drop(grows);
    untraced(50);
    leaf(2);
    Wordy
}

fn untraced(bytes: usize) {
    black_box(vec![1_u8; bytes]);
}

#[traced]
fn panics() {
    untraced(70);
    std::panic::resume_unwind(black_box(Box::new([0_u8; 200])));
}

#[traced]
async fn branches() {
    untraced(5);
    tokio::task::yield_now().await;
    leaf_later().await;
    untraced(7);
}

#[traced]
async fn leaf_later() {
    untraced(11);
    tokio::task::yield_now().await;
    untraced(13);
}

#[track_caller]
fn bytes(counts: &[Count], function: &str) -> (u64, u64, u64) {
    let name = format!("traced::memory::{function}/");
    let of = |count: &&Count| count.function.name.starts_with(&name);
    let Count { calls, memory, .. } = counts.iter().find(of).unwrap_or_else(|| panic!("{function}: {counts:?}"));
    let Memory { bytes, own_bytes, .. } = memory.unwrap_or_else(|| panic!("{function}: {counts:?}"));
    (*calls, bytes, own_bytes)
}

/// In every way of measuring calls: alone, timed, and with events whose texts allocate.
#[tokio::test]
async fn bytes_of_calls_and_their_own() {
    let _alone = ALONE.lock().await;
    for actions in ["silent, memory", "silent, memory, time", "memory, return, caller, current_stacktrace, exception"] {
        let session = Session::start(Limits::default(), |_| ()).unwrap();
        for function in ["branch", "leaf", "panics"] {
            session.set(&format!("**::memory::{function} do {actions}")).await.unwrap();
        }
        // Afterwards the thread has its one-time allocations.
        branch(Wordy);
        session.reset();
        branch(Wordy);
        branch(Wordy);
        let payload = catch_unwind(panics).unwrap_err();
        let counts = session.counts();
        assert_eq!(bytes(&counts, "branch"), (2, 2 * (300 + 50 + 3000), 2 * 350), "{actions}");
        // It calls itself: the bytes of an outer call include those of the inner calls.
        assert_eq!(bytes(&counts, "leaf"), (6, 2 * (1000 + 2000 + 3000), 6000), "{actions}");
        let (calls, all, own) = bytes(&counts, "panics");
        // Unwinding allocates, too.
        assert!(calls == 1 && all == own && (270..1000).contains(&all), "{actions}: {all} {own}");
        assert!(payload.is::<[u8; 200]>());
        assert_eq!(counts.iter().any(|count| !count.time.is_zero()), actions.contains("time"));
    }
}

#[tokio::test]
async fn asynchronous_functions_count_what_their_polls_allocate() {
    let _alone = ALONE.lock().await;
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    for function in ["branches", "leaf_later"] {
        session.set(&format!("**::memory::{function} do silent, memory")).await.unwrap();
    }
    // This run makes the runtime allocate the memory for its first tasks.
    branches().await;
    session.reset();
    // On the same thread, between the polls.
    let (_, ()) = tokio::join!(branches(), async {
        for _ in 0..5 {
            untraced(10_000);
            tokio::task::yield_now().await;
        }
    });
    let counts = session.counts();
    assert_eq!(bytes(&counts, "leaf_later"), (1, 24, 24));
    assert_eq!(bytes(&counts, "branches"), (1, 36, 12));
}

/// A pattern that counts calls can be changed to count memory, too; earlier counts stay.
#[tokio::test]
async fn memory_is_asked_for_later() {
    let _alone = ALONE.lock().await;
    let watch = Watch::on("**::memory::leaf do silent, count").await;
    let session = &watch.session;
    let id = session.info().patterns[0].id;
    leaf(0);
    assert_eq!(session.counts()[0].memory, None);
    session.update(id, "**::memory::leaf(deep) if deep == 0 do silent, memory").await.unwrap();
    leaf(1);
    assert_eq!(bytes(&session.reset(), "leaf"), (2, 1000, 1000));
    assert_eq!(bytes(&session.counts(), "leaf"), (0, 0, 0));
    let other = Session::start(Limits::default(), |_| ()).unwrap();
    other.set("**::memory::leaf do silent, memory").await.unwrap();
    leaf(1);
    assert_eq!(bytes(&other.counts(), "leaf"), (2, 3000, 2000));
    assert_eq!(bytes(&session.remove(id).await.unwrap(), "leaf"), (1, 1000, 1000));
}

/// Memory that tracing allocates for a thread's first counts is charged to no call.
#[tokio::test]
async fn tracing_is_not_counted() {
    let _alone = ALONE.lock().await;
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    for function in ["branch", "leaf"] {
        session.set(&format!("**::memory::{function} do silent, memory")).await.unwrap();
    }
    std::thread::spawn(|| branch(Wordy)).join().unwrap();
    let counts = session.counts();
    assert_eq!(bytes(&counts, "branch"), (1, 3350, 350));
}
