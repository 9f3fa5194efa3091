//! A bank whose transfers lock two accounts in the order in which the customer names them: two transfers in opposite directions wait
//! for each other. The program knows nothing of dyntrace.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::task::{JoinHandle, yield_now};
use tokio::time::sleep;

type Account = Arc<Mutex<i64>>;

async fn transfer(from: Account, to: Account, amount: i64) {
    let mut source = from.lock().await;
    check(amount).await;
    let mut target = to.lock().await;
    *source -= amount;
    *target += amount;
}

/// Asks for permission, which takes a while.
async fn check(_amount: i64) {
    sleep(Duration::from_millis(50)).await;
}

async fn statement(account: Account) -> i64 {
    *account.lock().await
}

async fn close_the_day(transfer: JoinHandle<()>) {
    transfer.await.expect("a transfer");
    println!("the day is closed");
}

async fn remind() {
    loop {
        sleep(Duration::from_secs(3600)).await;
    }
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let (alice, bob) = (Account::default(), Account::default());
    let to_bob = tokio::spawn(transfer(alice.clone(), bob.clone(), 10));
    tokio::spawn(transfer(bob.clone(), alice.clone(), 20));
    tokio::spawn(close_the_day(to_bob));
    // Until both transfers have begun: what follows finds their accounts locked.
    while [&alice, &bob].iter().any(|account| account.try_lock().is_ok()) {
        yield_now().await;
    }
    for _ in 0..3 {
        tokio::spawn(statement(alice.clone()));
    }
    tokio::spawn(remind());
    sleep(Duration::from_secs(600)).await;
}
