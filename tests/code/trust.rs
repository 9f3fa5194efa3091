//! Misuse by safe code, each once a crash, a hang or a use of freed memory. `ci/faults` also runs these under AddressSanitizer.

use std::fs;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::sync::mpsc;
use std::task::{Context, Poll, Waker};
use std::thread;

use dyntrace::code::{self, Error, LoadError, Pending, Purged, View};
use dyntrace::recorder;
use dyntrace::trace;

use crate::memory;
use crate::support::{Turn, load, module};

/// Polls once, as an executor within a view would.
fn poll<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// Upgrades once, which would hang if a thread were pinned.
async fn upgrade() {
    load([&module("victim")]).await.unwrap();
    load([&module("victim")]).await.unwrap();
    assert_eq!(code::purge("victim").await.unwrap(), Purged::Kept);
    code::delete("victim").await.unwrap();
    code::purge("victim").await.unwrap();
}

#[tokio::test]
async fn views_end_in_the_order_in_which_they_nest() {
    let _turn = Turn::take().await;
    load([&module("victim")]).await.unwrap();
    View::with(|outer| {
        // An inner view leaves the outer one valid, also if it ends by a panic.
        View::with(|inner| assert_eq!(inner.modules().len(), outer.modules().len()));
        let panicked = catch_unwind(AssertUnwindSafe(|| View::with(|_| panic!("inside"))));
        assert!(panicked.is_err());
        // Another thread's change makes no progress during the view.
        let (say, said) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut finishing = Box::pin(code::finish([]));
                for _ in 0..100 {
                    say.send(poll(finishing.as_mut()).is_pending()).unwrap();
                }
            });
        });
        drop(say);
        assert!(said.iter().all(|is_pending| is_pending));
        assert_eq!(outer.modules()[0].current.as_ref().unwrap().version.as_ref(), "1.0.0");
    });
    upgrade_of_loaded().await;
}

async fn upgrade_of_loaded() {
    code::delete("victim").await.unwrap();
    code::purge("victim").await.unwrap();
    upgrade().await;
}

#[tokio::test]
async fn views_of_interleaved_tasks() {
    let _turn = Turn::take().await;
    let tasks = (0..2).map(|_| async {
        for _ in 0..20 {
            View::with(|view| assert!(view.modules().len() < 3));
            tokio::task::yield_now().await;
        }
    });
    let [one, other] = tasks.collect::<Vec<_>>().try_into().ok().unwrap();
    tokio::join!(one, other);
    upgrade().await;
}

#[tokio::test]
async fn a_change_inside_a_view_is_refused() {
    let _turn = Turn::take().await;
    let prepared = code::prepare(module("victim")).await.unwrap();
    let unloadable = code::prepare(module("billing")).await.unwrap();
    let kept = code::kept();
    let mut begun = Box::pin(code::finish([]));
    let (hold, held) = mpsc::channel::<()>();
    // It waits for another thread's view.
    let (say, said) = mpsc::channel();
    let other = thread::spawn(move || View::with(|_| (say.send(()), held.recv().is_err())).1);
    said.recv().unwrap();
    assert!(poll(begun.as_mut()).is_pending());
    View::with(|_| {
        assert!(matches!(poll(begun.as_mut()), Poll::Ready(Err(Error::InView))));
        assert!(matches!(poll(code::finish([prepared])), Poll::Ready(Err(Error::InView))));
        assert!(matches!(poll(code::prepare(module("victim"))), Poll::Ready(Err(Error::InView))));
        assert!(matches!(poll(code::delete("victim")), Poll::Ready(Err(Error::InView))));
        assert!(matches!(poll(code::purge("victim")), Poll::Ready(Err(Error::InView))));
        drop(unloadable);
    });
    assert_eq!(code::kept(), kept + 2, "the one may not be unmapped, and there was no waiting for the other");
    drop(hold);
    assert!(other.join().unwrap());
    upgrade().await;
}

#[dyntrace::traced]
fn bake(_bread: &str) {}

#[tokio::test]
async fn a_trace_setting_inside_a_view_is_refused() {
    let _turn = Turn::take().await;
    let session = trace::Session::start(trace::Limits::default(), |_| ()).unwrap();
    session.set("**::trust::bake do silent, count").await.unwrap();
    View::with(|_| {
        let refused = poll(session.set("**::trust::bake do return"));
        assert!(matches!(refused, Poll::Ready(Err(trace::Error::InView))), "{refused:?}");
        assert!(poll(session.include(dyntrace::process::current())).is_ready());
    });
    assert_eq!(session.info().patterns.len(), 1);
    bake("rye");
    assert_eq!(session.counts().len(), 1);
    assert!(View::with(|_| poll(session.close())).is_ready());
    upgrade().await;
}

