//! A program with 24 tasks, built with copies of tokio whose structures have another layout.

use std::io::Read;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Mutex, Notify};

async fn sleeps() {
    tokio::time::sleep(Duration::from_secs(3600)).await;
}

async fn notified(notify: Arc<Notify>) {
    notify.notified().await;
}

async fn locks(lock: Arc<Mutex<u32>>) {
    *lock.lock().await += 1;
}

fn main() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let (notify, lock) = (Arc::new(Notify::new()), Arc::new(Mutex::new(0)));
        let held = lock.clone().lock_owned().await;
        for _ in 0..8 {
            tokio::spawn(sleeps());
            tokio::spawn(notified(notify.clone()));
            tokio::spawn(locks(lock.clone()));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        println!("ready");
        let _ = std::io::stdin().read(&mut [0]);
        drop(held);
    });
}
