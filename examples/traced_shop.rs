//! A shop that prices orders without end, and traces itself at times: large orders, their prices, and orders that cannot be priced. It
//! does not stop for that.
//!
//!     cargo run --example traced_shop
//!
//! With a number it stays open for that number of seconds, so that others can trace it: `dyntrace trace -p PID '**::price'`.
//!
//!     cargo run --example traced_shop 60
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use dyntrace::trace::{Limits, Session};

#[derive(Debug)]
#[expect(dead_code, reason = "it is printed")]
struct Order {
    id: u32,
}

#[dyntrace::traced]
fn price(order: &Order, quantity: u32) -> Result<u32, String> {
    quantity.checked_mul(5).filter(|cents| *cents < 1000).ok_or_else(|| format!("{order:?}: too many"))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let is_closed = Arc::new(AtomicBool::new(false));
    let shop = {
        let is_closed = Arc::clone(&is_closed);
        thread::spawn(move || {
            let mut sold = 0u64;
            for id in (0..).take_while(|_| !is_closed.load(Ordering::Relaxed)) {
                sold += u64::from(price(&Order { id }, id % 250).is_ok());
            }
            sold
        })
    };

    let mut limits = Limits::default();
    limits.events = Some(10);
    let session = Session::start(limits, |event| println!("[{}] {event}", event.process))?;
    session.set("**::price(_, quantity) if quantity > 197 do return").await?;
    while !session.info().is_over {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    println!("{:?}", session.close().await);

    let session = Session::start(Limits::default(), |_| ())?;
    session.set("**::price do silent, count").await?;
    tokio::time::sleep(Duration::from_millis(100)).await;
    for count in session.counts() {
        println!("{} was called {} times in 100 ms", count.function, count.calls);
    }
    drop(session);

    if let Some(seconds) = std::env::args().nth(1) {
        println!("open for {seconds} s, as process {}", std::process::id());
        tokio::time::sleep(Duration::from_secs(seconds.parse()?)).await;
    }
    is_closed.store(true, Ordering::Relaxed);
    println!("{} orders sold", shop.join().map_err(|_| "the shop panicked")?);
    Ok(())
}
