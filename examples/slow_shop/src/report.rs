//! Reports. The fault: a client of the printer's blocks the thread.

use std::thread;
use std::time::Duration;

use crate::Answer;

pub async fn rendered() -> Answer {
    print();
    Ok("printed\n".to_owned())
}

/// Stands for a library that waits with its thread.
fn print() {
    thread::sleep(Duration::from_millis(30));
}
