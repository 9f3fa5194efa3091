//! A shop that takes orders, and every 100 ms counts its stock: that takes 40 ms without an await, and orders wait. With the argument
//! `fixed` it counts on a thread of its own. The program knows nothing of dyntrace.

use std::hint::black_box;
use std::time::{Duration, Instant};

use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::sleep;

const COUNTING: Duration = Duration::from_millis(40);

async fn customer(orders: Sender<u32>) {
    loop {
        sleep(Duration::from_millis(5)).await;
        if orders.send(1).await.is_err() {
            return;
        }
    }
}

async fn warehouse(mut orders: Receiver<u32>) -> u32 {
    let mut sold = 0;
    while let Some(amount) = orders.recv().await {
        sold += amount;
    }
    sold
}

fn count_stock(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        black_box(());
    }
}

async fn report() {
    loop {
        sleep(Duration::from_millis(100)).await;
        count_stock(COUNTING);
    }
}

async fn fixed_report() {
    loop {
        sleep(Duration::from_millis(100)).await;
        let _ = tokio::task::spawn_blocking(|| count_stock(COUNTING)).await;
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (sender, receiver) = channel(100);
    for _ in 0..10 {
        tokio::spawn(customer(sender.clone()));
    }
    tokio::spawn(warehouse(receiver));
    if std::env::args().nth(1).as_deref() == Some("fixed") {
        tokio::spawn(fixed_report());
    } else {
        tokio::spawn(report());
    }
    sleep(Duration::from_secs(600)).await;
}
