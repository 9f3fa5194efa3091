//! Sessions that start and stop under load.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use dyntrace::recorder::{Mode, Session};

use crate::support::{alone, fire, gap, options, read, read_by_babeltrace, stop, times};

const SESSIONS: usize = 32;

#[test]
fn thirty_two_sessions_come_and_go_under_load() {
    let _alone = alone();
    let directory = tempfile::tempdir().unwrap();
    let done = &AtomicBool::new(false);
    thread::scope(|scope| {
        let _end = AtEnd(done);
        for line in 0..2 {
            scope.spawn(move || {
                (1..).take_while(|_| !done.load(Ordering::Relaxed)).for_each(|number| fire(line, number));
            });
        }
        let mut sessions: [Option<(usize, Session)>; SESSIONS] = [const { None }; SESSIONS];
        let folder = |number: usize| directory.path().join(number.to_string());
        // All at once, then each in turn, stopped and started again.
        for (number, session) in sessions.iter_mut().enumerate() {
            *session = Some((number, start(number, &folder(number))));
        }
        assert!(Session::start(options(&folder(99), "")).is_err(), "{SESSIONS} are all there can be");
        let last = times(SESSIONS, 10 * SESSIONS);
        for number in SESSIONS..last {
            // A step that visits every slot, not in order.
            let slot = &mut sessions[number * 13 % SESSIONS];
            let (old, session) = slot.take().unwrap();
            end(old, session, &folder(old));
            *slot = Some((number, start(number, &folder(number))));
        }
        for (number, session) in sessions.iter_mut().filter_map(Option::take) {
            end(number, session, &folder(number));
        }
    });
}

/// Ends the load, also when the test fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn mode(number: usize) -> Mode {
    Mode::ALL[number % 3]
}

fn start(number: usize, folder: &Path) -> Session {
    let options = options(folder, &format!(",size=64K,mode={}", mode(number)));
    let session = Session::start(options).unwrap();
    if number.is_multiple_of(5) {
        session.change(vec!["efile_drv-*".into()], Default::default());
    }
    session
}

/// All events that had room are there, without a gap; near the end of the room, short events may have had room where longer
/// ones had none.
fn end(number: usize, session: Session, folder: &Path) {
    let snapshot = folder.join("snapshot");
    if mode(number) == Mode::Overwrite {
        session.snapshot(&snapshot).unwrap().unwrap();
    }
    stop(session);
    let trace = if mode(number) == Mode::Overwrite { &snapshot } else { folder };
    read_by_babeltrace(trace);
    for numbers in read(trace).values() {
        let end = if mode(number) == Mode::Overwrite { 0 } else { 100 };
        assert_eq!(gap(&numbers[..numbers.len().saturating_sub(end)], numbers[0]), None);
    }
    std::fs::remove_dir_all(folder).unwrap();
}
