//! A [tower](https://docs.rs/tower-layer) layer that gives each HTTP request a user tag of [`dyntrace`]: from its arrival until its
//! response body is dropped.
//!
//! A handler of axum, hyper or tonic often returns a body that reads a file while it is sent. The server polls and drops that body
//! after the handler has returned. With [`TagLayer`] the handler's operations carry the tag, and those of the body, too: each OPEN, FSTAT,
//! READ and CLOSE. That holds also if the client hangs up.
//!
//! ```
//! use axum::Router;
//! use axum::routing::get;
//! use dyntrace_tower::TagLayer;
//!
//! // The tag is the trace id of `traceparent`, else the value of `x-request-id`, else a new one, such as `req-17`.
//! let tags = TagLayer::new().traceparent().header("x-request-id").response_header("x-request-id");
//! let app: Router = Router::new().route("/", get(async || "hello")).layer(tags);
//! ```
//!
//! Two examples are whole servers: `file_server` for HTTP, under axum, and `grpc_files` for gRPC, under tonic. A call's metadata are headers
//! of HTTP, so the same layer serves both.
//!
//! # Tasks that a handler starts
//!
//! | started by | has the tag |
//! |---|---|
//! | [`dyntrace::spawn`], [`dyntrace::spawn_blocking`], [`dyntrace::JoinSetExt`] | yes |
//! | `tokio::spawn`, `JoinSet::spawn` | if the future is [`with_current_tag()`](dyntrace::Tagged::with_current_tag) |
//!
//! # Which tags clients can choose
//!
//! A header is the client's text, and a client may send another request's tag. Where that matters, use [`TagLayer::new`] alone, or
//! [`TagLayer::function`] with a check of your own. Of a header, [`TagLayer`] takes 1 to [`TagLayer::LONGEST`] bytes of visible
//! ASCII without spaces. So a value can neither forge lines of a tracer's output nor fill a trace with long texts. Any other
//! value counts as absent.
//!
//! # Features
//!
//! `tower-http` (not on by default) adds `FsBackend`, with which tower-http's `ServeDir` reads files by [`dyntrace::fs`].

mod body;
mod future;
mod layer;
#[cfg(feature = "tower-http")]
mod serve_dir;
mod service;
mod source;
mod traceparent;

pub use body::TaggedBody;
pub use future::ResponseFuture;
pub use layer::TagLayer;
#[cfg(feature = "tower-http")]
pub use serve_dir::{BackendFile, FsBackend};
pub use service::TagService;
