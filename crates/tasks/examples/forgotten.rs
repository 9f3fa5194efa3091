//! A program whose tasks wait for messages from themselves: each keeps a sender of its own channel. The program knows nothing of dyntrace.

use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::interval;

async fn total(orders: Vec<u64>) -> u64 {
    let (sender, mut prices) = mpsc::channel(16);
    for order in orders {
        let sender = sender.clone();
        tokio::spawn(async move { sender.send(price(order).await).await });
    }
    let mut total = 0;
    while let Some(price) = prices.recv().await {
        total += price;
    }
    total
}

async fn price(order: u64) -> u64 {
    tokio::task::yield_now().await;
    order * 10
}

async fn report() {
    let mut second = interval(Duration::from_millis(10));
    loop {
        second.tick().await;
        tokio::spawn(price(1));
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    tokio::spawn(report());
    for customer in 0..3 {
        tokio::spawn(total(vec![customer, 2, 3]));
    }
    std::future::pending().await
}