#[tokio::test]
async fn a_recording_that_is_stopped_inside_a_view_says_so() {
    let turn = Turn::take().await;
    let recording = recorder::Session::start(recorder::Options::new(turn.path("trace"))).unwrap();
    let summary = View::with(|_| recording.stop()).unwrap();
    assert_eq!(summary.errors.len(), 1, "{summary:?}");
    assert!(summary.errors[0].to_string().contains("still inside"), "{summary:?}");
    upgrade().await;
}

/// Whether the thread started by a constructor is running.
fn has_early_bird() -> bool {
    let names =
        fs::read_dir("/proc/self/task").unwrap().map(|task| fs::read_to_string(task.unwrap().path().join("comm")));
    names.filter_map(Result::ok).any(|name| name == "early-bird\n")
}

/// Gives the thread time to run its code some hundred times.
fn give_it_time() {
    for _ in 0..300 {
        thread::sleep(std::time::Duration::from_millis(1));
    }
    assert!(has_early_bird());
}

#[tokio::test]
async fn a_thread_started_by_a_constructor_keeps_its_code() {
    let _turn = Turn::take().await;
    let kept = code::kept();
    drop(code::prepare(module("early")).await.unwrap());
    assert_eq!(code::kept(), kept + 1);
    give_it_time();

    let [one, other] = [code::prepare(module("early")).await.unwrap(), code::prepare(module("early")).await.unwrap()];
    assert!(matches!(code::finish([one, other]).await, Err(Error::Twice { .. })));
    assert_eq!(code::kept(), kept + 3);

    let refused = code::prepare(module("early_twice")).await;
    assert!(matches!(refused, Err(Error::Load(LoadError::ExportedTwice { .. }))), "{refused:?}");
    assert_eq!(code::kept(), kept + 4);
    give_it_time();
}

/// The test's allocator recognizes its memory; see `memory.rs`.
#[tokio::test]
async fn memory_that_a_constructor_takes_is_the_programs() {
    let _turn = Turn::take().await;
    load([&module("early")]).await.unwrap();
    let song = code::lookup::<fn() -> Option<String>>("early", "song").unwrap();
    let given = song.call().unwrap().unwrap();
    assert!(memory::is_own(given.as_ptr(), given.capacity()));
    assert_eq!(given, "an early bird's song".repeat(3));
    drop(given);
}

#[tokio::test]
async fn lifetimes_are_part_of_a_signature() {
    let _turn = Turn::take().await;
    load([&module("victim")]).await.unwrap();
    // A caller with a short-lived reference finds no export that keeps it. (A reference to a local does not compile: see tests/misuse.)
    for export in ["keep", "keep_alias"] {
        let refused = code::lookup::<fn(&str)>("victim", export);
        assert!(matches!(refused, Err(Error::Signature { .. })), "{export}: {refused:?}");
        code::lookup::<fn(&'static str)>("victim", export).unwrap().call("wheat").unwrap();
    }
    assert!(matches!(code::lookup::<fn(&'static str) -> usize>("victim", "length"), Err(Error::Signature { .. })));
    code::lookup::<fn(Vec<&'static str>)>("victim", "keep_all").unwrap().call(vec!["spelt"]).unwrap();
    let later = code::lookup::<fn(&'static str) -> Pending<()>>("victim", "keep_later").unwrap();
    later.call("oats").unwrap().await.unwrap();
    let length = code::lookup::<fn(&str) -> usize>("victim", "length").unwrap();
    assert_eq!(length.call(&String::from("local")).unwrap(), 5);
    let kept = code::lookup::<fn() -> String>("victim", "kept").unwrap();
    assert_eq!(kept.call().unwrap(), "wheat wheat spelt oats");
}

#[tokio::test]
async fn a_text_of_a_purged_version_is_there() {
    let _turn = Turn::take().await;
    load([&module("victim")]).await.unwrap();
    let name = code::lookup::<fn() -> &'static str>("victim", "name").unwrap().call().unwrap();
    load([&module("victim")]).await.unwrap();
    assert_eq!(code::purge("victim").await.unwrap(), Purged::Kept);
    assert_eq!(name, "rye bread, of the first version");
}
