//! A shop whose slow orders write a warning to the ledger in which they are about to be saved: the ledger's lock is granted to a
//! future that nobody polls. The program knows nothing of dyntrace.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::sleep;

type Ledger = Arc<Mutex<Vec<&'static str>>>;

async fn save(ledger: Ledger, line: &'static str) {
    ledger.lock().await.push(line);
}

async fn order(ledger: Ledger) {
    let mut saved = pin!(save(ledger.clone(), "an order"));
    tokio::select! {
        () = &mut saved => {}
        () = sleep(Duration::from_millis(100)) => {
            save(ledger, "a slow order").await;
            saved.await;
        }
    }
}

async fn back_up(ledger: Ledger) {
    let lines = ledger.lock().await;
    sleep(Duration::from_millis(300)).await;
    println!("{} lines", lines.len());
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let ledger = Ledger::default();
    tokio::spawn(back_up(ledger.clone()));
    sleep(Duration::from_millis(50)).await;
    tokio::spawn(order(ledger.clone()));
    sleep(Duration::from_millis(400)).await;
    tokio::spawn(save(ledger, "the day's end"));
    sleep(Duration::from_secs(600)).await;
}
