//! Reports. The fault: a client of the printer's blocks the thread.

use std::io;
use std::thread;
use std::time::Duration;

pub async fn rendered() -> io::Result<String> {
    print();
    Ok("printed\n".to_owned())
}

/// Stands for a library that waits with its thread.
fn print() {
    thread::sleep(Duration::from_millis(30));
}
