//! tower-http's `ServeDir` on `dyntrace::fs`.

use axum::Router;
use dyntrace_tower::{FsBackend, TagLayer};
use tower_http::services::fs::ServeDir;

use crate::client::Client;
use crate::{served, trace};

#[test]
fn serve_dir_reads_by_tagged_operations() {
    let folder = tempfile::tempdir().unwrap();
    let content: Vec<u8> = (0..200_000).map(|byte| byte as u8).collect();
    std::fs::write(folder.path().join("file.bin"), &content).unwrap();
    std::fs::write(folder.path().join("index.html"), "home").unwrap();
    let files = ServeDir::with_backend(folder.path(), FsBackend);
    let app = Router::new().fallback_service(files).layer(TagLayer::new().header("x-request-id"));

    let operations = served(app, |server| {
        let mut client = Client::connect(server);
        let (head, body) = client.get("/file.bin", &[("x-request-id", b"whole")]);
        assert!(head.status == 200 && body == content);
        let (head, body) = client.get("/file.bin", &[("x-request-id", b"part"), ("range", b"bytes=100000-100009")]);
        assert!(head.status == 206 && body == content[100_000..100_010]);
        let (head, body) = client.get("/", &[("x-request-id", b"index")]);
        assert_eq!((head.status, body.as_slice()), (200, b"home".as_slice()));
        assert_eq!(client.get("/missing", &[("x-request-id", b"missing")]).0.status, 404);
    });

    let tags = trace::by_tag(&operations);
    assert_eq!(tags.keys().copied().collect::<Vec<_>>(), ["index", "missing", "part", "whole"], "{operations:?}");
    for tag in ["index", "part", "whole"] {
        let count = |command| tags[tag].iter().filter(|&&of_tag| of_tag == command).count();
        assert_eq!([count("OPEN"), count("CLOSE")], [1, 1], "{tag}: {:?}", tags[tag]);
        assert!(count("READ") > 0, "{tag}: {:?}", tags[tag]);
    }
    assert!(tags["part"].contains(&"LSEEK"), "{:?}", tags["part"]);
    assert!(!tags["missing"].contains(&"READ"), "{:?}", tags["missing"]);
}
