//! A future of `dyntrace::fs` completes under any executor: tests all combinations of runtimes, places, pollers and paths through the
//! file driver.
//!
//! Each cell runs on its own thread, with more operations than a task's cooperative budget allows in one poll.

mod place;
mod poller;
mod way;

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use place::{Place, Runtime};
use poller::Poller;
use way::Way;

/// The timeout of the whole table without progress. It takes seconds.
const GENEROUS: Duration = Duration::from_secs(120);

#[derive(Clone, Copy, Debug, PartialEq)]
struct Cell {
    runtime: Runtime,
    place: Place,
    poller: Poller,
    way: Way,
}

impl Cell {
    fn run(self) {
        place::enter(self.runtime, self.place, self.poller, self.way);
    }
}

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for runtime in Runtime::ALL {
        for place in runtime.places() {
            for poller in Poller::ALL {
                for way in Way::ALL {
                    cells.push(Cell { runtime, place: *place, poller, way });
                }
            }
        }
    }
    cells
}

/// A few at a time, as processors are few.
#[test]
fn every_cell_ends() {
    let mut waiting = cells();
    let count = waiting.len();
    let mut running = Vec::new();
    let (told, ended) = channel();
    for _ in 0..count {
        while running.len() < 8
            && let Some(cell) = waiting.pop()
        {
            let told = told.clone();
            running.push(cell);
            thread::spawn(move || {
                let ended = std::panic::catch_unwind(|| cell.run()).is_ok();
                let _ = told.send((cell, ended));
            });
        }
        match ended.recv_timeout(GENEROUS) {
            Ok((cell, ended)) => {
                assert!(ended, "{cell:?} panicked");
                running.retain(|other| *other != cell);
            }
            Err(RecvTimeoutError::Timeout) => panic!("these do not end: {running:#?}"),
            Err(RecvTimeoutError::Disconnected) => unreachable!("this holds a sender"),
        }
    }
    assert!(count > 500, "the table has {count} cells only");
}
