//! The probes of dyntrace: one function for each probe of `provider.d`.
//!
//! ```
//! use dyntrace::probes::user_trace;
//!
//! // The closure runs only while a tracer looks at the probe.
//! user_trace::s1(|| "half way");
//!
//! // Whether one does can be asked for itself, far from where the probe fires.
//! if user_trace::s1::is_enabled() {
//!     println!("somebody listens");
//! }
//! ```
//!
//! Strings are whatever is [`Into<Text>`](crate::sdt::Text): `&str`, bytes, C strings, pids, ports, tags, and options
//! of them. In tools a probe has a hyphen where Rust has `::`: `user_trace-s1`.

include!("probes/generated.rs");
