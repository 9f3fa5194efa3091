//! A recording that ends while it is read: nothing of it is damaged.

use std::thread;

use dyntrace::recorder::Session;
use dyntrace_reader::Trace;

use crate::support::{alone, fire, options, stop};

/// Has threads fire one after the other, so that their files and that of the recorder's own events alternate in time.
fn fire_by_turns() {
    for line in 1..=3 {
        thread::spawn(move || fire(line, 1)).join().unwrap();
    }
}

#[test]
fn the_end_of_a_recording_is_no_damage_wherever_its_reader_is() {
    let _alone = alone();
    let mut read = 0;
    loop {
        let folder = tempfile::tempdir().unwrap();
        let session = Session::start(options(folder.path(), "")).unwrap();
        fire_by_turns();
        let trace = Trace::open(folder.path()).unwrap();
        let mut events = trace.events();
        let before = events.by_ref().take(read).count();
        stop(session);
        events.for_each(drop);
        assert!(trace.losses().damaged.is_empty(), "ended after {before} events: {:?}", trace.losses());
        if before < read {
            return;
        }
        read += 1;
    }
}
