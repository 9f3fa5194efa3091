//! A program that keeps a table of its tasks and has no runtime: it polls a process by hand, which waits for ever, and says its pid.

use std::future::pending;
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;

use dyntrace::process;

async fn waits() {
    println!("{}", process::current());
    dyntrace::wait("the postman", pending::<()>()).await;
}

fn main() {
    let mut waiting = pin!(process::child(waits()));
    assert!(waiting.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    println!("it waits");
    loop {
        thread::park();
    }
}
