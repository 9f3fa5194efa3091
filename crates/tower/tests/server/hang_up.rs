//! Clients that hang up.

use std::sync::mpsc;
use std::{future, thread};

use axum::Router;
use axum::routing::get;
use dyntrace::fs;
use dyntrace_tower::TagLayer;

use crate::client::Client;
use crate::{served, stream, trace};

#[test]
fn a_body_that_is_cut_off_closes_its_file_with_the_tag() {
    const CLIENTS: usize = 4;
    // More than the buffers of a connection take.
    const LENGTH: u64 = 256 << 20;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sparse");
    std::fs::File::create(&path).unwrap().set_len(LENGTH).unwrap();
    let (send, dropped) = mpsc::channel();
    let layer = TagLayer::new().header("x-request-id");
    let app = Router::new().route("/", get(move || stream(path.clone(), send.clone()))).layer(layer);

    let mut dropped_with = Vec::new();
    let operations = served(app, |server| {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                scope.spawn(move || {
                    let mut connection = Client::connect(server);
                    let id = format!("client-{client}");
                    let head = connection.begin("/", &[("x-request-id", id.as_bytes())]);
                    assert_eq!(head.header("content-length"), Some(LENGTH.to_string().as_str()));
                    connection.read(100_000);
                });
            }
        });
        // The server runs on until it has found out.
        dropped_with = dropped.iter().take(CLIENTS).map(|tag| tag.expect("a tag")).collect();
    });

    let tags = trace::by_tag(&operations);
    dropped_with.sort();
    assert!(dropped_with.iter().eq(tags.keys()), "{dropped_with:?}");
    for (number, (tag, commands)) in tags.into_iter().enumerate() {
        assert_eq!(tag, format!("client-{number}"));
        let count = |command| commands.iter().filter(|&&of_tag| of_tag == command).count();
        assert_eq!([count("OPEN"), count("FSTAT"), count("CLOSE")], [1, 1, 1], "{tag}: {commands:?}");
        let reads = count("READ");
        assert_eq!(reads + 3, commands.len(), "{tag}");
        assert!(reads > 0 && (reads as u64) < LENGTH / 4096, "{tag}: the body was cut off, {reads} reads");
    }
}

/// Holds a file until the handler is dropped.
struct Held(#[expect(dead_code, reason = "dropped")] fs::File, mpsc::Sender<()>);

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.1.send(());
    }
}

#[test]
fn a_handler_that_is_dropped_closes_its_file_with_the_tag() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "text").unwrap();
    let (started, start) = mpsc::channel();
    let (send, dropped) = mpsc::channel();
    let handler = async move || {
        let _held = Held(fs::File::open(path).await.unwrap(), send);
        started.send(()).unwrap();
        future::pending::<()>().await;
    };
    let app = Router::new().route("/", get(handler)).layer(TagLayer::new().header("x-request-id"));

    let operations = served(app, |server| {
        let mut connection = Client::connect(server);
        connection.send("/", &[("x-request-id", b"hangs-up")]);
        start.recv().unwrap();
        drop(connection);
        dropped.recv().unwrap();
    });
    assert_eq!(trace::by_tag(&operations).into_iter().collect::<Vec<_>>(), [("hangs-up", vec!["OPEN", "CLOSE"])]);
}
