//! Futures of a session that are dropped at each of their awaits; functions of modules that are upgraded.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::mpsc::sync_channel;
use std::task::Context;
use std::thread;
use std::time::Duration;

use dyntrace_probes::thread_progress::pin;

use super::*;
use crate::breakpoint::libraries::{self, LibrarySites, modules};
use crate::breakpoint::site::{Function, Site};
use crate::breakpoint::state::generic_bp::{Bp, Generation};
use crate::permission;
use dyntrace_processes::unpark::{block_on, waker};

/// Adds a function, as a library that is loaded.
fn arrived(name: &'static str) -> &'static Site {
    let function: &Function = Box::leak(Box::new(Function::new(name, "", 0, &[])));
    let sites: &'static [Site] = Vec::leak(vec![Site::new(function)]);
    // SAFETY: no thread calls the function, and the site stays.
    unsafe { libraries::arrive(LibrarySites::new(sites, None), Vec::new()) };
    &sites[0]
}

/// Returns the patterns in force at the site, each with whether it matches the calls of all processes.
async fn in_force(site: &Site) -> Vec<(String, bool)> {
    let _permission = permission::acquire().await;
    let data = Bp::of(site).and_then(|bp| bp.with_active(Generation::clone));
    let entries = data.iter().flat_map(|data| &data.entries);
    entries.map(|entry| (entry.set.pattern.to_string(), entry.filter.takes_every_process())).collect()
}

/// Polls the future until it has ended or this number of its polls were pending. Each of its waits for other threads is pending at first.
/// Returns whether it has ended.
fn ends_within(pending: usize, future: impl Future) -> bool {
    let mut future = pin!(future);
    let waker = waker();
    thread::scope(|scope| {
        let (ask, asked) = sync_channel(0);
        scope.spawn(move || {
            let mut pinned = pin();
            while asked.recv().is_ok() {
                drop(pinned);
                pinned = pin();
                if asked.recv().is_err() {
                    break;
                }
            }
        });
        // The second message arrives when the thread is pinned again.
        let go_on = || [(); 2].map(|()| ask.send(()).unwrap());
        go_on();
        for _ in 0..pending {
            if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
                return true;
            }
            go_on();
            // Until the waiting is over, or another test's pinned thread waits for this one's.
            thread::park_timeout(Duration::from_millis(10));
        }
        false
    })
}

fn in_the_end(condition: impl Fn() -> bool) {
    while !condition() {
        thread::yield_now();
    }
}

/// The session's own pattern, which must stay.
const BESIDE: &str = "session::beside do silent";

#[test]
fn a_pattern_whose_setting_is_dropped_is_set_nowhere() {
    const PATTERN: &str = "session::new do silent, set(call)";
    let [beside, new] = ["session::beside/0", "session::new/0"].map(arrived);
    for way in 0..3 {
        for pending in 1.. {
            let session = Session::start(Limits::default(), |_| ()).unwrap();
            block_on(session.set(BESIDE)).unwrap();
            let has_ended = match way {
                0 => ends_within(pending, session.set(PATTERN)),
                1 => ends_within(pending, session.set_default(PATTERN)),
                _ => ends_within(pending, session.set_meta(PATTERN, |_| ())),
            };
            if has_ended {
                assert!(pending > 2, "way {way}: {pending} awaits");
                break;
            }
            assert_eq!(session.info().patterns.len(), 1, "way {way}, {pending} awaits");
            assert_eq!(session.info().processes, Processes::all(), "way {way}, {pending} awaits");
            in_the_end(|| block_on(in_force(new)).is_empty());
            in_the_end(|| block_on(in_force(beside)) == [(BESIDE.to_owned(), true)]);
            assert_eq!(block_on(in_force(arrived("session::new/0"))), []);
        }
    }
}

