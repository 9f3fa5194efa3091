//! A server whose tasks, locks and permits are seen, `orders ADDRESS`: each request takes a permit and a lock, `/spawned/ARTICLE` in a
//! task of its own. It touches no file. Built with `tokio_unstable`, the tasks of axum's connections are seen, too.

use std::collections::HashMap;
use std::env;
use std::io::Error;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use axum::serve::ListenerExt as _;
use dyntrace::sync::{Mutex, Semaphore};
use tokio::net::TcpListener;

struct Shop {
    /// More than the connections of the load: nobody waits long.
    counters: Semaphore,
    sold: Mutex<HashMap<u32, u64>>,
}

async fn order(State(shop): State<Arc<Shop>>, Path(article): Path<u32>) -> String {
    let _counter = shop.counters.acquire().await.expect("it is open");
    let mut sold = shop.sold.lock().await;
    let number = sold.entry(article % 1000).or_default();
    *number += 1;
    format!("order {number} of article {article}\n")
}

async fn spawned(shop: State<Arc<Shop>>, article: Path<u32>) -> String {
    dyntrace::spawn(order(shop, article)).await.expect("it does not panic")
}

#[dyntrace::main]
async fn main() -> Result<(), Error> {
    let address = env::args().nth(1).expect("orders ADDRESS");
    let shop = Shop { counters: Semaphore::new(64), sold: Mutex::new(HashMap::new()) };
    let app = Router::new().route("/order/{article}", get(order)).route("/spawned/{article}", get(spawned));
    let app = app.with_state(Arc::new(shop));
    let listener = TcpListener::bind(&address).await?;
    println!("serves {address}");
    let listener = listener.tap_io(|stream| stream.set_nodelay(true).expect("small packets are sent at once"));
    axum::serve(listener, app).await
}
