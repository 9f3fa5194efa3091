//! A bakery with the locks of `dyntrace::sync`, which note their holders: two deliveries lock oven and shelf in opposite orders, a clerk
//! waits for the shelf, a cook has the recipes and sleeps, and a reader waits for them.
//!
//! It prints the pid, the id, and the line of the call that took the lock, of each holder.

use std::sync::Arc;
use std::time::Duration;

use dyntrace::process;
use dyntrace::sync::{Mutex, RwLock};
use tokio::sync::Barrier;

type Shelf = Arc<Mutex<u32>>;

fn says(what: &str, line: u32) {
    println!("{what} {} {} {line}", process::current(), tokio::task::id());
}

async fn deliver(name: &'static str, first: Shelf, second: Shelf, both: Arc<Barrier>) {
    let mut from = first.lock().await;
    says(name, line!() - 1);
    both.wait().await;
    let mut to = second.lock().await;
    *from -= 1;
    *to += 1;
}

async fn count(shelf: Shelf) -> u32 {
    *shelf.lock_owned().await
}

async fn cook(recipes: Arc<RwLock<Vec<String>>>) {
    let mut written = recipes.write().await;
    says("cook", line!() - 1);
    dyntrace::time::sleep(Duration::from_secs(600)).await;
    written.clear();
}

async fn read(recipes: Arc<RwLock<Vec<String>>>) -> usize {
    recipes.read().await.len()
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let (oven, shelf, recipes) = (Shelf::default(), Shelf::default(), Arc::default());
    let both = Arc::new(Barrier::new(2));
    dyntrace::spawn(cook(Arc::clone(&recipes)));
    dyntrace::spawn(deliver("morning", oven.clone(), shelf.clone(), both.clone()));
    dyntrace::spawn(deliver("evening", shelf.clone(), oven, both));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    dyntrace::spawn(count(shelf));
    dyntrace::spawn(read(recipes));
    for _ in 0..20 {
        tokio::task::yield_now().await;
    }
    println!("all wait");
    tokio::time::sleep(Duration::from_secs(600)).await;
}
