//! hyper by itself, without axum.

use ::hyper::server::conn::http1;
use dyntrace_tower::{FsBackend, TagLayer};
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tower_http::services::fs::ServeDir;
use tower_layer::Layer;

use crate::client::Client;
use crate::{served_by, trace};

#[test]
fn hyper_polls_and_drops_bodies_with_their_tags() {
    const CLIENTS: usize = 3;
    const REQUESTS: usize = 5;
    let folder = tempfile::tempdir().unwrap();
    let content = vec![b'x'; 300_000];
    std::fs::write(folder.path().join("file"), &content).unwrap();
    let files = TagLayer::new().response_header("x-tag").layer(ServeDir::with_backend(folder.path(), FsBackend));
    let serve = async move |listener: TcpListener| {
        while let Ok((stream, _)) = listener.accept().await {
            let service = TowerToHyperService::new(files.clone());
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
        }
    };

    let mut seen = Vec::new();
    let operations = served_by(serve, |server| {
        for _ in 0..CLIENTS {
            let mut client = Client::connect(server);
            for _ in 0..REQUESTS {
                let (head, body) = client.get("/file", &[]);
                assert!(body == content);
                seen.push(head.header("x-tag").expect("a tag").to_owned());
            }
        }
    });

    let tags = trace::by_tag(&operations);
    seen.sort();
    assert!(seen.iter().eq(tags.keys()), "{seen:?}");
    assert_eq!(tags.len(), CLIENTS * REQUESTS);
    for (tag, commands) in tags {
        let count = |command| commands.iter().filter(|&&of_tag| of_tag == command).count();
        assert_eq!([count("OPEN"), count("CLOSE")], [1, 1], "{tag}: {commands:?}");
        assert!(count("READ") > 0, "{tag}: {commands:?}");
    }
}
