//! Requests that are answered to the end, many at a time.

use std::sync::mpsc;
use std::thread;

use axum::Router;
use axum::routing::get;
use dyntrace_tower::TagLayer;

use crate::client::Client;
use crate::{served, stream, trace};

#[test]
fn every_operation_of_a_request_has_its_tag() {
    const CLIENTS: usize = 8;
    const REQUESTS: usize = 25;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    let content: Vec<u8> = (0..20_000).map(|byte| byte as u8).collect();
    std::fs::write(&path, &content).unwrap();
    let (send, dropped) = mpsc::channel();
    let layer = TagLayer::new().header("x-request-id").response_header("x-request-id");
    let app = Router::new().route("/", get(move || stream(path.clone(), send.clone()))).layer(layer);

    let operations = served(app, |server| {
        thread::scope(|scope| {
            for client in 0..CLIENTS {
                let content = &content;
                scope.spawn(move || {
                    let mut connection = Client::connect(server);
                    for request in 0..REQUESTS {
                        let id = format!("client-{client}-{request}");
                        let (head, body) = connection.get("/", &[("x-request-id", id.as_bytes())]);
                        assert_eq!((head.status, head.header("x-request-id")), (200, Some(&*id)));
                        assert!(body == *content);
                    }
                });
            }
        });
    });

    let tags = trace::by_tag(&operations);
    assert_eq!(tags.len(), CLIENTS * REQUESTS);
    let mut dropped: Vec<_> = dropped.iter().map(|tag| tag.expect("a tag")).collect();
    dropped.sort();
    assert!(dropped.iter().eq(tags.keys()), "{dropped:?}");
    for (tag, commands) in tags {
        assert!(tag.starts_with("client-"), "{tag}: {commands:?}");
        let count = |command| commands.iter().filter(|&&of_tag| of_tag == command).count();
        assert_eq!([count("OPEN"), count("FSTAT"), count("CLOSE")], [1, 1, 1], "{tag}: {commands:?}");
        // 20,000 bytes in reads of at most 4096.
        assert!(count("READ") >= 5 && count("READ") + 3 == commands.len(), "{tag}: {commands:?}");
    }
}
