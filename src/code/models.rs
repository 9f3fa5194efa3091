//! Loom models: every interleaving of threads that change code and threads that call. A cell stands for a version's memory: callers read
//! it, and unloading writes it, so that loom reports a caller inside an unmapped version.
//!
//! Changes block their threads. The limits of the models of thread progress apply here, too.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use dyntrace_probes::primitives::atomic::{AtomicBool, AtomicUsize, Ordering};
use dyntrace_probes::primitives::thread;
use dyntrace_probes::thread_progress::UseSlot;
use loom::cell::UnsafeCell;

use super::call::export_entry::{ExportEntry, Target};
use super::call::export_name::ExportName;
use super::call::hold::Hold;
use super::change::changing::Abandoned;
use super::change::staging::put_in_force;
use super::lookup::signature::Signature;
use super::lookup::view::View;
use super::version::tables::{Change, Tables};
use crate::breakpoint::progress::progress;
use crate::permission;

fn model(interrupted: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(interrupted);
    builder.check(model);
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        // Pending only to give others a turn, since waits block here, and one thread makes all changes.
        if let Poll::Ready(answer) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return answer;
        }
    }
}

fn new_tables() -> &'static Tables {
    Box::leak(Box::new(Tables::new()))
}

fn new_entry(tables: &'static Tables, name: &str) -> &'static ExportEntry {
    let signature = <fn() as Signature>::HASH;
    tables.entry(ExportName { module: "model".into(), name: name.into(), signature })
}

/// The memory and counters of a version.
#[derive(Clone, Copy)]
struct Fake {
    memory: &'static UnsafeCell<usize>,
    target: Target,
}

impl Fake {
    fn new(number: u32) -> Fake {
        let memory: &'static _ = Box::leak(Box::new(UnsafeCell::new(number as usize)));
        let holds: &'static _ = Box::leak(Box::new(AtomicUsize::new(0)));
        let code = std::ptr::from_ref(memory).cast();
        Fake { memory, target: Target { code, place: UseSlot(number % 2), holds } }
    }

    /// Stands for unmapping it.
    fn free(self) {
        // SAFETY: loom's cell checks that no thread reads it meanwhile.
        self.memory.with_mut(|memory| unsafe { *memory = usize::MAX });
    }

    fn is_used(self) -> bool {
        !self.target.place.users().is_empty() || self.target.holds.load(Ordering::Acquire) != 0
    }
}

/// Stands for the callee: returns its version's number.
fn run(code: *const ()) -> usize {
    // SAFETY: targets point to the memory of fakes, which is never really freed.
    let memory = unsafe { &*code.cast::<UnsafeCell<usize>>() };
    // SAFETY: loom's cell checks that no thread writes meanwhile.
    memory.with(|memory| unsafe { *memory })
}

/// A thread's first call is pinned, later ones are not.
fn call(entry: &ExportEntry) -> Option<usize> {
    let entered = entry.enter().or_else(|| Some(entry.enter_pinned()?.0))?;
    Some(run(entered.code))
}

fn set(tables: &Tables, changes: Vec<Change>, abandoned: &Abandoned) -> bool {
    block_on(async {
        let permission = permission::acquire().await;
        put_in_force(tables, &permission, changes, abandoned).await
    })
}

fn load(tables: &Tables, entries: &[&'static ExportEntry], version: Fake) {
    let changes = entries.iter().map(|entry| Change::Export(entry, Some(version.target)));
    assert!(set(tables, changes.collect(), &Abandoned::default()));
}

/// Purges and unloads it.
fn unload(version: Fake) {
    block_on(progress());
    while version.is_used() {
        thread::yield_now();
    }
    version.free();
}

#[test]
fn loom_code_is_unloaded_when_two_callers_have_left_it() {
    model(2, || {
        let tables = new_tables();
        let entry = new_entry(tables, "unloaded");
        let [old, new] = [0, 1].map(Fake::new);
        load(tables, &[entry], old);
        let callers = [1, 2].map(|times| {
            thread::spawn(move || {
                for _ in 0..times {
                    assert!(call(entry).unwrap() <= 1);
                }
            })
        });
        load(tables, &[entry], new);
        unload(old);
        assert_eq!(call(entry), Some(1));
        callers.into_iter().for_each(|caller| caller.join().unwrap());
    });
}

/// Every index is reused while a thread calls twice: it never sees a replaced version again.
#[test]
fn loom_code_indices_go_round_under_a_caller() {
    model(2, || {
        let tables = new_tables();
        let entry = new_entry(tables, "round");
        load(tables, &[entry], Fake::new(0));
        let caller = thread::spawn(move || {
            let seen = [(); 2].map(|()| call(entry).unwrap());
            assert!(seen[0] <= seen[1] && seen[1] <= 4);
        });
        for number in 1..=4 {
            load(tables, &[entry], Fake::new(number));
        }
        caller.join().unwrap();
    });
}

/// Two exports are replaced at one instant for a view. Borrowed handles keep their version.
#[test]
fn loom_code_seen_through_a_view_fits_and_stays() {
    model(2, || {
        let tables = new_tables();
        let entries = [new_entry(tables, "one"), new_entry(tables, "other")];
        let [old, new] = [0, 1].map(Fake::new);
        load(tables, &entries, old);
        let reader = thread::spawn(move || {
            let borrowed: [(*const (), Hold); 2] =
                View::of(tables, |view| entries.map(|entry| view.hold(entry).unwrap()));
            let [one, other] = borrowed.each_ref().map(|(code, _)| run(*code));
            assert_eq!(one, other);
        });
        load(tables, &entries, new);
        unload(old);
        reader.join().unwrap();
    });
}

/// A thread that gets a message from a thread that has seen new code sees it too.
#[test]
fn loom_code_is_seen_by_who_is_told() {
    model(2, || {
        let tables = new_tables();
        let entry = new_entry(tables, "told");
        load(tables, &[entry], Fake::new(0));
        let message = Arc::new(AtomicBool::new(false));
        let sender = {
            let message = Arc::clone(&message);
            thread::spawn(move || {
                if call(entry) == Some(1) || call(entry) == Some(1) {
                    message.store(true, Ordering::Release);
                }
            })
        };
        let receiver = thread::spawn(move || {
            let _ = call(entry);
            if message.load(Ordering::Acquire) {
                assert_eq!(call(entry), Some(1));
            }
        });
        load(tables, &[entry], Fake::new(1));
        sender.join().unwrap();
        receiver.join().unwrap();
    });
}

/// A hold keeps the version after the call.
#[test]
fn loom_code_is_kept_by_a_hold() {
    model(3, || {
        let tables = new_tables();
        let entry = new_entry(tables, "held");
        let [old, new] = [0, 1].map(Fake::new);
        load(tables, &[entry], old);
        let caller = thread::spawn(move || {
            let (entered, hold) = entry.enter_and_hold().unwrap();
            let code = entered.code;
            drop(entered);
            assert!(run(code) <= 1);
            drop(hold);
        });
        load(tables, &[entry], new);
        unload(old);
        caller.join().unwrap();
    });
}

/// Tables without atomics are never written while a thread reads them; loom reports any such write.
#[test]
fn loom_code_tables_are_staged_where_nobody_looks() {
    model(2, || {
        let tables = new_tables();
        let reader = thread::spawn(move || {
            for _ in 0..2 {
                tables.look(|set| assert!(set.ranges.is_empty()));
            }
        });
        for start in 0..3 {
            assert!(set(tables, vec![Change::Range(start, None)], &Abandoned::default()));
        }
        reader.join().unwrap();
    });
}

/// A change abandoned at any time is made as a whole or not at all, and does not affect the next one.
#[test]
fn loom_code_change_is_abandoned() {
    model(2, || {
        let tables = new_tables();
        let entry = new_entry(tables, "abandoned");
        let [old, new] = [0, 1].map(Fake::new);
        load(tables, &[entry], old);
        let abandoned = Abandoned::default();
        let other = {
            let abandoned = abandoned.clone();
            thread::spawn(move || {
                thread::yield_now();
                abandoned.set();
            })
        };
        let caller = thread::spawn(move || assert!(call(entry).unwrap() <= 1));
        let is_in_force = set(tables, vec![Change::Export(entry, Some(new.target))], &abandoned);
        if is_in_force {
            unload(old);
        } else {
            new.free();
        }
        for _ in 0..3 {
            assert_eq!(call(entry), Some(usize::from(is_in_force)));
            load(tables, &[], old);
        }
        caller.join().unwrap();
        other.join().unwrap();
    });
}
