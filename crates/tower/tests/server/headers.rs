//! Where tags come from, and what hostile clients send.

use axum::Router;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::get;
use dyntrace_tower::TagLayer;

use crate::client::Client;
use crate::served;

const PARENT: &[u8] = b"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
const TRACE_ID: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// Asks a server that answers with the tag of its handler. Returns for each request that tag, and the header of the answer.
fn answers(layer: TagLayer, requests: &[&[(&str, &[u8])]]) -> Vec<(String, Option<String>)> {
    let shown = async || dyntrace::get_tag().map_or_else(String::new, |tag| tag.to_string());
    let app = Router::new().route("/", get(shown)).layer(layer.response_header("x-tag"));
    let mut answers = Vec::new();
    served(app, |server| {
        let mut client = Client::connect(server);
        for headers in requests {
            let (head, body) = client.get("/", headers);
            assert_eq!(head.status, 200);
            answers.push((String::from_utf8(body).unwrap(), head.header("x-tag").map(str::to_owned)));
        }
    });
    answers
}

#[test]
fn the_first_source_that_has_a_tag_counts() {
    let layer = TagLayer::new().traceparent().header("x-request-id");
    let tags = answers(
        layer,
        &[
            &[("x-request-id", b"mine"), ("traceparent", PARENT)],
            &[("x-request-id", b"mine"), ("traceparent", b"00-invalid")],
            &[("x-request-id", b"mine"), ("traceparent", PARENT), ("traceparent", PARENT)],
        ],
    );
    assert_eq!(tags, [TRACE_ID, "mine", "mine"].map(|tag| (tag.to_owned(), Some(tag.to_owned()))));
}

#[test]
fn without_a_usable_header_tags_are_generated() {
    let too_long = [b'a'; TagLayer::LONGEST + 1];
    let requests: [&[(&str, &[u8])]; 6] = [
        &[],
        &[("x-request-id", b"")],
        &[("x-request-id", &too_long)],
        &[("x-request-id", b"\xff\xfe\x80")],
        &[("x-request-id", b"a | RENAME (12)")],
        &[("traceparent", b"00-00000000000000000000000000000000-00f067aa0ba902b7-01")],
    ];
    let mut tags = answers(TagLayer::new().header("x-request-id").traceparent(), &requests);
    for (tag, header) in &tags {
        let number = tag.strip_prefix("req-").expect("a generated tag");
        assert!(number.parse::<u64>().is_ok(), "{tag}");
        assert_eq!(header.as_ref(), Some(tag));
    }
    tags.sort();
    tags.dedup();
    assert_eq!(tags.len(), requests.len());
}

#[test]
fn a_function_makes_tags_of_requests() {
    let layer = TagLayer::new().function(|request| {
        let user = request.headers.get("user")?.to_str().ok()?;
        Some(format!("{user}\n{}", request.uri.path()).into())
    });
    let tags = answers(layer, &[&[("user", b"ann")], &[("user", b"\xff")]]);
    // A line break cannot be part of a header.
    assert_eq!(tags[0], ("ann\n/".to_owned(), None));
    assert!(tags[1].0.starts_with("req-"), "{tags:?}");
}

#[test]
fn a_header_of_the_handler_stays() {
    let handler = async || (StatusCode::OK, HeaderMap::from_iter([("x-tag".parse().unwrap(), "own".parse().unwrap())]));
    let app = Router::new().route("/", get(handler)).layer(TagLayer::new().response_header("x-tag"));
    served(app, |server| {
        assert_eq!(Client::connect(server).get("/", &[]).0.header("x-tag"), Some("own"));
    });
}
