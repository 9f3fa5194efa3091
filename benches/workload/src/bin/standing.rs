//! Tasks that wait for ever, `standing COUNT`: prints a line when all are there, and ends with its standard input.

use std::env;
use std::future::pending;
use std::io;

use tokio::runtime::Builder;

fn main() {
    let count: u64 = env::args().nth(1).and_then(|count| count.parse().ok()).expect("standing COUNT");
    let runtime = Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        for _ in 0..count {
            dyntrace::spawn(pending::<()>());
        }
    });
    println!("{count}");
    io::stdin().read_line(&mut String::new()).expect("standard input");
}
