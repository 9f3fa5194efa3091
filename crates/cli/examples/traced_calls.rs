//! Calls functions while a session sends their events to the probes, and prints the events that tracers should see. With the argument
//! `storm`, two threads do so as fast as they can.

use std::env;
use std::error::Error;
use std::future::Future;
use std::panic::{catch_unwind, set_hook};
use std::pin::pin;
use std::task::{Context, Waker};
use std::thread;

use dyntrace::trace::{Limits, Session};
use dyntrace::traced;

#[traced]
fn price(order: &str, quantity: u32) -> Result<u32, String> {
    assert!(quantity != 113, "no {order} today");
    Ok(quantity * 5)
}

#[traced(caller)]
fn pack(orders: u32) -> u32 {
    orders + 1
}

#[traced]
async fn deliver(orders: u32) -> u32 {
    tokio::task::yield_now().await;
    orders
}

#[traced]
fn often(number: u32) -> u32 {
    number + 1
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let session = Session::to_probes(Limits::default())?;
    if env::args().nth(1).is_some() {
        session.set("traced_calls::often(number) if number % 2 == 0 do return").await?;
        let threads = [(); 2].map(|()| thread::spawn(|| (0..5000).map(often).map(u64::from).sum::<u64>()));
        threads.into_iter().for_each(|thread| drop(thread.join()));
        println!("entries 5000\nreturns 5000");
        return Ok(());
    }
    session.set("traced_calls::price(_, qty) if qty > 100 do return, exception").await?;
    session.set("traced_calls::pack do caller").await?;
    session.set("traced_calls::deliver do return").await?;
    set_hook(Box::new(|_| ()));
    dyntrace::put_tag("req-1")?;

    price("ball", 250)?;
    println!("call traced_calls::price/2 (\"ball\", 250) req-1 from ");
    println!("return traced_calls::price/2 Ok(1250) req-1 1");
    price("ball", 7)?;
    let _ = catch_unwind(|| price("doll", 113));
    println!("call traced_calls::price/2 (\"doll\", 113) req-1 from ");
    println!("panic traced_calls::price/2 no doll today req-1 1");
    let line = line!() + 1;
    pack(3);
    println!("call traced_calls::pack/1 (3) req-1 from {}:{line}", file!());
    deliver(4).await;
    println!("call traced_calls::deliver/1 (4) req-1 from ");
    println!("return traced_calls::deliver/1 4 req-1 0");
    let _ = pin!(deliver(5)).poll(&mut Context::from_waker(Waker::noop()));
    println!("call traced_calls::deliver/1 (5) req-1 from ");
    println!("cancelled traced_calls::deliver/1  req-1 0");
    session.close().await;
    price("ball", 251)?;
    Ok(())
}
