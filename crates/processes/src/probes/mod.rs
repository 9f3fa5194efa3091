//! The probes of dyntrace: one function for each probe of `provider.d`.
//!
//! ```
//! use dyntrace::probes::user_trace;
//!
//! // The closure runs only while a tracer is attached to the probe.
//! user_trace::s1(|| "half way");
//!
//! // Code far from the probe can ask whether one is.
//! if user_trace::s1::is_enabled() {
//!     println!("traced");
//! }
//! ```
//!
//! A string argument is anything that is [`Into<Text>`](crate::sdt::Text): `&str`, bytes, C strings, pids, ports, tags, and
//! options of them. Tracers write `user_trace-s1` for the probe `user_trace::s1`.

use dyntrace_probes::sdt as __sdt;

include!("generated.rs");