#[test]
fn a_change_that_is_dropped_is_made_in_the_background() {
    const CHANGED: &str = "session::changed do silent, count";
    const REPLACED: &str = "session::changed do silent, time";
    let changed = arrived("session::changed/0");
    for way in 0..5 {
        for pending in 1.. {
            let session = Session::start(Limits::default(), |_| ()).unwrap();
            let set = block_on(async {
                match way {
                    0 => session.set_meta(CHANGED, |_| ()).await,
                    _ => session.set(CHANGED).await,
                }
            });
            let id = set.unwrap().id;
            let is_made = |expected: &[(&str, bool)]| {
                let found = block_on(in_force(changed));
                found.iter().map(|(pattern, takes_all)| (&**pattern, *takes_all)).eq(expected.iter().copied())
            };
            let has_ended = match way {
                0 | 1 => ends_within(pending, session.remove(id)),
                2 => ends_within(pending, session.update(id, REPLACED)),
                3 => ends_within(pending, session.include(dyntrace_processes::process::current())),
                _ => {
                    let has_ended = ends_within(pending, session.close());
                    in_the_end(|| is_made(&[]));
                    if has_ended {
                        break;
                    }
                    continue;
                }
            };
            match way {
                0 | 1 => {
                    assert!(session.info().patterns.is_empty() && session.metas.all().is_empty());
                    in_the_end(|| is_made(&[]));
                }
                2 => in_the_end(|| is_made(&[(REPLACED, true)])),
                _ => in_the_end(|| is_made(&[(CHANGED, false)])),
            }
            if has_ended {
                assert!(pending > 2, "way {way}: {pending} awaits");
                break;
            }
        }
    }
}

/// One arrives before each poll: the setting ends nevertheless, and is in force at those that came meanwhile.
#[test]
fn a_pattern_is_set_while_libraries_arrive() {
    const PATTERN: &str = "session::arriving do silent";
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    let mut sites = vec![arrived("session::arriving/0")];
    for is_default in [false, true] {
        let mut setting: Pin<Box<dyn Future<Output = _>>> = match is_default {
            false => Box::pin(session.set(PATTERN)),
            true => Box::pin(session.set_default(PATTERN)),
        };
        let while_they_arrive = poll_fn(|cx| {
            sites.push(arrived("session::arriving/0"));
            setting.as_mut().poll(cx).map(|set| assert!(set.is_ok(), "{set:?}"))
        });
        assert!(ends_within(50, while_they_arrive), "default: {is_default}");
    }
    for site in sites {
        assert!(block_on(in_force(site)).contains(&(PATTERN.to_owned(), true)));
    }
}

/// Each version has the function at another line, as after a change of its source. Every second old version is purged and unmapped.
#[test]
#[cfg(target_os = "linux")]
fn functions_of_old_versions_are_counted_beside_the_current_ones() {
    const PATTERN: &str = "session::upgraded do silent, count";
    let version = |line| {
        let function: &Function = Box::leak(Box::new(Function::new("session::upgraded/0", "", line, &[])));
        modules::Sites::new(Vec::leak(vec![Site::new(function)]), "module")
    };
    let session = Session::start(Limits::default(), |_| ()).unwrap();
    let mut current = version(1);
    // SAFETY: no thread calls the function, and the site stays.
    unsafe { modules::arrive(&current, None) };
    let of = |set: &PatternInfo| (set.functions, set.old_functions);
    let set = block_on(session.set(PATTERN)).unwrap();
    let default = block_on(session.set_default(PATTERN)).unwrap();
    assert_eq!([of(&set), of(&default)], [(1, 0); 2]);
    for line in 2..=301 {
        let next = version(line);
        let permission = block_on(permission::acquire());
        // SAFETY: as above.
        unsafe { modules::arrive(&next, Some(&current)) };
        modules::retire(&current);
        drop(permission);
        if line % 2 == 0 {
            // SAFETY: as above.
            block_on(unsafe { modules::leave(&current) });
        }
        current = next;
    }
    let expected = (1, 150);
    assert_eq!(session.info().patterns.iter().map(of).collect::<Vec<_>>(), [expected; 2]);
    assert_eq!(of(&block_on(session.update(set.id, PATTERN)).unwrap()), expected);
    assert_eq!(of(&block_on(session.set("session::upgraded")).unwrap()), expected);
    let counts = session.counts();
    assert_eq!(
        counts.iter().filter(|count| count.is_current).map(|count| count.function.line).collect::<Vec<_>>(),
        [301; 2]
    );
    let info = block_on(session.close());
    assert_eq!(info.patterns.iter().map(of).collect::<Vec<_>>(), [expected; 3]);
}
