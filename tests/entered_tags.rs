//! An entered tag is in force between two calls, in its own task and scope, whatever becomes of its guard.
#![cfg(not(any(loom, miri)))]

use std::cell::RefCell;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use dyntrace::{EnteredTag, Tag, TagError, enter_tag, get_tag, get_tag_data, put_tag, spread_tag, take_tag, with_tag};
use proptest::prelude::*;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio::task::{LocalSet, block_in_place, spawn_local, yield_now};

fn in_force() -> Option<String> {
    get_tag_data().map(|tag| tag.to_string())
}

fn some(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn current_thread() -> Runtime {
    Builder::new_current_thread().build().unwrap()
}

fn multi_thread() -> Runtime {
    Builder::new_multi_thread().worker_threads(3).build().unwrap()
}

#[derive(Clone, Debug)]
enum Step {
    Enter,
    Drop(prop::sample::Index),
    Forget(prop::sample::Index),
    Set(prop::sample::Index),
}

proptest! {
    #[test]
    fn the_tag_entered_last_of_those_that_live_is_in_force(steps in prop::collection::vec(prop_oneof![
        3 => Just(Step::Enter),
        3 => any::<prop::sample::Index>().prop_map(Step::Drop),
        1 => any::<prop::sample::Index>().prop_map(Step::Forget),
        2 => any::<prop::sample::Index>().prop_map(Step::Set),
    ], 0..40)) {
        // A thread of its own: forgotten tags stay until it ends.
        thread::spawn(move || {
            let mut guards: Vec<(usize, EnteredTag)> = Vec::new();
            // By number of the step; in the order of entering.
            let mut alive: Vec<(usize, String)> = Vec::new();
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Enter => {
                        guards.push((number, enter_tag(number.to_string())));
                        alive.push((number, number.to_string()));
                    }
                    Step::Drop(which) if !guards.is_empty() => {
                        let (entered, guard) = guards.remove(which.index(guards.len()));
                        drop(guard);
                        alive.retain(|(one, _)| *one != entered);
                    }
                    Step::Forget(which) if !guards.is_empty() => mem::forget(guards.remove(which.index(guards.len()))),
                    Step::Set(which) if !guards.is_empty() => {
                        let (entered, guard) = &guards[which.index(guards.len())];
                        let tag = format!("set in {number}");
                        guard.set(&*tag);
                        alive.iter_mut().filter(|(one, _)| one == entered).for_each(|(_, old)| old.clone_from(&tag));
                    }
                    _ => {}
                }
                assert_eq!(in_force().as_ref(), alive.last().map(|(_, tag)| tag));
            }
        })
        .join()
        .expect("the assertions hold");
    }
}

#[test]
fn each_of_many_tokio_tasks_sees_its_own() {
    for runtime in [current_thread(), multi_thread()] {
        runtime.block_on(async {
            let tasks: Vec<_> = (0..200)
                .map(|number| {
                    let own = Tag::from(format!("request {number}"));
                    tokio::spawn(async move {
                        for _ in 0..50 {
                            assert_eq!(get_tag_data(), None);
                            let outer = enter_tag(&own);
                            let inner = enter_tag(format!("step of {own}"));
                            assert_eq!(in_force(), Some(format!("step of {own}")));
                            drop(outer);
                            assert_eq!(in_force(), Some(format!("step of {own}")));
                            drop(inner);
                            assert_eq!(put_tag("refused as ever"), Err(TagError::ForeignTask));
                            yield_now().await;
                        }
                    })
                })
                .collect();
            for task in tasks {
                task.await.expect("the assertions hold");
            }
        });
    }
}

#[test]
fn a_guard_held_across_an_await_reaches_no_other_task() {
    current_thread().block_on(LocalSet::new().run_until(async {
        put_tag("main").unwrap();
        let holder = spawn_local(async {
            let entered = enter_tag("held");
            yield_now().await;
            assert_eq!(in_force(), some("held"), "its own task, on its own thread");
            yield_now().await;
            drop(entered);
            assert_eq!(in_force(), None);
        });
        let other = spawn_local(async {
            for _ in 0..4 {
                assert_eq!(in_force(), None);
                let entered = enter_tag("other");
                assert_eq!(in_force(), some("other"));
                drop(entered);
                yield_now().await;
            }
        });
        for _ in 0..4 {
            assert_eq!(in_force(), some("main"));
            put_tag("main").unwrap();
            yield_now().await;
        }
        holder.await.unwrap();
        other.await.unwrap();
        take_tag();
    }));
}

