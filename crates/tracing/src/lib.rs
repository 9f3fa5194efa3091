//! A [`tracing_subscriber`] layer: spans become user tags of [dyntrace], spans and events become probes.
//!
//! ```
//! use tracing::{Instrument, info, info_span};
//! use tracing_subscriber::prelude::*;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let path = dir.path().join("order");
//! tracing_subscriber::registry().with(dyntrace_tracing::layer()).init();
//!
//! let request = async move {
//!     dyntrace::fs::write(&path, "42 loaves").await?;
//!     info!(loaves = 42, "stored");
//!     # assert_eq!(dyntrace::get_tag_data().as_deref(), Some("req-17"));
//!     std::io::Result::Ok(())
//! };
//! tokio::spawn(request.instrument(info_span!("request", request_id = "req-17"))).await??;
//! # Ok(())
//! # }
//! ```
//!
//! `dyntrace run efile_drv -p PID` shows the write with the user tag `req-17`. `dyntrace record -p PID` records the write, the event with its
//! fields, and each time that a thread enters the span.
//!
//! # Tags
//!
//! A span has a tag if it has one of these fields, the first that has a value:
//!
//! | field | tag |
//! |---|---|
//! | `request_id` | its value, as text |
//! | `trace_id` | its value, as text |
//! | `traceparent` | the trace id in this header of W3C's Trace Context; none if the header is invalid |
//!
//! [`ProbeLayer::tag_fields`] names other fields, [`ProbeLayer::tag_spans`] spans whose name is the tag. A span without a tag of its own
//! inherits that of its parent when it is made, unless [`ProbeLayer::inherit`] says otherwise. A field that is
//! [recorded](https://docs.rs/tracing/latest/tracing/struct.Span.html#method.record) later counts from then on, but not in spans inside
//! that exist already.
//!
//! While a span is entered, its tag is that of [`dyntrace::enter_tag`]: file operations, drivers and [`dyntrace::p!`] carry it, in any
//! task. Futures of [`dyntrace::with_tag`] inside of the span keep their own.
//!
//! An id of OpenTelemetry is a tag if the program puts it into a field: this crate does not read that of `tracing-opentelemetry`.
//!
//! # Probes
//!
//! The provider is `dyntrace_tracing`. The file `dyntrace_tracing.d` of this package documents the arguments.
//!
//! | probe | arguments |
//! |---|---|
//! | `span-new` | `span_id, name, target, user_tag, fields, parent_id, level, file, line` |
//! | `span-enter` | `span_id, name, target, user_tag` |
//! | `span-exit` | `span_id, name, target, user_tag, busy_ns` |
//! | `span-close` | `span_id, name, target, user_tag` |
//! | `event` | `level, target, message, fields, user_tag, number, span_id, file, line` |
//!
//! A probe has fixed arguments, so `fields` is a JSON object: integers, floats and booleans are JSON's, all else is text. It has at most
//! [`Buffer::LIMIT`](dyntrace::sdt::Buffer::LIMIT) bytes, and fields that do not fit are left out. `"...": 2` says that two are. `number`
//! is the event's first integer field, for histograms and conditions of tracers.
//!
//! # Cost
//!
//! While a probe is disabled, the layer neither formats nor reads the clock. An event costs the test whether the probe is enabled. Entering
//! a span notes its number on the thread: some nanoseconds. An operation inside looks the tag up, under a lock that threads share.
//!
//! The tag of a span is copied when the span is made: that costs an allocation, and two more if the field is no string.
//!
//! A layer without a filter asks for all events, also for those that filters of other layers leave out. Give it the same filter:
//!
//! ```
//! use tracing_subscriber::filter::LevelFilter;
//! use tracing_subscriber::prelude::*;
//!
//! let layer = dyntrace_tracing::layer().with_filter(LevelFilter::INFO);
//! # let _ = tracing_subscriber::registry().with(layer);
//! ```
//!
//! # Limits
//!
//! The guard of `Span::enter` must not be held across an await, as tracing documents. If it is, no other tokio task sees the tag, but
//! operations after the await may lack it.
//!
//! A layer that is taken away by `reload` takes the tags of its spans with it.
//!
//! A forked child finds the locks of this crate free. It may find locks of `tracing` held, if another thread of its parent made its first
//! span, or reached an event or a span's place for the first time.

mod fields;
mod layer;
mod probes;
mod rules;
mod tags;
mod trace_context;

pub use layer::{ProbeLayer, layer};
