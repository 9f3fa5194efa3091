//! Tasks and closures that a handler starts, in each way.

use std::path::Path;

use axum::Router;
use axum::extract::State;
use axum::routing::get;
use dyntrace::{JoinSetExt, Tagged, fs, process};
use dyntrace_tower::TagLayer;
use tokio::runtime::Handle;
use tokio::task::JoinSet;

use crate::client::Client;
use crate::served;

type Folder = State<&'static Path>;

async fn look(folder: &Path) {
    fs::metadata(folder).await.unwrap();
}

/// For closures on threads that may block.
fn look_blocking(folder: &Path) {
    Handle::current().block_on(look(folder));
}

async fn spawn(State(folder): Folder) {
    dyntrace::spawn(look(folder)).await.unwrap();
}

async fn spawn_blocking(State(folder): Folder) {
    dyntrace::spawn_blocking(|| look_blocking(folder)).await.unwrap();
}

async fn foreign_spawn(State(folder): Folder) {
    tokio::spawn(look(folder).with_current_tag()).await.unwrap();
}

async fn foreign_child(State(folder): Folder) {
    tokio::spawn(process::child(look(folder))).await.unwrap();
}

async fn foreign_join_set(State(folder): Folder) {
    let mut set = JoinSet::new();
    set.spawn(look(folder).with_current_tag());
    set.join_all().await;
}

async fn join_set(State(folder): Folder) {
    let mut set = JoinSet::new();
    set.spawn_process(look(folder));
    set.join_all().await;
}

async fn blocking_join_set(State(folder): Folder) {
    let mut set = JoinSet::new();
    set.spawn_blocking_process(|| look_blocking(folder));
    set.join_all().await;
}

/// A tag that the handler sets goes on to its children.
async fn renamed(State(folder): Folder) {
    dyntrace::put_tag("renamed").unwrap();
    dyntrace::spawn(look(folder)).await.unwrap();
}

#[test]
fn children_have_the_tag_of_their_request() {
    let router = Router::new()
        .route("/spawn", get(spawn))
        .route("/spawn_blocking", get(spawn_blocking))
        .route("/foreign_spawn", get(foreign_spawn))
        .route("/foreign_child", get(foreign_child))
        .route("/foreign_join_set", get(foreign_join_set))
        .route("/join_set", get(join_set))
        .route("/blocking_join_set", get(blocking_join_set))
        .route("/renamed", get(renamed));
    let app = router.layer(TagLayer::new().function(|request| Some(request.uri.path()[1..].into())));
    let ways = [
        "spawn", "spawn_blocking", "foreign_spawn", "foreign_child", "foreign_join_set", "join_set",
        "blocking_join_set", "renamed",
    ];

    let operations = served(app.with_state(Path::new("/")), |server| {
        let mut client = Client::connect(server);
        for way in ways {
            assert_eq!(client.get(&format!("/{way}"), &[]).0.status, 200);
        }
    });
    let seen: Vec<_> = operations.iter().map(|operation| (operation.command, &*operation.tag)).collect();
    assert_eq!(seen, ways.map(|way| ("FSTAT", way)));
}