#[test]
fn a_forgotten_guard_reaches_no_other_task() {
    let runtime = multi_thread();
    for _ in 0..100 {
        runtime
            .block_on(runtime.spawn(async {
                assert_eq!(in_force(), None);
                mem::forget(enter_tag("forgotten"));
                assert_eq!(in_force(), some("forgotten"));
            }))
            .unwrap();
        runtime.block_on(runtime.spawn_blocking(|| assert_eq!(in_force(), None))).unwrap();
        assert_eq!(in_force(), None);
    }
}

#[test]
fn a_future_with_a_tag_of_its_own_keeps_it() {
    current_thread().block_on(async {
        let outer = enter_tag("outer");
        let taken = with_tag("own", async {
            assert_eq!(in_force(), some("own"));
            let inner = enter_tag("inner");
            assert_eq!(in_force(), some("inner"));
            drop(outer);
            assert_eq!(in_force(), some("inner"));
            drop(inner);
            in_force()
        });
        assert_eq!(taken.await, some("own"));
        assert_eq!(in_force(), None, "dropped inside");
    });
}

#[test]
fn branches_of_a_task_do_not_see_each_others_held_guards() {
    for in_a_task in [true, false] {
        let branches = async {
            let holds = with_tag("first", async {
                let entered = enter_tag("held");
                assert_eq!(in_force(), some("held"));
                yield_now().await;
                assert_eq!(in_force(), some("first"), "it ends with the poll");
                yield_now().await;
                drop(entered);
                assert_eq!(in_force(), some("first"));
            });
            let looks = with_tag("second", async {
                for _ in 0..4 {
                    assert_eq!(in_force(), some("second"));
                    yield_now().await;
                }
            });
            tokio::join!(holds, looks);
            assert_eq!(in_force(), None);
        };
        current_thread().block_on(
            LocalSet::new()
                .run_until(async { if in_a_task { spawn_local(branches).await.unwrap() } else { branches.await } }),
        );
    }
}

#[test]
fn it_goes_before_the_tag_of_the_process() {
    current_thread().block_on(async {
        dyntrace::spawn(async {
            put_tag("process").unwrap();
            let entered = enter_tag("entered");
            assert_eq!((in_force(), get_tag().as_deref() == Some("process")), (some("entered"), true));
            assert_eq!(put_tag("changed").unwrap().as_deref(), Some("process"));
            assert_eq!(in_force(), some("entered"));
            drop(entered);
            assert_eq!(in_force(), some("changed"));
        })
        .await
        .unwrap();
    });
}

#[test]
fn processes_and_messages_carry_it_if_the_tag_spreads() {
    current_thread().block_on(async {
        let _entered = enter_tag("entered");
        assert_eq!(dyntrace::spawn(async { in_force() }).await.unwrap(), None);
        let before = spread_tag(true);
        assert_eq!(dyntrace::spawn(async { in_force() }).await.unwrap(), some("entered"));
        dyntrace::restore_tag(before).unwrap();
    });
}

#[test]
fn a_task_inside_of_a_task_has_its_own() {
    multi_thread().block_on(async {
        tokio::spawn(async {
            let _outer = enter_tag("outer");
            let inside = block_in_place(|| {
                Handle::current().block_on(LocalSet::new().run_until(async {
                    spawn_local(async {
                        let before = in_force();
                        let _inner = enter_tag("inner");
                        (before, in_force())
                    })
                    .await
                    .unwrap()
                }))
            });
            assert_eq!(inside, (None, some("inner")));
            assert_eq!(in_force(), some("outer"));
        })
        .await
        .unwrap();
    });
}

#[test]
fn closures_on_blocking_threads_have_their_own() {
    current_thread().block_on(async {
        let closure = || {
            let _entered = enter_tag("blocking");
            in_force()
        };
        assert_eq!(tokio::task::spawn_blocking(closure).await.unwrap(), some("blocking"));
        assert_eq!(tokio::task::spawn_blocking(in_force).await.unwrap(), None);
    });
}

#[test]
fn a_panic_ends_it() {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        let _entered = enter_tag("panics");
        panic!("a panic under a tag");
    }));
    assert!(caught.is_err());
    assert_eq!(in_force(), None);
}

#[test]
fn guards_may_outlive_the_threads_own_values() {
    struct Last(RefCell<Option<EnteredTag>>);
    impl Drop for Last {
        fn drop(&mut self) {
            self.0.take();
            let entered = enter_tag("in a destructor");
            entered.set("still");
            drop(entered);
            assert!(get_tag_data().is_none());
        }
    }
    thread_local! {
        static LAST: Last = const { Last(RefCell::new(None)) };
    }
    for before in [true, false] {
        // The platform chooses the order of destruction by the order of first use: both must do.
        thread::spawn(move || {
            if before {
                LAST.with(|_| ());
            }
            let entered = enter_tag("kept");
            LAST.with(|last| last.0.replace(Some(entered)));
        })
        .join()
        .expect("nothing panics in a destructor");
    }
}
